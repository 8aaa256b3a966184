// SPDX-License-Identifier: Apache-2.0
#include "reference/oracle.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "reference/arithmetic.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/mean.h"
#include "reference/wide.h"

namespace strew::reference {
namespace {

Dims Concatenate(Dims head, const Dims& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

// Replaces the last dims.
void SetLast(Dims& dims, const Dims& last) {
  std::copy(last.begin(), last.end(), dims.end() - static_cast<std::ptrdiff_t>(last.size()));
}

// The dims from `first` to before `last`.
Dims Part(const Dims& dims, size_t first, size_t last) {
  return Dims(dims.begin() + static_cast<int64_t>(first),
              dims.begin() + static_cast<int64_t>(last));
}

size_t NormalizedAxis(int64_t axis, const Dims& shape) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

// ---- Updates -----------------------------------------------------------------------------------

// A copy of data to which updates are applied one at a time.
class Application {
 public:
  Application(const View& data, strew_reduction reduction, const View& output)
      : kind_(reduction & ~(STREW_EXCLUDE_SELF | STREW_WIDE)),
        excludes_self_((reduction & STREW_EXCLUDE_SELF) != 0),
        is_wide_(RoundsOnce(output.dtype, reduction)),
        output_(output),
        seen_(static_cast<size_t>(Product(output.shape())), false) {
    CopyElements(data, output);
  }

  void Apply(const Dims& target, const unsigned char* update) {
    const size_t position = RowMajorPosition(output_.shape(), target);
    const bool first = !seen_[position];
    seen_[position] = true;
    ++applied_;
    unsigned char* const element = output_.At(target);
    if (kind_ == STREW_MEAN) {
      Mean& mean = means_[position];
      if (first && !excludes_self_) mean.Add(output_.dtype, element);
      mean.Add(output_.dtype, update);
      mean.Write(output_.dtype, element);
    } else if (is_wide_) {
      WideValue& value = wide_[position];
      if (first && !excludes_self_) value.Combine(output_.dtype, kind_, element);
      value.Combine(output_.dtype, kind_, update);
      value.Write(output_.dtype, element);
    } else if (first && excludes_self_ && kind_ != STREW_NONE) {
      Begin(element, update);
    } else {
      Combine(output_.dtype, kind_, element, update);
    }
  }

  Outcome Finish() {
    Outcome outcome;
    outcome.applied = applied_;
    if (kind_ != STREW_NONE) outcome.reduced = std::move(seen_);
    return outcome;
  }

 private:
  // Replaces an element by its first update. A reduction writes bools as 0 or 1, even if there is
  // nothing to combine.
  void Begin(unsigned char* element, const unsigned char* update) const {
    std::memcpy(element, update, WidthOf(output_.dtype));
    if (output_.dtype == STREW_BOOL) *element = *update != 0 ? 1 : 0;
  }

  const strew_reduction kind_;
  const bool excludes_self_;
  const bool is_wide_;
  const View output_;
  std::vector<bool> seen_;  // true if an update named the element at this row-major position
  std::map<size_t, Mean> means_;
  std::map<size_t, WideValue> wide_;
  int64_t applied_ = 0;
};

// Finds the first update whose element an earlier update names too.
template <class ForEachUpdate>
Outcome CheckDuplicates(const Dims& shape, ForEachUpdate for_each_update) {
  Outcome outcome;
  std::vector<bool> seen(static_cast<size_t>(Product(shape)), false);
  for_each_update([&](const Dims& target, const unsigned char*, int64_t position) {
    const size_t element = RowMajorPosition(shape, target);
    if (seen[element] && outcome.status == STREW_OK) {
      outcome.status = STREW_DUPLICATE_INDEX;
      outcome.error_position = position;
      outcome.error = "indices";
    }
    seen[element] = true;
  });
  return outcome;
}

// for_each_update(visit) calls visit(target, update, position of its index) in the order in which
// updates are applied.
template <class ForEachUpdate>
Outcome Scatter(const View& data, const Rules& rules, const View& output,
                ForEachUpdate for_each_update) {
  if (rules.duplicates == STREW_DUPLICATE_ERROR) {
    const Outcome outcome = CheckDuplicates(data.shape(), for_each_update);
    if (outcome.status != STREW_OK) return outcome;
  }
  Application application(data, rules.reduction, output);
  for_each_update([&](const Dims& target, const unsigned char* update, int64_t) {
    application.Apply(target, update);
  });
  return application.Finish();
}

// ---- Indices -----------------------------------------------------------------------------------

bool IsInRange(int64_t index, int64_t dim) { return 0 <= index && index < dim; }

int64_t Wrapped(int64_t index, int64_t dim, bool wrap) {
  return wrap && index < 0 ? index + dim : index;
}

std::optional<int64_t> Resolve(const View& indices, const Dims& i, int64_t dim,
                               const Rules& rules) {
  return reference::Resolve(ReadIndex(indices.dtype, indices.At(i)), dim, rules);
}

// True if the call fails because of an index. Clamping fails if the axis has no element.
bool IsRefused(int64_t value, int64_t dim, const Rules& rules) {
  if (IsInRange(Wrapped(value, dim, rules.wrap), dim)) return false;
  return rules.policy == STREW_INDEX_ERROR || (rules.policy == STREW_INDEX_CLAMP && dim == 0);
}

// Finds the first index that is refused; axis_of(i) is the axis of data that index i is for.
template <class AxisOf>
Outcome CheckIndices(const View& indices, const Dims& shape, const Rules& rules, AxisOf axis_of) {
  Outcome outcome;
  int64_t position = 0;
  ForEachIndex(indices.shape(), [&](const Dims& i) {
    const int64_t here = position++;
    const size_t axis = axis_of(i);
    const int64_t dim = shape[axis];
    const int64_t value = ReadIndex(indices.dtype, indices.At(i));
    if (outcome.status != STREW_OK || !IsRefused(value, dim, rules)) return;
    outcome.status = STREW_INDEX_OUT_OF_RANGE;
    outcome.error_position = here;
    // The name of a scalar in messages is not specified, nor is the range of an axis without
    // elements.
    if (!i.empty()) outcome.error = "indices" + ToString(i);
    outcome.error += " = " + IndexText(indices.dtype, indices.At(i));
    if (dim == 0) return;
    outcome.error += " is out of range [" + std::to_string(rules.wrap ? -dim : 0) + ", " +
                     std::to_string(dim - 1) + "] for axis " + std::to_string(axis) +
                     " of data, which has " + std::to_string(dim) + " element";
  });
  return outcome;
}

}  // namespace

std::optional<int64_t> Resolve(int64_t value, int64_t dim, const Rules& rules) {
  const int64_t index = Wrapped(value, dim, rules.wrap);
  if (IsInRange(index, dim)) return index;
  if (rules.policy == STREW_INDEX_DROP) return std::nullopt;
  return std::clamp<int64_t>(index, 0, dim - 1);
}

Outcome ApplyEach(const View& data, const std::vector<Update>& updates, strew_reduction reduction,
                  const View& output) {
  Application application(data, reduction, output);
  for (const Update& update : updates) application.Apply(update.target, update.bytes);
  return application.Finish();
}

// ---- Operators with indices --------------------------------------------------------------------

Outcome ScatterElements(const View& data, const View& indices, const View& updates, int64_t axis,
                        const Rules& rules, const View& output) {
  const size_t a = NormalizedAxis(axis, data.shape());
  const Outcome refusal =
      CheckIndices(indices, data.shape(), rules, [=](const Dims&) { return a; });
  if (refusal.status != STREW_OK) return refusal;
  return Scatter(data, rules, output, [&](auto visit) {
    int64_t position = 0;
    Dims target;
    ForEachIndex(indices.shape(), [&](const Dims& i) {
      const int64_t here = position++;
      const auto index = Resolve(indices, i, data.shape()[a], rules);
      if (!index) return;
      target = i;
      target[a] = *index;
      visit(target, updates.At(i), here);
    });
  });
}

Outcome ScatterNd(const View& data, const View& indices, const View& updates, const Rules& rules,
                  const View& output) {
  const Outcome refusal = CheckIndices(indices, data.shape(), rules,
                                       [](const Dims& i) { return static_cast<size_t>(i.back()); });
  if (refusal.status != STREW_OK) return refusal;
  const Dims tuples = Part(indices.shape(), 0, indices.shape().size() - 1);
  const auto k = static_cast<size_t>(indices.shape().back());
  const Dims slice = Part(data.shape(), k, data.shape().size());
  // The position that a tuple names, unless one of its components is dropped.
  const auto resolve = [&](const Dims& tuple) {
    std::optional<Dims> named = Dims();
    for (size_t j = 0; j < k && named; ++j) {
      const Dims place = Concatenate(tuple, {static_cast<int64_t>(j)});
      const auto index = Resolve(indices, place, data.shape()[j], rules);
      if (!index) return std::optional<Dims>();
      named->push_back(*index);
    }
    return named;
  };
  return Scatter(data, rules, output, [&](auto visit) {
    int64_t count = 0;
    ForEachIndex(tuples, [&](const Dims& tuple) {
      const int64_t position = k == 0 ? -1 : static_cast<int64_t>(k) * count;
      ++count;
      const auto named = resolve(tuple);
      if (!named) return;
      Dims target = Concatenate(*named, slice);
      Dims from = Concatenate(tuple, slice);
      // Updates that should be of rank 0 may have any shape with one element.
      if (from.empty()) from.resize(updates.shape().size());
      ForEachIndex(slice, [&](const Dims& rest) {
        SetLast(target, rest);
        SetLast(from, rest);
        visit(target, updates.At(from), position);
      });
    });
  });
}

Outcome ScatterUpdate(const View& data, const View& indices, const View& updates, int64_t axis,
                      const Rules& rules, const View& output) {
  const size_t a = NormalizedAxis(axis, data.shape());
  const Outcome refusal =
      CheckIndices(indices, data.shape(), rules, [=](const Dims&) { return a; });
  if (refusal.status != STREW_OK) return refusal;
  const Dims before = Part(data.shape(), 0, a);
  const Dims behind = Part(data.shape(), a + 1, data.shape().size());
  return Scatter(data, rules, output, [&](auto visit) {
    int64_t position = 0;
    ForEachIndex(indices.shape(), [&](const Dims& i) {
      const int64_t here = position++;
      const auto index = Resolve(indices, i, data.shape()[a], rules);
      if (!index) return;
      ForEachIndex(before, [&](const Dims& outer) {
        Dims target = Concatenate(Concatenate(outer, {*index}), behind);
        Dims from = Concatenate(Concatenate(outer, i), behind);
        ForEachIndex(behind, [&](const Dims& inner) {
          SetLast(target, inner);
          SetLast(from, inner);
          visit(target, updates.At(from), here);
        });
      });
    });
  });
}

// ---- tensor_scatter ----------------------------------------------------------------------------

namespace {

// An axis of `max` positions, and the rules for the first of the `size` positions that an update
// writes.
struct Cache {
  int64_t max;
  int64_t size;
  strew_cache_mode mode;
  strew_index_policy policy;

