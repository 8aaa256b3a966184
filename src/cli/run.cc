// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "api/context.h"
#include "cli/array.h"
#include "cli/cast.h"
#include "cli/context.h"
#include "cli/npy.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/timer.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

struct DestroyTensor {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
};
using Tensor = std::unique_ptr<strew_tensor, DestroyTensor>;

std::vector<std::int64_t> FortranStrides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const std::int64_t dim : shape) {
    strides.push_back(stride);
    stride *= dim;
  }
  return strides;
}

Tensor MakeTensor(const Array& array) {
  // The strides of an empty array mean nothing, and their products could overflow.
  const bool row_major = !array.fortran_order || array.byte_count == 0;
  const auto strides = row_major ? std::vector<std::int64_t>() : FortranStrides(array.shape);
  strew_tensor* tensor = nullptr;
  Check(strew_tensor_create(array.type.dtype, static_cast<std::int32_t>(array.shape.size()),
                            array.shape.data(), row_major ? nullptr : strides.data(),
                            array.bytes.get(), &tensor));
  return Tensor(tensor);
}

void TellSentence(void*, const char* sentence) { std::fprintf(stderr, "strew: %s\n", sentence); }

struct DestroyPlan {
  void operator()(strew_plan* plan) const { strew_plan_destroy(plan); }
};
using Plan = std::unique_ptr<strew_plan, DestroyPlan>;

// A plan is made for the extents of some axes of data, which must exist.
void RequireIndexedAxes(Operator op, const Options& options, const Array& data,
                        const Array& indices) {
  const auto rank = static_cast<std::int64_t>(data.shape.size());
  if (rank == 0) Throw(STREW_INVALID_SHAPE, "data has rank 0, but the rank must be 1 or more");
  if (Takes(op, "axis")) {
    if (options.axis >= -rank && options.axis < rank) return;
    Throw(STREW_INVALID_AXIS, "axis = " + std::to_string(options.axis) + " is out of range [" +
                                  std::to_string(-rank) + ", " + std::to_string(rank - 1) + "]");
  }
  if (indices.shape.empty() || indices.shape.back() <= rank) return;
  Throw(STREW_INVALID_SHAPE, "indices has tuples of " + std::to_string(indices.shape.back()) +
                                 " numbers, but data has rank " + std::to_string(rank));
}

// To the library, structures, dates, bytes and text of the same size are one dtype.
void RequireSameDtype(const ElementType& data, const ElementType& updates) {
  if (data.dtype != updates.dtype || AreSame(data, updates)) return;
  Throw(STREW_INVALID_DTYPE,
        "updates has dtype " + Descr(updates) + ", but data has dtype " + Descr(data));
}

// The sentence with NumPy's name in place of an opaque dtype's.
std::string InWordsOfNumpy(std::string sentence, const ElementType& type) {
  const std::string opaque = "opaque[" + std::to_string(type.size) + "]";
  const std::size_t at = sentence.find(opaque);
  if (at == std::string::npos) return sentence;
  return sentence.replace(at, opaque.size(), Descr(type));
}

// Repeated calls of an operator, or of its plan.
class Calls {
 public:
  Calls(Operator op, strew_context* context, const reference::Arguments& arguments,
        const ElementType& type)
      : op_(op), context_(context), arguments_(arguments), type_(type) {}

  void MakePlan() {
    strew_plan* plan = nullptr;
    Require(arguments_.MakePlan(op_, context_, &plan));
    plan_.reset(plan);
  }

  void Make() const {
    Require(plan_ == nullptr ? arguments_.Call(op_, context_)
                             : arguments_.CallBy(plan_.get(), context_));
  }

 private:
  void Require(strew_status status) const {
    if (status != STREW_OK) Throw(status, InWordsOfNumpy(strew_context_error(context_), type_));
  }

  const Operator op_;
  strew_context* const context_;
  const reference::Arguments& arguments_;
  const ElementType& type_;
  Plan plan_;
};

// Makes `repeat` calls, at least one; seconds of the fastest.
double BestTime(const Calls& calls, int repeat, Progress& progress) {
  const int count = std::max(repeat, 1);
  double best = std::numeric_limits<double>::infinity();
  progress.Begin(count == 1 ? "one call" : "calls", count);
  for (int i = 0; i < count; ++i) {
    const Clock::time_point start = Clock::now();
    calls.Make();
    best = std::min(best, SecondsSince(start));
    progress.Advance(1);
  }
  return best;
}

void ReportTime(int calls, double seconds, std::int64_t bytes) {
  // A clock may be too coarse to see a small call.
  const double rate = static_cast<double>(bytes) / std::max(seconds, 1e-9) / 1e9;
  std::fprintf(stderr, "strew: best of %d calls: %.9f s, %.3f GB/s\n", calls, seconds, rate);
}

void RequireOneStandardInput(const Options& options) {
  int count = 0;
  for (const std::string& path : {options.data, options.indices, options.updates}) {
    count += path == "-" ? 1 : 0;
  }
  if (count > 1) throw std::runtime_error("only one operand can be -, standard input");
}

}  // namespace

void RunOperator(Operator op, const Options& options) {
  RequireOneStandardInput(options);
  // Before the files, because they may be large.
  const Context context = MakeContext(options);

  Progress progress;
  const Array data = options.in_place ? MapNpy(options.data) : ReadNpy(options.data, progress);
  std::optional<Array> indices;
  if (Takes(op, "indices")) indices = ReadNpy(options.indices, progress);
  Array updates = ReadNpy(options.updates, progress);
  if (options.cast) updates = Cast(updates, data.type);
  const Array output =
      options.in_place ? data : MakeArray(data.type, data.shape, /*fortran_order=*/false);

  const Tensor data_tensor = MakeTensor(data);
  const Tensor indices_tensor = indices ? MakeTensor(*indices) : nullptr;
  const Tensor updates_tensor = MakeTensor(updates);
  const Tensor output_tensor = MakeTensor(output);
  reference::Arguments arguments = AttributesOf(options);
  arguments.data = data_tensor.get();
  arguments.indices = indices_tensor.get();
  arguments.updates = updates_tensor.get();
  arguments.output = output_tensor.get();

  RequireSameDtype(data.type, updates.type);
  Calls calls(Called(op), context.get(), arguments, data.type);
  if (options.plan && indices) RequireIndexedAxes(op, options, data, *indices);
  if (options.explain) ExplainTo(context.get(), TellSentence, nullptr);
  if (options.plan) calls.MakePlan();
  if (options.explain && options.repeat > 0) {
    // This call reports how it runs, and is not timed.
    calls.Make();
    ExplainTo(context.get(), nullptr, nullptr);
  }
  const double seconds = BestTime(calls, options.repeat, progress);

  progress.Clear();
  if (options.repeat > 0) {
    const std::int64_t index_bytes = indices && !options.plan ? indices->byte_count : 0;
    ReportTime(options.repeat, seconds,
               data.byte_count + output.byte_count + index_bytes + updates.byte_count);
  }
  if (options.in_place) return;
  if (options.output.empty()) {
    Print(FormatArray(output));
  } else {
    WriteNpy(options.output, output, progress);
  }
}

void Print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  throw std::runtime_error("cannot write to standard output: " +
                           std::generic_category().message(errno));
}

}  // namespace strew::cli
