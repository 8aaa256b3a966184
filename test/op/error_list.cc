// SPDX-License-Identifier: Apache-2.0
#include "op/error_list.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "support/reference.h"

namespace strew_test {
namespace {

bool IsEmpty(const Dims& shape) { return std::count(shape.begin(), shape.end(), 0) > 0; }

bool IsInteger(strew_dtype dtype) {
  const auto& all = IndexDtypes();
  return std::any_of(all.begin(), all.end(), [=](const Dtype& d) { return d.code == dtype; });
}

class Judgement {
 public:
  Judgement(const Request& request, const Settings& settings, const Arena& memory)
      : r_(request),
        settings_(settings),
        memory_(memory),
        lists_(request.op == Operator::kSliceScatter),
        slice_(IsSlice(request.op)),
        cache_(Takes(request.op, "mode")) {}

  Verdict Decide() {
    if (!HandlesAreGood()) return {1, -1};
    if (!DtypesAreGood()) return {2, -1};
    rank_ = Rank(r_.data);
    if (!RanksAreGood()) return {4, -1};
    if (!AxesAreGood()) return {5, -1};
    if (slice_) {
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (Number(r_.step, i) == 0) return {6, -1};
      }
    }
    if (!ExtentsAreGood()) return {7, -1};
    if (!MemoryIsGood()) return {8, -1};
    if (slice_) return {};
    return IndicesAreGood() && DuplicatesAreGood() ? Verdict{} : verdict_;
  }

 private:
  static int64_t Rank(const Operand& operand) {
    return static_cast<int64_t>(operand.layout.shape.size());
  }
  static const Dims& Shape(const Operand& operand) { return operand.layout.shape; }
  int64_t AxisDim() const { return Shape(r_.data)[axes_[0]]; }

  // The operands of the operator that are tensors, output aside.
  std::vector<const Operand*> Inputs() const {
    std::vector<const Operand*> inputs = {&r_.data, &r_.updates};
    for (const Operand* operand : IndexOperands()) inputs.push_back(operand);
    return inputs;
  }

  std::vector<const Operand*> IndexOperands() const {
    if (lists_ && r_.axes.null) return {&r_.start, &r_.stop, &r_.step};
    if (lists_) return {&r_.start, &r_.stop, &r_.step, &r_.axes};
    if (slice_ || (cache_ && r_.indices.null)) return {};
    return {&r_.indices};
  }

  View ViewOf(const Operand& operand) const {
    return {operand.dtype, operand.layout, const_cast<unsigned char*>(memory_.at(operand.offset))};
  }

  // Entry i of a list of a slice.
  int64_t Number(const Operand& list, size_t i) const {
    if (!lists_) return list.values[i];
    return ReadIndex(list.dtype, ViewOf(list).At({static_cast<int64_t>(i)}));
  }

  // ---- Lines 1 and 2 ----------------------------------------------------------------------------

  bool HandlesAreGood() const {
    std::vector<const Operand*> operands = Inputs();
    operands.push_back(&r_.output);
    for (const Operand* operand : operands) {
      if (operand->null || (!operand->bound && !IsEmpty(Shape(*operand)))) return false;
    }
    if (r_.output.read_only) return false;
    if (cache_) return r_.mode == STREW_CACHE_LINEAR || r_.mode == STREW_CACHE_CIRCULAR;
    if (r_.op == Operator::kSliceScatterInt64) {
      const bool missing = r_.start.null || r_.stop.null || r_.step.null;
      if (r_.count < 0 || (r_.count > 0 && missing)) return false;
    }
    const strew_reduction kind = r_.reduction & ~(STREW_EXCLUDE_SELF | STREW_WIDE);
    return kind >= STREW_NONE && kind <= STREW_MEAN &&
           (r_.reduction & ~STREW_WIDE) != (STREW_SUB | STREW_EXCLUDE_SELF);
  }

