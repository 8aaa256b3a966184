// SPDX-License-Identifier: Apache-2.0
#include "api/tensor.h"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/checked.h"
#include "base/dtype.h"
#include "base/last_error.h"

namespace strew {
namespace {

constexpr int64_t kMostBytes = PTRDIFF_MAX;

Status CheckAligned(const void* data, const DtypeInfo& info) {
  const auto alignment = static_cast<uintptr_t>(info.alignment);
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0) return STREW_OK;
  return Refuse(STREW_INVALID_ARGUMENT, "data = %p is not a multiple of %d, which %s needs", data,
                info.alignment, info.name);
}

// Stores row-major strides; a dim of 0 counts as 1, as in NumPy. Only the strides of an empty
// tensor can overflow, and they are ignored.
void FillRowMajor(TensorView* view) {
  int64_t stride = 1;
  for (int i = view->rank - 1; i >= 0; --i) {
    view->strides[i] = stride;
    const int64_t dim = view->shape[i] == 0 ? 1 : view->shape[i];
    if (!CheckedMultiply(stride, dim, &stride)) stride = INT64_MAX;
  }
}

// Stores the number of elements. If it exceeds PTRDIFF_MAX, stores PTRDIFF_MAX and returns false.
bool CountElements(TensorView* view) {
  view->size = 1;
  for (int i = 0; i < view->rank; ++i) {
    if (view->shape[i] == 0) view->size = 0;
  }
  for (int i = 0; i < view->rank && view->size != 0; ++i) {
    if (CheckedMultiply(view->size, view->shape[i], &view->size) && view->size <= kMostBytes) {
      continue;
    }
    view->size = kMostBytes;
    return false;
  }
  return true;
}

// Stores the bytes between which the elements lie. Returns false if their span exceeds PTRDIFF_MAX.
// Requires a tensor with elements.
bool MeasureExtent(TensorView* view) {
  int64_t before = 0;
  int64_t behind = 0;
  for (int i = 0; i < view->rank; ++i) {
    const int64_t stride = view->strides[i];
    if (view->shape[i] == 1 || stride == 0) continue;
    if (stride == INT64_MIN) return false;
    const int64_t magnitude = static_cast<int64_t>(Magnitude(stride));
    int64_t reach;
    int64_t* const side = stride < 0 ? &before : &behind;
    if (!CheckedMultiply(view->shape[i] - 1, magnitude, &reach)) return false;
    if (!CheckedAdd(*side, reach, side)) return false;
  }
  int64_t elements;
  int64_t bytes;
  if (!CheckedAdd(before, behind, &elements) || !CheckedAdd(elements, int64_t{1}, &elements))
    return false;
  if (!CheckedMultiply(elements, view->element_size, &bytes) || bytes > kMostBytes) return false;
  view->lowest = -before * view->element_size;
  view->highest = (behind + 1) * view->element_size;
  return true;
}

// True if each stride passes the extent of the dims with smaller strides, so that no two elements
// share memory. Requires a tensor with elements whose extent does not overflow.
bool IsInjective(const TensorView& view) {
  int order[kMaxRank];
  int count = 0;
  const auto magnitude = [&view](int dim) { return Magnitude(view.strides[dim]); };
  for (int i = 0; i < view.rank; ++i) {
    if (view.shape[i] == 1) continue;
    int place = count++;
    for (; place > 0 && magnitude(order[place - 1]) > magnitude(i); --place) {
      order[place] = order[place - 1];
    }
    order[place] = i;
  }
  uint64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (magnitude(order[i]) <= reach) return false;
    reach += static_cast<uint64_t>(view.shape[order[i]] - 1) * magnitude(order[i]);
  }
  return true;
}

