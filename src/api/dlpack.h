// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack 1.x that strew reads. Other minor versions have the same layout, but may
// use other codes.
#ifndef STREW_API_DLPACK_H_
#define STREW_API_DLPACK_H_

#include <cstdint>

#include "base/dtype.h"

namespace strew {

inline constexpr int32_t kDlpackCpu = 1;

struct DlpackTensor {
  void* data;  // NULL for some empty tensors
  int32_t device_type;
  int32_t device_id;
  int32_t rank;
  DlpackCode code;
  uint8_t bits;
  uint16_t lanes;
  const int64_t* shape;
  const int64_t* strides;  // in elements; NULL for row-major
  uint64_t byte_offset;    // from data to the first element
};

inline constexpr uint32_t kDlpackMajor = 1;
inline constexpr uint64_t kDlpackReadOnly = 1;

struct DlpackVersionedTensor {
  uint32_t major;  // other major versions may change all that follows except `deleter`
  uint32_t minor;
  void* manager;
  void (*deleter)(DlpackVersionedTensor*);
  uint64_t flags;
  DlpackTensor tensor;
};

}  // namespace strew

#endif  // STREW_API_DLPACK_H_