  bool DtypesAreGood() const {
    const strew_dtype dtype = r_.data.dtype;
    if (r_.updates.dtype != dtype || r_.output.dtype != dtype) return false;
    for (const Operand* operand : IndexOperands()) {
      if (!IsInteger(operand->dtype)) return false;
    }
    if (cache_) return true;
    const auto defined = AllReductionsOf(Find(dtype));
    const strew_reduction kind = r_.reduction & ~(STREW_EXCLUDE_SELF | STREW_WIDE);
    return kind == STREW_NONE || std::count(defined.begin(), defined.end(), kind) > 0;
  }

  // ---- Lines 4 to 7 -----------------------------------------------------------------------------

  bool RanksAreGood() const {
    if (rank_ < (cache_ ? 2 : 1) || Rank(r_.output) != rank_) return false;
    const int64_t updates = Rank(r_.updates);
    const int64_t indices = Rank(r_.indices);
    switch (r_.op) {
      case Operator::kScatterElements:
        return indices == rank_ && updates == rank_;
      case Operator::kScatterNd: {
        if (indices == 0 || Shape(r_.indices).back() > rank_) return false;
        const int64_t expected = indices - 1 + rank_ - Shape(r_.indices).back();
        return expected == 0 || updates == expected;
      }
      case Operator::kScatterUpdate:
        return updates == rank_ - 1 + indices;
      case Operator::kTensorScatter:
        return updates == rank_ && (r_.indices.null || indices == 1);
      case Operator::kSliceScatterInt64:
        return updates <= rank_ && r_.count <= rank_;
      default:
        return updates <= rank_ && ListsAreGood();
    }
  }

  bool ListsAreGood() const {
    for (const Operand* list : IndexOperands()) {
      if (Rank(*list) != 1 || Shape(*list) != Shape(r_.start)) return false;
    }
    return Shape(r_.start)[0] <= rank_;
  }

  // Stores them in axes_.
  bool AxesAreGood() {
    Dims axes = {r_.axis};
    if (r_.op == Operator::kScatterNd) axes.clear();
    if (slice_) {
      axes.clear();
      const int64_t count = lists_ ? Shape(r_.start)[0] : r_.count;
      for (int64_t i = 0; i < count; ++i) {
        axes.push_back(r_.axes.null ? i : Number(r_.axes, static_cast<size_t>(i)));
      }
    }
    for (const int64_t axis : axes) {
      if (axis < -rank_ || axis >= rank_) return false;
      const auto place = static_cast<size_t>(axis < 0 ? axis + rank_ : axis);
      if (std::count(axes_.begin(), axes_.end(), place) > 0 || (cache_ && place == 0)) return false;
      axes_.push_back(place);
    }
    return true;
  }

  bool ExtentsAreGood() const {
    const Dims& data = Shape(r_.data);
    if (Shape(r_.output) != data) return false;
    const Dims& updates = Shape(r_.updates);
    if (slice_) return CanBeBroadcast(updates, Slice());
    const Dims& indices = Shape(r_.indices);
    if (r_.op == Operator::kScatterElements) {
      for (size_t i = 0; i < data.size(); ++i) {
        if (i != axes_[0] && indices[i] > data[i]) return false;
      }
      return updates == indices;
    }
    Dims expected = data;
    if (cache_) {
      expected[axes_[0]] = updates[axes_[0]];
      const bool fits = r_.indices.null || indices[0] == data[0];
      return fits && updates == expected && updates[axes_[0]] <= data[axes_[0]];
    }
    if (r_.op == Operator::kScatterNd) {
      expected.assign(indices.begin(), indices.end() - 1);
      expected.insert(expected.end(), data.begin() + indices.back(), data.end());
      if (expected.empty()) return Product(updates) == 1;
    } else {
      const auto at = expected.erase(expected.begin() + static_cast<int64_t>(axes_[0]));
      expected.insert(at, indices.begin(), indices.end());
    }
    return updates == expected;
  }

  // The shape that the entries leave.
  Dims Slice() const {
    Dims shape = Shape(r_.data);
    for (size_t i = 0; i < axes_.size(); ++i) {
      int64_t& dim = shape[axes_[i]];
      dim = PythonSlice(Number(r_.start, i), Number(r_.stop, i), Number(r_.step, i), dim).count;
    }
    return shape;
  }

