// SPDX-License-Identifier: Apache-2.0
#include "scalar_loops.h"

#include <cstring>

namespace strew_bench {
namespace {

float FloatFromHalf(uint16_t half) {
  const uint32_t magnitude = (half & 0x7FFFu) << 13;
  float value;
  std::memcpy(&value, &magnitude, sizeof value);
  value *= 0x1p112f;  // moves the bias of the exponent from 15 to 127, subnormals included
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((half & 0x7C00u) == 0x7C00u) bits |= 0x7F800000u;
  bits |= (half & 0x8000u) << 16;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds to nearest even.
uint16_t HalfFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = (bits & 0x80000000u) >> 16;
  uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {  // at 0.5 one unit of the last place is the smallest subnormal
    float sum;
    std::memcpy(&sum, &magnitude, sizeof sum);
    sum += 0.5f;
    std::memcpy(&magnitude, &sum, sizeof magnitude);
    return static_cast<uint16_t>(sign | (magnitude - 0x3F000000u));
  }
  magnitude += 0x0FFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u) >> 13));
}

template <typename T>
struct Replace {
  using Element = T;
  static void Apply(T& element, T update) { element = update; }
};

template <typename T>
struct Add {
  using Element = T;
  static void Apply(T& element, T update) { element = static_cast<T>(element + update); }
};

struct AddHalf {
  using Element = uint16_t;
  static void Apply(uint16_t& element, uint16_t update) {
    element = HalfFromFloat(FloatFromHalf(element) + FloatFromHalf(update));
  }
};

template <typename T>
struct Max {
  using Element = T;
  static void Apply(T& element, T update) { element = update > element ? update : element; }
};

bool Resolve(int64_t& index, int64_t size) {
  if (index < 0) index += size;
  return index >= 0 && index < size;
}

// The loops for one way to combine.
template <typename Combine>
struct Loops {
  using T = typename Combine::Element;

  // Each index names one element of a vector.
  static bool Vector(const Operands& operands, const int64_t* indices, const void* updates_,
                     void* output_) {
    const T* updates = static_cast<const T*>(updates_);
    T* output = static_cast<T*>(output_);
    const int64_t size = operands.data[0];
    const int64_t count = operands.updates[0];
    for (int64_t t = 0; t < count; ++t) {
      int64_t index = indices[t];
      if (!Resolve(index, size)) return false;
      Combine::Apply(output[index], updates[t]);
    }
    return true;
  }

  // Each index names one row of a matrix.
  static bool Rows(const Operands& operands, const int64_t* indices, const void* updates_,
                   void* output_) {
    const T* updates = static_cast<const T*>(updates_);
    T* output = static_cast<T*>(output_);
    const int64_t rows = operands.data[0];
    const int64_t columns = operands.data[1];
    const int64_t count = operands.updates[0];
    for (int64_t t = 0; t < count; ++t) {
      int64_t row = indices[t];
      if (!Resolve(row, rows)) return false;
      for (int64_t j = 0; j < columns; ++j) {
        Combine::Apply(output[row * columns + j], updates[t * columns + j]);
      }
    }
    return true;
  }

  // Each tuple of indices names a slice of the remaining axes.
  static bool Tuples(const Operands& operands, const int64_t* indices, const void* updates_,
                     void* output_) {
    const T* updates = static_cast<const T*>(updates_);
    T* output = static_cast<T*>(output_);
    const int64_t depth = operands.indices.back();
    const int64_t count = ElementCount(operands.indices) / depth;
    const int64_t width = ElementCount(operands.updates) / count;
    for (int64_t t = 0; t < count; ++t) {
      int64_t slice = 0;
      for (int64_t c = 0; c < depth; ++c) {
        const int64_t size = operands.data[static_cast<size_t>(c)];
        int64_t index = indices[t * depth + c];
        if (!Resolve(index, size)) return false;
        slice = slice * size + index;
      }
      for (int64_t j = 0; j < width; ++j) {
        Combine::Apply(output[slice * width + j], updates[t * width + j]);
      }
    }
    return true;
  }

