// SPDX-License-Identifier: Apache-2.0
//
// Random bad calls: arguments, judged by the model; descriptors that cannot be; allocators that
// refuse; runners that fail. STREW_CALLS=<number> makes as many bad calls, the good ones between
// them not counted. A failure, and a fault too, names its case: STREW_SEED=<seed> STREW_CASES=1
// runs it alone.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "any_request.h"
#include "op/error_list.h"
#include "reference/random_case.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/counting_allocator.h"
#include "support/crash_report.h"
#include "support/reference.h"
#include "support/runners.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

constexpr int64_t kCalls = 50000;

class HostileCalls : public testing::Test {
 protected:
  // Runs check(random) for one seed after another until so many of 1000 bad calls are made.
  template <class Check>
  void ForEachSeed(int64_t share, Check check) {
    const int64_t wanted = (Calls(kCalls) * share + 999) / 1000;
    const int64_t most_cases = Cases(std::numeric_limits<int64_t>::max());
    int64_t cases = 0;
    while (calls_ < wanted && cases < most_cases && !HasFailure()) {
      const uint64_t seed = Seed() + static_cast<uint64_t>(cases++);
      Random random(seed);
      where_ = "STREW_SEED=" + std::to_string(seed) + " STREW_CASES=1: ";
      Note("preparing");
      check(random);
    }
    std::printf("%lld bad calls of %lld cases:", static_cast<long long>(calls_),
                static_cast<long long>(cases));
    for (const auto& [status, count] : answers_) {
      std::printf(" %s %lld", strew_status_name(status), static_cast<long long>(count));
    }
    std::printf("\n");
    enough_ = !HasFailure() && Calls(kCalls) >= kCalls && most_cases >= kCalls;
  }

  // Before each call.
  void Note(const std::string& what) const {
    SetCrashReport("%s%s\n", where_.c_str(), what.c_str());
  }

  // Behind it.
  void Count(strew_status status) {
    ++answers_[status];
    if (status != STREW_OK) ++calls_;
  }

  static const Target& AnyTarget(Random& random) {
    return Targets()[random.Bits() % Targets().size()];
  }

  std::string where_;
  int64_t calls_ = 0;  // bad ones
  std::map<strew_status, int64_t> answers_;
  bool enough_ = false;  // cases for every status to have come up
};

// ---- Arguments ----------------------------------------------------------------------------------

void Apply(const Settings& settings, strew_context* context) {
  EXPECT_EQ(strew_context_set_negative_indices(context, settings.wrap ? 1 : 0), STREW_OK);
  EXPECT_EQ(strew_context_set_index_policy(context, settings.policy), STREW_OK);
  EXPECT_EQ(strew_context_set_duplicate_policy(context, settings.duplicates), STREW_OK);
}

TEST_F(HostileCalls, Arguments) {
  ForEachSeed(700, [&](Random& random) {
    const Request request = AnyRequest(random, random.Pick(Operators()));
    const bool alone = random.OneIn(8);
    const Settings settings = alone ? Settings() : AnySettings(random);
    const Target& target = AnyTarget(random);
    strew_context* const context = alone ? nullptr : target.context.get();
    if (!alone) Apply(settings, context);
    const Verdict verdict = Judge(request, settings, MemoryOf(request));
    Note(target.name + " " + Describe(request, settings));
    const Answer answer = Send(request, context);
    Count(answer.status);
    const bool good = verdict.status() == STREW_OK;
    EXPECT_EQ(answer.status, verdict.status())
        << where_ << answer.error << " " << Describe(request, settings);
    EXPECT_FALSE(answer.wrote_outside || (answer.wrote && !good)) << where_;
    if (alone) return;
    EXPECT_EQ(answer.position, verdict.position) << where_ << Describe(request, settings);
    EXPECT_EQ(answer.error.empty(), good) << where_;
    if (!good) {
      EXPECT_EQ(answer.applied, 0) << where_;
    }
  });
  if (!enough_) return;
  for (const strew_status status :
       {STREW_OK, STREW_INVALID_ARGUMENT, STREW_INVALID_DTYPE, STREW_INVALID_SHAPE,
        STREW_INVALID_AXIS, STREW_INDEX_OUT_OF_RANGE, STREW_DUPLICATE_INDEX,
        STREW_OVERLAPPING_MEMORY}) {
    EXPECT_GE(answers_[status], 100) << strew_status_name(status);
  }
}

