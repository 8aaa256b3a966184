// SPDX-License-Identifier: Apache-2.0
#include "threads/parallel_call.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
// ---- A call ------------------------------------------------------------------------------------

LargeCall::LargeCall(const CallShape& call_shape, strew_dtype dtype, strew_reduction reduction)
    : LargeCall(Random(Seed()), call_shape, dtype, reduction) {}

LargeCall::LargeCall(Random random, const CallShape& call_shape, strew_dtype dtype,
                     strew_reduction reduction)
    : call_shape_(call_shape),
      case_(MakeCase(random, call_shape, dtype, true)),
      output_(dtype, WithGap(call_shape.data, call_shape.gap)),
      data_before_(case_.data.Snapshot()),
      output_before_(output_.buffer().size(), 0xE7) {
  case_.reduction = reduction;
}

strew_status LargeCall::Send(strew_context* context) {
  output().Restore(before());
  std::vector<Array*> inputs = {&case_.updates};
  if (case_.indices) inputs.push_back(&*case_.indices);
  if (place_ == Place::kNewOutput) inputs.push_back(&case_.data);
  for (Array* input : inputs) input->buffer().SetReadOnly(true);
  const strew_status status = Call(case_, context, output().tensor());
  for (Array* input : inputs) input->buffer().SetReadOnly(false);
  return status;
}

Bytes LargeCall::Alone() {
  EXPECT_EQ(Send(nullptr), STREW_OK) << Describe();
  return output().Snapshot();
}

std::string LargeCall::Trouble(strew_context* context, const Bytes& expected) {
  const strew_status status = Send(context);
  if (status != STREW_OK) {
    return std::string(strew_status_name(status)) + " " + strew_context_error(context);
  }
  if (!output().buffer().IsMarginIntact()) return "wrote outside of the output";
  if (context != nullptr && strew_context_applied(context) != Product(case_.updates.shape())) {
    return "applied " + std::to_string(strew_context_applied(context));
  }
  const unsigned char* const bytes = output().buffer().bytes();
  if (std::equal(expected.begin(), expected.end(), bytes)) return "";
  const auto differ = std::mismatch(expected.begin(), expected.end(), bytes).first;
  return "byte " + std::to_string(differ - expected.begin()) + " of " +
         std::to_string(expected.size()) + " differs";
}

std::string LargeCall::Describe() const {
  return std::string(NameOf(call_shape_.op)) + " of " + call_shape_.name + ", " +
         NameOf(call_shape_.spread) + ", " + TestName(Find(case_.data.dtype())) + " " +
         NameOf(case_.reduction) + ", data " + ToString(call_shape_.data) + ", " +
         (place_ == Place::kInPlace ? "in place" : "new output");
}

// ---- Targets and workers ------------------------------------------------------------------------

std::vector<const Target*> ChosenTargets() {
  const char* const wanted = std::getenv("STREW_TARGETS");
  const std::string list = "," + std::string(wanted == nullptr ? "" : wanted) + ",";
  std::vector<const Target*> chosen;
  for (const Target& target : Targets()) {
    const bool best = &target == &Targets().front() && list.find(",best,") != std::string::npos;
    const bool named = list.find("," + target.name + ",") != std::string::npos;
    if (wanted == nullptr || best || named) chosen.push_back(&target);
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "STREW_TARGETS=%s names no instruction set of this machine\n", wanted);
    std::abort();
  }
  return chosen;
}

namespace {

void* RefuseScratch(void*, size_t, size_t) { return nullptr; }
void FreeNothing(void*, void*, size_t) {}

// How a call with several workers is made, besides their number.
struct Circumstances {
  bool on_threads;
  bool has_scratch;
};

std::string ToString(const Circumstances& how) {
  return std::string(how.on_threads ? " on threads" : " backwards") +
         (how.has_scratch ? "" : " without scratch");
}

// Calls it so. Answers the largest count that the runner was asked for.
int64_t CheckCall(LargeCall& call, const Target& target, int32_t workers, const Circumstances& how,
                  const Bytes& expected) {
  static StdThreads threads;
  static Backwards backwards;
  strew_context* const context = target.context.get();
  Recorder recorder(how.on_threads ? static_cast<Runner&>(threads) : backwards);
  recorder.InstallIn(context, workers);
  if (!how.has_scratch) {
    EXPECT_EQ(strew_context_set_allocator(context, RefuseScratch, FreeNothing, nullptr), STREW_OK);
  }
  const std::string trouble = call.Trouble(context, expected);
  EXPECT_EQ(strew_context_set_allocator(context, nullptr, nullptr, nullptr), STREW_OK);
  EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  EXPECT_EQ(trouble, "") << target.name << ", " << workers << " workers" << ToString(how) << ": "
                         << call.Describe();
  EXPECT_LE(recorder.largest_count(), workers) << call.Describe();
  return recorder.largest_count();
}

}  // namespace

int64_t CheckWorkers(LargeCall& call, const std::vector<int32_t>& workers) {
  static Random random(Seed());
  int64_t least = std::numeric_limits<int64_t>::max();
  const Bytes expected = call.Alone();
  for (const Target* const target : ChosenTargets()) {
    EXPECT_EQ(call.Trouble(target->context.get(), expected), "")
        << target->name << ", one thread: " << call.Describe();
    for (const int32_t number : workers) {
      const Circumstances how = {!random.OneIn(4), !random.OneIn(3)};
      least = std::min(least, CheckCall(call, *target, number, how, expected));
    }
  }
  return least;
}

void CheckRunner(Runner& runner) {
  Recorder recorder(runner);
  const Context context = MakeContext();
  for (const CallShape& call_shape : AllCallShapes(1 << 19)) {
    LargeCall call(call_shape, STREW_FLOAT32, STREW_ADD);
    for (const Place place : kPlaces) {
      call.Choose(place);
      const Bytes expected = call.Alone();
      for (const int32_t workers : {2, 4, 64}) {
        recorder.Forget();
        recorder.InstallIn(context.get(), workers);
        EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
        EXPECT_GE(recorder.largest_count(), 2) << workers << " workers: " << call.Describe();
      }
    }
  }
}

}  // namespace strew_test
