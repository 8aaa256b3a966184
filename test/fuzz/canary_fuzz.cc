// SPDX-License-Identifier: Apache-2.0
//
// Reads one byte too many, as no call may: AddressSanitizer has to see it, or it would see no such
// read inside the library either.
#include <cstddef>
#include <cstdint>

#include "reference/guarded_buffer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t size) {
  const strew::reference::GuardedBuffer buffer(13, strew::reference::Guard::kBehind);
  const volatile unsigned char* const bytes = buffer.bytes();
  return bytes[buffer.size()] != 0 && size == 0 ? -1 : 0;
}