// ---- Descriptors --------------------------------------------------------------------------------

// A good [2, 3] and a descriptor of anything.
struct Described {
  std::array<int64_t, 40> shape, strides;
  Description description;
};

int64_t AnyHostileDim(Random& random) {
  const int64_t choice = random.Between(0, 9);
  if (choice == 0) return AnyExtreme(random);
  if (choice == 1) return int64_t{1} << random.Between(0, 62);
  return random.OneIn(8) ? 0 : random.Between(1, 3);
}

void DescribeAnything(Random& random, unsigned char* memory, Described& any) {
  any.shape.fill(1);
  any.strides.fill(1);
  const auto rank = static_cast<int32_t>(
      random.OneIn(8) ? random.Pick(std::vector<int64_t>{-1, 32, 33, 0x7FFFFFFF, -0x7FFFFFFF})
                      : random.Between(0, 4));
  for (size_t i = 0; i < 4; ++i) {
    any.shape[i] = AnyHostileDim(random);
    any.strides[i] = random.OneIn(3) ? AnyExtreme(random) : random.Between(-4, 4);
  }
  strew_dtype dtype = random.Pick(Dtypes()).code;
  if (random.OneIn(8)) dtype = static_cast<strew_dtype>(AnyExtreme(random));
  if (random.OneIn(16)) dtype = STREW_OPAQUE(static_cast<strew_dtype>(random.Between(0, 4097)));
  unsigned char* const address = random.OneIn(4) ? nullptr : memory + random.Between(0, 16);
  any.description = {dtype, rank, random.OneIn(16) ? nullptr : any.shape.data(),
                     random.OneIn(3) ? nullptr : any.strides.data(),
                     reinterpret_cast<uintptr_t>(address)};
}

void ExpectDescribed(const strew_tensor* tensor, const Description& d) {
  EXPECT_EQ(strew_tensor_dtype(tensor), d.dtype);
  ASSERT_EQ(strew_tensor_rank(tensor), d.rank);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(strew_tensor_data(tensor)), d.address);
  const Dims shape(strew_tensor_shape(tensor), strew_tensor_shape(tensor) + d.rank);
  EXPECT_EQ(shape, Dims(d.shape, d.shape + d.rank));
  EXPECT_EQ(strew_tensor_size(tensor), Product(shape));
  if (d.strides == nullptr) return;
  EXPECT_EQ(Dims(strew_tensor_strides(tensor), strew_tensor_strides(tensor) + d.rank),
            Dims(d.strides, d.strides + d.rank));
}

TEST_F(HostileCalls, Descriptors) {
  alignas(64) unsigned char memory[64] = {};
  const int64_t plain_shape[] = {2, 3}, plain_strides[] = {3, 1};
  const Description plain = {STREW_INT16, 2, plain_shape, plain_strides,
                             reinterpret_cast<uintptr_t>(memory)};
  strew_tensor* kept = nullptr;
  ASSERT_EQ(strew_tensor_create(plain.dtype, 2, plain_shape, nullptr, memory, &kept), STREW_OK);
  const Tensor owner(kept);
  ForEachSeed(150, [&](Random& random) {
    Described any;
    DescribeAnything(random, memory, any);
    const Description& d = any.description;
    void* const data = reinterpret_cast<void*>(d.address);
    const strew_status expected = Judge(d);
    Note("descriptor of dtype " + std::to_string(d.dtype) + ", rank " + std::to_string(d.rank));
    strew_tensor* made = kept;
    EXPECT_EQ(strew_tensor_create(d.dtype, d.rank, d.shape, d.strides, data, &made), expected)
        << where_;
    const Tensor made_owner(made);
    Count(expected);
    EXPECT_EQ(made != nullptr, expected == STREW_OK) << where_;
    Note("reset");
    EXPECT_EQ(strew_tensor_reset(kept, d.dtype, d.rank, d.shape, d.strides, data), expected);
    Count(expected);
    if (made != nullptr) ExpectDescribed(made, d);
    ExpectDescribed(kept, expected == STREW_OK ? d : plain);
    EXPECT_EQ(strew_tensor_reset(kept, plain.dtype, 2, plain_shape, nullptr, memory), STREW_OK);
    Note("set_data");
    EXPECT_EQ(strew_tensor_set_data(kept, data),
              d.address % 2 == 0 ? STREW_OK : STREW_INVALID_ARGUMENT);
    EXPECT_EQ(strew_tensor_data(kept), d.address % 2 == 0 ? data : memory);
    EXPECT_EQ(strew_tensor_set_data(kept, memory), STREW_OK);
    EXPECT_EQ(strew_tensor_create(d.dtype, d.rank, d.shape, d.strides, data, nullptr),
              STREW_INVALID_ARGUMENT);
    EXPECT_EQ(strew_tensor_reset(nullptr, d.dtype, d.rank, d.shape, d.strides, data),
              STREW_INVALID_ARGUMENT);
  });
  if (!enough_) return;
  for (const strew_status status : {STREW_OK, STREW_INVALID_ARGUMENT, STREW_SIZE_OVERFLOW}) {
    EXPECT_GE(answers_[status], 100) << strew_status_name(status);
  }
}