  // Each index of a matrix names a row, and its column stays the same, or vice versa.
  template <bool kFirstAxis>
  static bool Matrix(const Operands& operands, const int64_t* indices, const void* updates_,
                     void* output_) {
    const T* updates = static_cast<const T*>(updates_);
    T* output = static_cast<T*>(output_);
    const int64_t axis_size = operands.data[kFirstAxis ? 0 : 1];
    const int64_t data_columns = operands.data[1];
    const int64_t rows = operands.updates[0];
    const int64_t columns = operands.updates[1];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        int64_t index = indices[i * columns + j];
        if (!Resolve(index, axis_size)) return false;
        const int64_t place = kFirstAxis ? index * data_columns + j : i * data_columns + index;
        Combine::Apply(output[place], updates[i * columns + j]);
      }
    }
    return true;
  }

  static ScalarLoop Find(const Operands& operands) {
    if (operands.data.size() == 1) return Vector;
    if (operands.op == Operator::kNd) return operands.indices.back() == 1 ? Rows : Tuples;
    if (operands.pattern == IndexPattern::kStride0Rows) return Rows;
    return operands.axis == 0 ? Matrix<true> : Matrix<false>;
  }
};

// Fills a box of a tensor of rank <= 4. The step of the last axis is a constant, as it would be in
// a loop written for one slice.
template <int64_t kStep>
bool Box(const Operands& operands, const int64_t* /*indices*/, const void* updates_,
         void* output_) {
  const float* updates = static_cast<const float*>(updates_);
  float* output = static_cast<float*>(output_);
  int64_t size[4] = {1, 1, 1, 1}, count[4] = {1, 1, 1, 1};
  int64_t start[4] = {0, 0, 0, 0}, step[4] = {1, 1, 1, 1};
  const size_t pad = 4 - operands.data.size();
  for (size_t a = 0; a < operands.data.size(); ++a) {
    size[pad + a] = operands.data[a];
    count[pad + a] = operands.updates[a];
  }
  const Slice& slice = operands.slice;
  for (size_t e = 0; e < slice.axes.size(); ++e) {
    start[pad + static_cast<size_t>(slice.axes[e])] = slice.start[e];
    step[pad + static_cast<size_t>(slice.axes[e])] = slice.step[e];
  }
  for (int64_t a = 0; a < count[0]; ++a) {
    for (int64_t b = 0; b < count[1]; ++b) {
      for (int64_t c = 0; c < count[2]; ++c) {
        const int64_t matrix = (start[0] + step[0] * a) * size[1] + start[1] + step[1] * b;
        float* to = output + (matrix * size[2] + start[2] + step[2] * c) * size[3] + start[3];
        const float* from = updates + ((a * count[1] + b) * count[2] + c) * count[3];
        for (int64_t d = 0; d < count[3]; ++d) to[d * kStep] = from[d];
      }
    }
  }
  return true;
}

ScalarLoop FindBox(const Workload& workload) {
  const Operands& operands = workload.operands;
  if (operands.dtype != STREW_FLOAT32 || workload.reduction != STREW_NONE) return nullptr;
  const bool slices_last_axis =
      operands.slice.axes.back() == static_cast<int64_t>(operands.data.size()) - 1;
  switch (slices_last_axis ? operands.slice.step.back() : 1) {
    case 1:
      return Box<1>;
    case 2:
      return Box<2>;
    case -1:
      return Box<-1>;
    default:
      return nullptr;
  }
}

}  // namespace

ScalarLoop FindScalarLoop(const Workload& workload) {
  const Operands& operands = workload.operands;
  if (operands.op == Operator::kSlice) return FindBox(workload);
  const bool adds = workload.reduction == STREW_ADD;
  if (operands.dtype == STREW_FLOAT16 && adds) return Loops<AddHalf>::Find(operands);
  if (operands.dtype == STREW_INT8 && adds) return Loops<Add<int8_t>>::Find(operands);
  if (operands.dtype != STREW_FLOAT32) return nullptr;
  if (adds) return Loops<Add<float>>::Find(operands);
  if (workload.reduction == STREW_MAX) return Loops<Max<float>>::Find(operands);
  if (workload.reduction == STREW_NONE) return Loops<Replace<float>>::Find(operands);
  return nullptr;
}

}  // namespace strew_bench