  static bool CanBeBroadcast(const Dims& from, const Dims& to) {
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t dim = from[from.size() - 1 - i];
      if (dim != 1 && dim != to[to.size() - 1 - i]) return false;
    }
    return true;
  }

  // ---- Line 8 -----------------------------------------------------------------------------------

  bool MemoryIsGood() const {
    if (IsEmpty(Shape(r_.output))) return true;
    for (const Operand* input : Inputs()) {
      if (!(input == &r_.data && IsInPlace()) && Meet(*input, r_.output)) return false;
    }
    return IsInjective(r_.output.layout);
  }

  bool IsInPlace() const {
    if (r_.data.offset != r_.output.offset) return false;
    for (size_t i = 0; i < Shape(r_.data).size(); ++i) {
      const bool same = r_.data.layout.strides[i] == r_.output.layout.strides[i];
      if (Shape(r_.data)[i] > 1 && !same) return false;
    }
    return true;
  }

  static bool Meet(const Operand& a, const Operand& b) {
    if (IsEmpty(Shape(a)) || IsEmpty(Shape(b))) return false;
    const auto first = [](const Operand& operand) {
      return static_cast<int64_t>(operand.offset) -
             Origin(operand.layout) * static_cast<int64_t>(WidthOf(operand.dtype));
    };
    const auto end = [&](const Operand& operand) {
      return first(operand) + Span(operand.layout) * static_cast<int64_t>(WidthOf(operand.dtype));
    };
    return first(a) < end(b) && first(b) < end(a);
  }

  static bool IsInjective(const Layout& layout) {
    std::vector<std::pair<int64_t, int64_t>> dims;  // |stride|, dim
    for (size_t i = 0; i < layout.shape.size(); ++i) {
      if (layout.shape[i] > 1) dims.push_back({std::abs(layout.strides[i]), layout.shape[i]});
    }
    std::sort(dims.begin(), dims.end());
    int64_t sum = 0;
    for (const auto& [stride, dim] : dims) {
      if (stride <= sum) return false;
      sum += (dim - 1) * stride;
    }
    return true;
  }

  // ---- Lines 9 and 11 ---------------------------------------------------------------------------

  bool IndicesAreGood() {
    if (cache_ && r_.indices.null) return true;
    int64_t position = 0;
    bool good = true;
    ForEachIndex(Shape(r_.indices), [&](const Dims& i) {
      if (good && Fails(ReadIndex(r_.indices.dtype, ViewOf(r_.indices).At(i)), DimFor(i))) {
        verdict_ = {9, position};
        good = false;
      }
      ++position;
    });
    return good;
  }

  // The size of the axis that the index at i is for.
  int64_t DimFor(const Dims& i) const {
    if (r_.op != Operator::kScatterNd) return AxisDim();
    return Shape(r_.data)[static_cast<size_t>(i.back())];
  }

  bool IsInRange(int64_t value, int64_t dim) const {
    if (!cache_) return value >= (settings_.wrap ? -dim : 0) && value < dim;
    const int64_t last = dim - Shape(r_.updates)[axes_[0]];
    return value >= 0 && (r_.mode == STREW_CACHE_CIRCULAR || value <= last);
  }

  bool Fails(int64_t value, int64_t dim) const {
    if (settings_.policy == STREW_INDEX_DROP) return false;
    if (settings_.policy == STREW_INDEX_CLAMP) return !cache_ && dim == 0;
    return !IsInRange(value, dim);
  }

  // The place that an index names, or -1 where it is dropped.
  int64_t Resolve(int64_t value, int64_t dim) const {
    if (IsInRange(value, dim)) return value < 0 ? value + dim : value;
    if (settings_.policy == STREW_INDEX_DROP) return -1;
    return value < 0 ? 0 : dim - 1;
  }