// ---- Settings -----------------------------------------------------------------------------------

// Setters take what strew.h names and refuse the rest.
TEST_F(HostileCalls, Settings) {
  ForEachSeed(50, [&](Random& random) {
    strew_context* const context = random.OneIn(8) ? nullptr : AnyTarget(random).context.get();
    const auto code =
        static_cast<int32_t>(random.OneIn(2) ? AnyExtreme(random) : random.Between(-1, 3));
    const auto expect = [&](strew_status status, bool good, strew_status bad) {
      const bool wanted = good && context != nullptr;
      EXPECT_EQ(status, wanted               ? STREW_OK
                        : context == nullptr ? STREW_INVALID_ARGUMENT
                                             : bad)
          << where_;
      Count(status);
    };
    Note("settings of " + std::to_string(code));
    const bool is_flag = code == 0 || code == 1;
    expect(strew_context_set_index_policy(context, code), code >= 0 && code <= 2,
           STREW_INVALID_ARGUMENT);
    expect(strew_context_set_duplicate_policy(context, code), is_flag, STREW_INVALID_ARGUMENT);
    expect(strew_context_set_negative_indices(context, code), is_flag, STREW_INVALID_ARGUMENT);
    expect(strew_context_set_parallel_for(context, nullptr, nullptr, code), code == 0,
           STREW_INVALID_ARGUMENT);
    expect(strew_context_set_allocator(
               context, nullptr, [](void*, void*, size_t) {}, nullptr),
           false, STREW_INVALID_ARGUMENT);
    if (code < 0) {
      expect(strew_context_set_num_threads(context, code), false, STREW_INVALID_ARGUMENT);
    }
    const std::string name = "AVX" + std::to_string(code);
    const auto& targets = Targets();
    const bool listed = std::any_of(targets.begin(), targets.end(),
                                    [&](const Target& target) { return target.name == name; });
    if (!listed) {
      expect(strew_context_set_simd_target(context, name.c_str()), false, STREW_UNSUPPORTED);
    }
    if (context != nullptr) Apply(strew_test::Settings(), context);
  });
}

// ---- Allocators ---------------------------------------------------------------------------------

