// SPDX-License-Identifier: Apache-2.0
//
// DLPack's structures and codes, as the tests know them: from its specification.
#ifndef STREW_TEST_SUPPORT_DLPACK_H_
#define STREW_TEST_SUPPORT_DLPACK_H_

#include <cstdint>

#include <strew/strew.h>

#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {

struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

// A dtype in the terms of the specification; 0 bits where it has no such type.
DlType DlTypeOf(strew_dtype dtype);

// A tensor without owner.
struct DlTensor {
  void* data = nullptr;
  int32_t device_type = 1;  // the CPU
  int32_t device_id = 0;
  int32_t ndim = 0;
  DlType dtype = {};
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;
  uint64_t byte_offset = 0;
};

constexpr uint64_t kDlReadOnly = 1;

struct DlManagedTensorVersioned {
  uint32_t major = 1;
  uint32_t minor = 0;
  void* manager = nullptr;
  void (*deleter)(DlManagedTensorVersioned*) = nullptr;
  uint64_t flags = 0;
  DlTensor tensor = {};
};

// Aborts the test program where the library refuses.
Tensor MakeReadOnlyTensor(strew_dtype dtype, Layout layout, void* data);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_DLPACK_H_
