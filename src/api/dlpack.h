// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack that strew reads, as DLPack 1.x lays them out. Producers of other minor
// versions may use codes that are not named here, never another layout.
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
  uint64_t byte_offset;    // of the first element from data
};

inline constexpr uint32_t kDlpackMajor = 1;
inline constexpr uint64_t kDlpackReadOnly = 1;

struct DlpackVersionedTensor {
  uint32_t major;  // behind it and `deleter` another major version may have anything
  uint32_t minor;
  void* manager;
  void (*deleter)(DlpackVersionedTensor*);
  uint64_t flags;
  DlpackTensor tensor;
};

}  // namespace strew

#endif  // STREW_API_DLPACK_H_
