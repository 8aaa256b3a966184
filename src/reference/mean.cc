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

Halves ReadSigned(size_t width, const unsigned char* bytes) {
  if (width == 1) return FloorDivided(Load<int8_t>(bytes));
  if (width == 2) return FloorDivided(Load<int16_t>(bytes));
  if (width == 4) return FloorDivided(Load<int32_t>(bytes));
  return FloorDivided(Load<int64_t>(bytes));
}

Halves ReadUnsigned(size_t width, const unsigned char* bytes) {
  if (width == 1) return {0, Load<uint8_t>(bytes)};
  if (width == 2) return {0, Load<uint16_t>(bytes)};
  if (width == 4) return {0, Load<uint32_t>(bytes)};
  const auto value = Load<uint64_t>(bytes);
  return {static_cast<int64_t>(value >> 32), value % (uint64_t{1} << 32)};
}

// A mean of integers lies between them and fits their type, so the higher bits of `value` are not
// needed.
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

// True if means of the dtype are summed in float64.
bool IsDouble(const Dtype& dtype) { return dtype.component_width() == sizeof(double); }

template <class T>
std::complex<T> Sum(int64_t terms, std::complex<T> sum, std::complex<T> term) {
  return terms == 0 ? term : sum + term;
}

// Divides each component, because the quotient of two complex numbers might differ.
template <class T>
std::complex<T> Quotient(std::complex<T> sum, int64_t n) {
  return {sum.real() / static_cast<T>(n), sum.imag() / static_cast<T>(n)};
}

}  // namespace

void Mean::Add(strew_dtype dtype, const unsigned char* term) {
  const Dtype& line = LineOf(dtype);
  switch (line.kind) {
    case Kind::kFloat:
      if (IsDouble(line)) {
        double_ = Sum<double>(terms_, double_, Load<double>(term));
      } else {
        single_ = Sum<float>(terms_, single_, ReadSingle(line, term));
      }
      break;
    case Kind::kComplex:
      if (IsDouble(line)) {
        double_ = Sum(terms_, double_, Load<std::complex<double>>(term));
      } else {
        single_ = Sum(terms_, single_, Load<std::complex<float>>(term));
      }
      break;
    case Kind::kSigned:
    case Kind::kUnsigned: {
      const bool is_signed = line.kind == Kind::kSigned;
      const Halves value =
          is_signed ? ReadSigned(line.width, term) : ReadUnsigned(line.width, term);
      high_ += value.high;
      low_ += value.low;
      break;
    }
    default:
      std::abort();
  }
  ++terms_;
}

void Mean::Write(strew_dtype dtype, unsigned char* element) const {
  const Dtype& line = LineOf(dtype);
  const std::complex<float> single = Quotient(single_, terms_);
  const std::complex<double> in_double = Quotient(double_, terms_);
  switch (line.kind) {
    case Kind::kFloat:
      if (IsDouble(line)) return Store(element, in_double.real());
      return WriteSingle(line, single.real(), element);
    case Kind::kComplex:
      if (IsDouble(line)) return Store(element, in_double);
      return Store(element, single);
    default:
      return WriteInteger(line.width, FloorQuotient(high_, low_, terms_), element);
  }
}

}  // namespace strew::reference