bool IsContiguous(const TensorView& view) {
  int64_t expected = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    if (view.shape[i] == 1) continue;
    if (view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

}  // namespace

Status DescribeTensor(strew_dtype dtype, int32_t rank, const int64_t* shape, const int64_t* strides,
                      void* data, TensorView* view) {
  const DtypeInfo info = DescribeDtype(dtype);
  if (rank < 0 || rank > kMaxRank) {
    return Refuse(STREW_INVALID_ARGUMENT, "rank = %d is out of range [0, %d]", rank, kMaxRank);
  }
  if (shape == nullptr && rank > 0) {
    return Refuse(STREW_INVALID_ARGUMENT, "shape is NULL, but rank is %d", rank);
  }
  if (!info.known()) return Refuse(STREW_INVALID_ARGUMENT, "dtype %d is unknown", dtype);
  for (int i = 0; i < rank; ++i) {
    if (shape[i] < 0) {
      return Refuse(STREW_INVALID_ARGUMENT, "shape[%d] = %" PRId64 " is negative", i, shape[i]);
    }
    view->shape[i] = shape[i];
  }
  view->dtype = dtype;
  view->rank = rank;
  view->element_size = info.size;
  view->data = static_cast<unsigned char*>(data);
  view->lowest = 0;
  view->highest = 0;
  view->injective = true;
  view->contiguous = true;
  view->read_only = false;
  const bool counted = CountElements(view);
  if (view->size != 0) STREW_TRY(CheckAligned(data, info));
  if (!counted) {
    return Refuse(STREW_SIZE_OVERFLOW, "shape has more elements than PTRDIFF_MAX");
  }
  if (strides == nullptr) {
    FillRowMajor(view);
  } else {
    for (int i = 0; i < rank; ++i) view->strides[i] = strides[i];
  }
  if (view->size == 0) return STREW_OK;
  if (!MeasureExtent(view)) {
    return Refuse(STREW_SIZE_OVERFLOW,
                  "the elements reach over more than PTRDIFF_MAX bytes, by shape and strides");
  }
  view->contiguous = IsContiguous(*view);
  view->injective = view->contiguous || IsInjective(*view);
  return STREW_OK;
}

Status NewTensor(const TensorView& view, strew_tensor** out) {
  void* const memory = std::malloc(sizeof(strew_tensor));
  if (memory == nullptr) {
    return Refuse(STREW_OUT_OF_MEMORY, "no memory for a descriptor of %zu bytes",
                  sizeof(strew_tensor));
  }
  *out = new (memory) strew_tensor{view};
  return STREW_OK;
}

}  // namespace strew

using strew::TensorView;

extern "C" {

strew_status strew_tensor_create(strew_dtype dtype, int32_t rank, const int64_t* shape,
                                 const int64_t* strides, void* data, strew_tensor** out) {
  if (out == nullptr) return strew::Refuse(STREW_INVALID_ARGUMENT, "out is NULL");
  *out = nullptr;
  TensorView view;
  const strew::Status status = strew::DescribeTensor(dtype, rank, shape, strides, data, &view);
  return status.ok() ? strew::NewTensor(view, out).code() : status.code();
}

strew_status strew_tensor_reset(strew_tensor* tensor, strew_dtype dtype, int32_t rank,
                                const int64_t* shape, const int64_t* strides, void* data) {
  if (tensor == nullptr) return strew::Refuse(STREW_INVALID_ARGUMENT, "tensor is NULL");
  TensorView view;
  const strew::Status status = strew::DescribeTensor(dtype, rank, shape, strides, data, &view);
  if (status.ok()) tensor->view = view;
  return status.code();
}

strew_status strew_tensor_set_data(strew_tensor* tensor, void* data) {
  if (tensor == nullptr) return strew::Refuse(STREW_INVALID_ARGUMENT, "tensor is NULL");
  TensorView& view = tensor->view;
  const strew::DtypeInfo info = strew::DescribeDtype(view.dtype);
  const strew::Status status = view.size == 0 ? STREW_OK : strew::CheckAligned(data, info);
  if (!status.ok()) return status.code();
  view.data = static_cast<unsigned char*>(data);
  return STREW_OK;
}

void strew_tensor_destroy(strew_tensor* tensor) { std::free(tensor); }

strew_dtype strew_tensor_dtype(const strew_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->view.dtype;
}

int32_t strew_tensor_rank(const strew_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->view.rank;
}

int64_t strew_tensor_size(const strew_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->view.size;
}

const int64_t* strew_tensor_shape(const strew_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->view.shape;
}

const int64_t* strew_tensor_strides(const strew_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->view.strides;
}

void* strew_tensor_data(const strew_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->view.data;
}

}  // extern "C"