  bool DuplicatesAreGood() {
    if (settings_.duplicates == STREW_DUPLICATE_LAST || cache_) return true;
    // Dims that are repeated for each entry must have elements.
    if (IsEmpty(Shape(r_.updates))) return true;
    const bool tuples = r_.op == Operator::kScatterNd;
    Dims entries = Shape(r_.indices);
    const int64_t length = tuples ? entries.back() : 1;
    if (tuples) entries.pop_back();
    std::set<Dims> met;
    int64_t position = 0;
    bool good = true;
    ForEachIndex(entries, [&](const Dims& entry) {
      const Dims place = PlaceOf(entry, length);
      const bool dropped = std::count(place.begin(), place.end(), -1) > 0;
      if (good && !dropped && !met.insert(place).second) {
        verdict_ = {11, length == 0 ? -1 : position};
        good = false;
      }
      position += length;
    });
    return good;
  }

  Dims PlaceOf(const Dims& entry, int64_t length) const {
    const View indices = ViewOf(r_.indices);
    if (r_.op == Operator::kScatterNd) {
      Dims place, at = entry;
      for (at.push_back(0); at.back() < length; ++at.back()) {
        place.push_back(Resolve(ReadIndex(indices.dtype, indices.At(at)), DimFor(at)));
      }
      return place;
    }
    const int64_t index = Resolve(ReadIndex(indices.dtype, indices.At(entry)), AxisDim());
    if (r_.op == Operator::kScatterUpdate) return {index};
    Dims place = entry;
    place[axes_[0]] = index;
    return place;
  }

  const Request& r_;
  const Settings& settings_;
  const Arena& memory_;
  const bool lists_, slice_, cache_;
  int64_t rank_ = 0;
  std::vector<size_t> axes_;
  Verdict verdict_;
};

// ---- Descriptors --------------------------------------------------------------------------------

constexpr uint64_t kTooMuch = std::numeric_limits<uint64_t>::max();
constexpr auto kMostBytes = static_cast<uint64_t>(PTRDIFF_MAX);

uint64_t Times(uint64_t a, uint64_t b) { return a != 0 && b > kTooMuch / a ? kTooMuch : a * b; }
uint64_t Plus(uint64_t a, uint64_t b) { return b > kTooMuch - a ? kTooMuch : a + b; }

}  // namespace

strew_status StatusOf(int line) {
  static const std::map<int, strew_status> statuses = {{0, STREW_OK},
                                                       {1, STREW_INVALID_ARGUMENT},
                                                       {2, STREW_INVALID_DTYPE},
                                                       {4, STREW_INVALID_SHAPE},
                                                       {5, STREW_INVALID_AXIS},
                                                       {6, STREW_INVALID_ARGUMENT},
                                                       {7, STREW_INVALID_SHAPE},
                                                       {8, STREW_OVERLAPPING_MEMORY},
                                                       {9, STREW_INDEX_OUT_OF_RANGE},
                                                       {11, STREW_DUPLICATE_INDEX}};
  return statuses.at(line);
}

Verdict Judge(const Request& request, const Settings& settings, const Arena& memory) {
  return Judgement(request, settings, memory).Decide();
}

strew_status Judge(const Description& d) {
  if (d.rank < 0 || d.rank > 32 || !IsKnown(d.dtype)) return STREW_INVALID_ARGUMENT;
  if (d.rank > 0 && d.shape == nullptr) return STREW_INVALID_ARGUMENT;
  const Dims shape(d.shape, d.shape + d.rank);
  for (const int64_t dim : shape) {
    if (dim < 0) return STREW_INVALID_ARGUMENT;
  }
  if (IsEmpty(shape)) return STREW_OK;
  if (d.address % Find(d.dtype).alignment != 0) return STREW_INVALID_ARGUMENT;
  uint64_t count = 1, reach = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto dim = static_cast<uint64_t>(shape[i]);
    count = Times(count, dim);
    if (d.strides == nullptr) continue;
    const int64_t stride = d.strides[i];
    const auto bits = static_cast<uint64_t>(stride);
    reach = Plus(reach, Times(dim - 1, stride < 0 ? uint64_t{0} - bits : bits));
  }
  if (d.strides == nullptr) reach = count;
  const bool fits = count <= kMostBytes && Times(reach, WidthOf(d.dtype)) <= kMostBytes;
  return fits ? STREW_OK : STREW_SIZE_OVERFLOW;
}

}  // namespace strew_test
