// SPDX-License-Identifier: Apache-2.0
#include "kernel/wide_sum.h"

#include "kernel/element.h"

namespace strew::kernel {

uint64_t FloorDivide(WideSum sum, int64_t count) {
  const bool negative = sum.high < 0;
  // For a negative sum, divides ~sum = -1 - sum. The complement of that quotient is the floor.
  uint64_t rest = static_cast<uint64_t>(negative ? ~sum.high : sum.high);
  const uint64_t low = negative ? ~sum.low : sum.low;
  const uint64_t divisor = static_cast<uint64_t>(count);
  uint64_t quotient = low / divisor;
  if (rest != 0) {
    // A mean fits 64 bits, so `rest` is less than the divisor, which is less than 2^63.
#ifdef __SIZEOF_INT128__
    __extension__ using Words = unsigned __int128;
    quotient = static_cast<uint64_t>((Words{rest} << 64 | low) / divisor);
#else
    quotient = 0;
    for (int bit = 63; bit >= 0; --bit) {
      rest = (rest << 1) | ((low >> bit) & 1);
      const bool fits = rest >= divisor;
      rest -= fits ? divisor : 0;
      quotient = (quotient << 1) | (fits ? 1 : 0);
    }
#endif
  }
  return negative ? ~quotient : quotient;
}

template <class T>
void WideSums<T>::Begin(unsigned char* sums, const unsigned char* elements, int64_t stride,
                        int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    StoreElement(WideSum(LoadElement<T>(elements + At<T>(i * stride))), sums + At<WideSum>(i));
  }
}

template <class T>
void WideSums<T>::Add(unsigned char* sums, const unsigned char* updates, int64_t stride,
                      int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    unsigned char* const sum = sums + At<WideSum>(i);
    const WideSum update(LoadElement<T>(updates + At<T>(i * stride)));
    StoreElement(LoadElement<WideSum>(sum) + update, sum);
  }
}

template <class T>
void WideSums<T>::Finish(const FinishArguments& to) {
  for (int64_t i = 0; i < to.n; ++i) {
    const auto sum = LoadElement<WideSum>(to.sums + At<WideSum>(i * to.sums_stride));
    const T mean = static_cast<T>(FloorDivide(sum, to.count));
    StoreElement(mean, to.output + At<T>(i * to.output_stride));
  }
}

template struct WideSums<int32_t>;
template struct WideSums<int64_t>;
template struct WideSums<uint32_t>;
template struct WideSums<uint64_t>;

}  // namespace strew::kernel
