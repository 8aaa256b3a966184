// SPDX-License-Identifier: Apache-2.0
#include "reference/mean.h"

#include <cstdlib>

#include "reference/arithmetic.h"
#include "reference/bytes.h"
#include "reference/dtypes.h"

namespace strew::reference {
namespace {

constexpr int64_t kTwoTo32 = int64_t{1} << 32;

// An integer, as high * 2^32 + low.
struct Halves {
  int64_t high;
  uint64_t low;
};

Halves FloorDivided(int64_t value) {
  const int64_t low = ((value % kTwoTo32) + kTwoTo32) % kTwoTo32;
  return {(value - low) / kTwoTo32, static_cast<uint64_t>(low)};
}

Halves ReadInteger(strew_dtype dtype, const unsigned char* bytes) {
  switch (dtype) {
    case STREW_INT8:
      return FloorDivided(Load<int8_t>(bytes));
    case STREW_INT16:
      return FloorDivided(Load<int16_t>(bytes));
    case STREW_INT32:
      return FloorDivided(Load<int32_t>(bytes));
    case STREW_INT64:
      return FloorDivided(Load<int64_t>(bytes));
    case STREW_UINT8:
      return {0, Load<uint8_t>(bytes)};
    case STREW_UINT16:
      return {0, Load<uint16_t>(bytes)};
    case STREW_UINT32:
      return {0, Load<uint32_t>(bytes)};
    case STREW_UINT64: {
      const auto value = Load<uint64_t>(bytes);
      return {static_cast<int64_t>(value >> 32), value % (uint64_t{1} << 32)};
    }
    default:
      std::abort();
  }
}

// A mean of integers lies between them, so that its lower bits are all of it.
void WriteInteger(size_t width, uint64_t value, unsigned char* bytes) {
  if (width == 1) Store(bytes, static_cast<uint8_t>(value));
  if (width == 2) Store(bytes, static_cast<uint16_t>(value));
  if (width == 4) Store(bytes, static_cast<uint32_t>(value));
  if (width == 8) Store(bytes, value);
}

// The largest integer q with q * n <= high * 2^32 + low, modulo 2^64.
uint64_t FloorQuotient(int64_t high, uint64_t low, int64_t n) {
  const int64_t remainder = ((high % n) + n) % n;
  const int64_t upper = (high - remainder) / n;
  const uint64_t rest = static_cast<uint64_t>(remainder) * static_cast<uint64_t>(kTwoTo32) + low;
  return static_cast<uint64_t>(upper) * static_cast<uint64_t>(kTwoTo32) +
         rest / static_cast<uint64_t>(n);
}

float ReadSmallFloat(SmallFloat format, size_t width, const unsigned char* bytes) {
  const uint16_t bits = width == 1 ? Load<uint8_t>(bytes) : Load<uint16_t>(bytes);
  return static_cast<float>(Decode(format, bits));
}

void WriteSmallFloat(SmallFloat format, size_t width, float value, unsigned char* bytes) {
  const uint16_t bits = Encode(format, static_cast<double>(value));
  if (width == 1) Store(bytes, static_cast<uint8_t>(bits));
  if (width == 2) Store(bytes, bits);
}

SmallFloat FormatOf(strew_dtype dtype) {
  if (dtype == STREW_FLOAT8_E4M3FN) return kFloat8E4m3fn;
  if (dtype == STREW_FLOAT8_E5M2) return kFloat8E5m2;
  return dtype == STREW_FLOAT16 ? kFloat16 : kBfloat16;
}

template <class T>
std::complex<T> Sum(int64_t terms, std::complex<T> sum, std::complex<T> term) {
  return terms == 0 ? term : sum + term;
}

// By component: a quotient of complex numbers would be another.
template <class T>
std::complex<T> Quotient(std::complex<T> sum, int64_t n) {
  return {sum.real() / static_cast<T>(n), sum.imag() / static_cast<T>(n)};
}

}  // namespace

void Mean::Add(strew_dtype dtype, const unsigned char* term) {
  switch (dtype) {
    case STREW_FLOAT8_E4M3FN:
    case STREW_FLOAT8_E5M2:
    case STREW_FLOAT16:
    case STREW_BFLOAT16:
      single_ = Sum<float>(terms_, single_, ReadSmallFloat(FormatOf(dtype), WidthOf(dtype), term));
      break;
    case STREW_FLOAT32:
      single_ = Sum<float>(terms_, single_, Load<float>(term));
      break;
    case STREW_FLOAT64:
      double_ = Sum<double>(terms_, double_, Load<double>(term));
      break;
    case STREW_COMPLEX64:
      single_ = Sum(terms_, single_, Load<std::complex<float>>(term));
      break;
    case STREW_COMPLEX128:
      double_ = Sum(terms_, double_, Load<std::complex<double>>(term));
      break;
    default: {
      const Halves value = ReadInteger(dtype, term);
      high_ += value.high;
      low_ += value.low;
    }
  }
  ++terms_;
}

void Mean::Write(strew_dtype dtype, unsigned char* element) const {
  const std::complex<float> single = Quotient(single_, terms_);
  const std::complex<double> in_double = Quotient(double_, terms_);
  switch (dtype) {
    case STREW_FLOAT8_E4M3FN:
    case STREW_FLOAT8_E5M2:
    case STREW_FLOAT16:
    case STREW_BFLOAT16:
      return WriteSmallFloat(FormatOf(dtype), WidthOf(dtype), single.real(), element);
    case STREW_FLOAT32:
      return Store(element, single.real());
    case STREW_FLOAT64:
      return Store(element, in_double.real());
    case STREW_COMPLEX64:
      return Store(element, single);
    case STREW_COMPLEX128:
      return Store(element, in_double);
    default:
      return WriteInteger(WidthOf(dtype), FloorQuotient(high_, low_, terms_), element);
  }
}

}  // namespace strew::reference
