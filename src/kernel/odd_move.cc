// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements of 3 to 15 bytes whose width is not a power of two. They use no
// vectors, so this file is compiled once, for the baseline CPU.
#include <hwy/highway.h>

#include <cstring>

#include "kernel/elements-inl.h"
#include "kernel/pattern.h"
#include "kernel/tables.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

template <int kWidth>
struct Bytes {
  unsigned char bytes[kWidth];
};

// Clang rejects vectors of such lanes.
template <int kWidth>
constexpr bool kHasVectors<Bytes<kWidth>> = false;

template <class T>
void MoveRun(unsigned char* output, int64_t output_stride, const unsigned char* updates,
             int64_t updates_stride, int64_t n) {
  if (output_stride == 1 && updates_stride == 1) {
    std::memcpy(output, updates, static_cast<size_t>(At<T>(n)));
    return;
  }
  if (output_stride == 1 && updates_stride == 0 && n >= kLeastRepeated) {
    return CombineRepeated(MoveRun<T>, sizeof(T), output, updates, 1, n);
  }
  CombineStrided<T, Move<T>>(output, output_stride, updates, updates_stride, n);
}

template <int kWidth>
constexpr MoveKernels OddKernels() {
  using T = Bytes<kWidth>;
  if constexpr ((kWidth & (kWidth - 1)) == 0) {
    return {};
  } else {
    return {CombineKernelsOf<T, Move<T>, MoveRun<T>>(),
            MoveRun<T>,
            MoveRun<T>,
            nullptr,
            Gather<T>,
            nullptr};
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE

const MoveKernels& OddMove(int32_t width) {
  using namespace HWY_NAMESPACE;
  static constexpr MoveKernels kTable[] = {
      OddKernels<3>(),  OddKernels<4>(),  OddKernels<5>(),  OddKernels<6>(),  OddKernels<7>(),
      OddKernels<8>(),  OddKernels<9>(),  OddKernels<10>(), OddKernels<11>(), OddKernels<12>(),
      OddKernels<13>(), OddKernels<14>(), OddKernels<15>(),
  };
  return kTable[width - 3];
}

}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();