// The n-th request is refused, for an n that the call comes to: then it answers so or does without,
// and either way leaves nothing behind.
TEST_F(HostileCalls, Allocators) {
  int64_t refusals = 0;
  ForEachSeed(95, [&](Random& random) {
    const Operator op = random.Pick(std::vector<Operator>{
        Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate});
    Case c = MakeRandomCase(random, op, random.Pick(Dtypes()));
    const auto reductions = AllReductionsOf(Find(c.data.dtype()));
    if (random.OneIn(2)) c.duplicates = STREW_DUPLICATE_ERROR;
    if (random.OneIn(2)) c.reduction = reductions.back();
    if (random.OneIn(3)) SpoilIndices(random, c);
    strew_context* const context = AnyTarget(random).context.get();
    Trial trial(c);
    int64_t wanted = 0;
    {
      CountingAllocator allocator(CountingAllocator::kGrantsAll);
      allocator.InstallIn(context);
      Note(Describe(c));
      EXPECT_EQ(trial.Trouble(context), "") << where_ << Describe(c);
      wanted = allocator.requests();
    }
    Count(trial.outcome().status);
    trial.AllowOutOfMemory();
    for (int64_t granted = 0; granted < std::min<int64_t>(wanted, 4); ++granted) {
      CountingAllocator allocator(granted);
      allocator.InstallIn(context);
      Note(Describe(c));
      EXPECT_EQ(trial.Trouble(context), "") << where_ << "granted " << granted << Describe(c);
      EXPECT_TRUE(allocator.has_refused()) << where_;
      const bool without = *strew_context_error(context) == 0;
      Count(without ? STREW_OK : STREW_OUT_OF_MEMORY);
      if (without) ++calls_;  // a bad allocator all the same
      ++refusals;
    }
    EXPECT_EQ(strew_context_set_allocator(context, nullptr, nullptr, nullptr), STREW_OK);
  });
  if (enough_) {
    EXPECT_GE(refusals, 100);
  }
}

// ---- Runners ------------------------------------------------------------------------------------

// Only elements of the output may change.
void ExpectWrittenInside(LargeCall& call, const std::string& where) {
  EXPECT_TRUE(call.output().buffer().IsMarginIntact()) << where;
  Bytes before = call.before();
  Bytes after = call.output().Snapshot();
  const size_t width = WidthOf(call.output().dtype());
  const View from = call.output().ViewOf(after.data());
  const View to = call.output().ViewOf(before.data());
  ForEachIndex(from.shape(), [&](const Dims& i) { std::copy_n(from.At(i), width, to.At(i)); });
  EXPECT_TRUE(after == before) << where << "wrote into gaps of the output";
}

TEST_F(HostileCalls, Runners) {
  int64_t failures = 0;
  ForEachSeed(5, [&](Random& random) {
    const auto call_shapes = AllCallShapes(1 << 16);
    CallShape call_shape = random.Pick(call_shapes);
    if (call_shape.data.size() > 1) call_shape.gap = random.Between(0, 3);
    const Dtype dtype = Find(random.Pick(std::vector<strew_dtype>{
        STREW_INT8, STREW_FLOAT16, STREW_INT32, STREW_FLOAT64, STREW_COMPLEX128}));
    const strew_reduction reduction =
        Takes(call_shape.op, "reduction") ? random.Pick(AllReductionsOf(dtype)) : STREW_NONE;
    LargeCall call(call_shape, dtype.code, reduction);
    call.Choose(random.OneIn(2) ? strew_test::Place::kInPlace : strew_test::Place::kNewOutput);
    const Target& target = AnyTarget(random);
    strew_context* const context = target.context.get();
    Apply(strew_test::Settings(), context);
    const auto workers = static_cast<int32_t>(random.Between(2, 9));
    Backwards backwards;
    Recorder recorder(backwards);
    recorder.InstallIn(context, workers);
    const std::string what = where_ + target.name + ", " + call.Describe() + ", " +
                             std::to_string(workers) + " workers ";
    Note(what);
    EXPECT_EQ(call.Send(context), STREW_OK) << what;
    const int64_t phases = recorder.phases();
    for (int64_t phase = 0; phase < phases; ++phase) {
      const Fault fault = random.Pick(Faults());
      Faulty faulty(backwards, fault, phase);
      faulty.InstallIn(context, workers);
      CountingAllocator allocator(CountingAllocator::kGrantsAll);
      allocator.InstallIn(context);
      Note(what + NameOf(fault));
      EXPECT_EQ(call.Send(context), STREW_RUNNER_FAILED) << what << NameOf(fault);
      EXPECT_STRNE(strew_context_error(context), "") << what;
      EXPECT_EQ(strew_context_error_position(context), -1) << what;
      EXPECT_EQ(strew_context_applied(context), 0) << what;
      ExpectWrittenInside(call, what);
      ++failures;
      Count(STREW_RUNNER_FAILED);
    }
    EXPECT_EQ(strew_context_set_allocator(context, nullptr, nullptr, nullptr), STREW_OK);
    EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  });
  if (enough_) {
    EXPECT_GE(failures, 50);
  }
}

}  // namespace
}  // namespace strew_test
