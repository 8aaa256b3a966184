// SPDX-License-Identifier: Apache-2.0
// Memory of the library's own.
#ifndef STREW_BASE_MEMORY_H_
#define STREW_BASE_MEMORY_H_

#include <cstddef>

namespace strew {

// Of blocks, in bytes: that of a cache line.
inline constexpr size_t kAlignment = 64;

// A block of at least so many bytes, or NULL if it is refused. Free() takes it back.
[[nodiscard]] void* Allocate(size_t bytes);
void Free(void* memory);

}  // namespace strew

#endif  // STREW_BASE_MEMORY_H_