  bool IsInRange(int64_t w) const {
    return w >= 0 && (mode == STREW_CACHE_CIRCULAR || w <= max - size);
  }
  int64_t Nearest(int64_t w) const { return w < 0 ? 0 : std::min(w, max - size); }
};

Outcome CheckWriteIndices(const View& write_indices, const Cache& cache) {
  Outcome outcome;
  if (cache.policy != STREW_INDEX_ERROR) return outcome;
  ForEachIndex(write_indices.shape(), [&](const Dims& b) {
    const unsigned char* const bytes = write_indices.At(b);
    if (outcome.status != STREW_OK) return;
    if (cache.IsInRange(ReadIndex(write_indices.dtype, bytes))) return;
    outcome.status = STREW_INDEX_OUT_OF_RANGE;
    outcome.error_position = b[0];
    outcome.error = "write_indices" + ToString(b) + " = " + IndexText(write_indices.dtype, bytes);
  });
  return outcome;
}

// The position at which the update begins, below `max`; none if the update is dropped.
std::optional<int64_t> Beginning(const View& write_indices, const Dims& b, const Cache& cache) {
  const unsigned char* const bytes = write_indices.At(b);
  const int64_t w = ReadIndex(write_indices.dtype, bytes);
  if (cache.IsInRange(w)) {
    return cache.max == 0 ? 0 : IndexModulo(write_indices.dtype, bytes, cache.max);
  }
  if (cache.policy == STREW_INDEX_DROP) return std::nullopt;
  return cache.Nearest(w);
}

}  // namespace

Outcome TensorScatter(const View& past_cache, const View& update, const View* write_indices,
                      int64_t axis, strew_cache_mode mode, strew_index_policy policy,
                      const View& present_cache) {
  const size_t a = NormalizedAxis(axis, past_cache.shape());
  const Cache cache{past_cache.shape()[a], update.shape()[a], mode, policy};
  if (write_indices != nullptr) {
    const Outcome refusal = CheckWriteIndices(*write_indices, cache);
    if (refusal.status != STREW_OK) return refusal;
  }
  Application application(past_cache, STREW_NONE, present_cache);
  ForEachIndex(update.shape(), [&](const Dims& i) {
    const auto begin = write_indices != nullptr ? Beginning(*write_indices, {i[0]}, cache)
                                                : std::optional<int64_t>(0);
    if (!begin) return;
    Dims target = i;
    target[a] = (*begin + i[a]) % cache.max;
    application.Apply(target, update.At(i));
  });
  return application.Finish();
}

// ---- slice_scatter -----------------------------------------------------------------------------

Outcome SliceScatter(const View& data, const View& updates, const Dims& start, const Dims& stop,
                     const Dims& step, const Dims& axes, strew_reduction reduction,
                     const View& output) {
  Dims first(data.shape().size(), 0);
  Dims stride(data.shape().size(), 1);
  for (size_t j = 0; j < start.size(); ++j) {
    const size_t axis = axes.empty() ? j : NormalizedAxis(axes[j], data.shape());
    const Range range = PythonSlice(start[j], stop[j], step[j], data.shape()[axis]);
    first[axis] = range.first;
    stride[axis] = range.step;
  }
  Application application(data, reduction, output);
  const View repeated = Broadcast(updates, SliceShape(data.shape(), start, stop, step, axes));
  Dims target = first;
  ForEachIndex(repeated.shape(), [&](const Dims& i) {
    for (size_t axis = 0; axis < i.size(); ++axis) {
      target[axis] = first[axis] + i[axis] * stride[axis];
    }
    application.Apply(target, repeated.At(i));
  });
  Outcome outcome = application.Finish();
  outcome.applied = Product(updates.shape());
  return outcome;
}

Range PythonSlice(int64_t start, int64_t stop, int64_t step, int64_t dim) {
  // The lowest and the highest position at which a slice may start or stop.
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? dim : dim - 1;
  const auto clamped = [=](int64_t i) { return std::clamp(i < 0 ? i + dim : i, lowest, highest); };
  const int64_t from = clamped(start);
  const int64_t to = clamped(stop);
  const bool empty = step > 0 ? from >= to : from <= to;
  if (empty) return {from, step, 0};
  return {from, step, (to - from - (step > 0 ? 1 : -1)) / step + 1};
}

Dims SliceShape(const Dims& shape, const Dims& start, const Dims& stop, const Dims& step,
                const Dims& axes) {
  Dims sliced = shape;
  for (size_t j = 0; j < start.size(); ++j) {
    const size_t axis = axes.empty() ? j : NormalizedAxis(axes[j], shape);
    sliced[axis] = PythonSlice(start[j], stop[j], step[j], shape[axis]).count;
  }
  return sliced;
}

}  // namespace strew::reference
