// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "reference/bytes.h"
#include "reference/dtypes.h"

namespace strew::reference {
namespace {

int Bias(FloatFormat format) { return (1 << (format.exponent_bits - 1)) - 1; }

int SignBit(FloatFormat format) { return 1 << (format.exponent_bits + format.fraction_bits); }

// The bits of the largest finite number, plus 1: infinity, or NaN if the format has no infinity.
int Overflow(FloatFormat format) {
  const int ones = SignBit(format) - 1;
  return format.has_infinity ? ones - ((1 << format.fraction_bits) - 1) : ones;
}

int QuietNan(FloatFormat format) { return Overflow(format) | (Overflow(format) >> 1); }

bool CombineBool(strew_reduction reduction, bool a, bool b) {
  if (reduction == STREW_SUB) return a != b;
  return reduction == STREW_ADD || reduction == STREW_MAX ? a || b : a && b;
}

// Unsigned arithmetic of 64 bits wraps, and its lower bits are those of every narrower integer.
template <class T>
T CombineInteger(strew_reduction reduction, T a, T b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  switch (reduction) {
    case STREW_ADD:
      return static_cast<T>(x + y);
    case STREW_MUL:
      return static_cast<T>(x * y);
    case STREW_SUB:
      return static_cast<T>(x - y);
    case STREW_MIN:
      return std::min(a, b);
    case STREW_MAX:
      return std::max(a, b);
    default:
      std::abort();
  }
}

// IEEE 754-2019 minimum, or maximum if `larger`.
template <class T>
T Extremum(T a, T b, bool larger) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  const bool a_is_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_is_less != larger ? a : b;
}

template <class T>
T CombineFloat(strew_reduction reduction, T a, T b) {
  switch (reduction) {
    case STREW_ADD:
      return a + b;
    case STREW_MUL:
      return a * b;
    case STREW_SUB:
      return a - b;
    case STREW_MIN:
      return Extremum(a, b, false);
    case STREW_MAX:
      return Extremum(a, b, true);
    default:
      std::abort();
  }
}

uint16_t CombineSmallFloat(FloatFormat format, strew_reduction reduction, uint16_t a, uint16_t b) {
  const auto x = static_cast<float>(Decode(format, a));
  const auto y = static_cast<float>(Decode(format, b));
  return Encode(format, static_cast<double>(CombineFloat(reduction, x, y)));
}

// Returns a number that the compiler cannot fuse with the next operation: if -march allows it, GCC
// 12 uses FMA for a complex product in spite of -ffp-contract=off.
template <class T>
T Rounded(T value) {
  volatile T stored = value;
  return stored;
}

// Spells out the formula of a product, because std::complex leaves that of infinities to the
// implementation.
template <class T>
std::complex<T> CombineComplex(strew_reduction reduction, std::complex<T> x, std::complex<T> y) {
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (reduction == STREW_ADD) return {a + c, b + d};
  if (reduction == STREW_SUB) return {a - c, b - d};
  return {Rounded(a * c) - Rounded(b * d), Rounded(a * d) + Rounded(b * c)};
}

template <class T, class Function>
void Update(unsigned char* element, const unsigned char* update, Function function) {
  Store<T>(element, function(Load<T>(element), Load<T>(update)));
}

template <class T>
void UpdateInteger(strew_reduction reduction, unsigned char* element, const unsigned char* update) {
  Update<T>(element, update, [=](T a, T b) { return CombineInteger<T>(reduction, a, b); });
}

template <class T>
void UpdateFloat(strew_reduction reduction, unsigned char* element, const unsigned char* update) {
  Update<T>(element, update, [=](T a, T b) { return CombineFloat<T>(reduction, a, b); });
}

template <class T>
void UpdateComplex(strew_reduction reduction, unsigned char* element, const unsigned char* update) {
  using Complex = std::complex<T>;
  Update<Complex>(element, update,
                  [=](Complex a, Complex b) { return CombineComplex<T>(reduction, a, b); });
}

template <class Bits>
void UpdateSmallFloat(FloatFormat format, strew_reduction reduction, unsigned char* element,
                      const unsigned char* update) {
  Update<Bits>(element, update, [=](Bits a, Bits b) {
    return static_cast<Bits>(CombineSmallFloat(format, reduction, a, b));
  });
}

void UpdateSigned(size_t width, strew_reduction reduction, unsigned char* element,
                  const unsigned char* update) {
  if (width == 1) return UpdateInteger<int8_t>(reduction, element, update);
  if (width == 2) return UpdateInteger<int16_t>(reduction, element, update);
  if (width == 4) return UpdateInteger<int32_t>(reduction, element, update);
  return UpdateInteger<int64_t>(reduction, element, update);
}

void UpdateUnsigned(size_t width, strew_reduction reduction, unsigned char* element,
                    const unsigned char* update) {
  if (width == 1) return UpdateInteger<uint8_t>(reduction, element, update);
  if (width == 2) return UpdateInteger<uint16_t>(reduction, element, update);
  if (width == 4) return UpdateInteger<uint32_t>(reduction, element, update);
  return UpdateInteger<uint64_t>(reduction, element, update);
}

void UpdateFloat(const Dtype& dtype, strew_reduction reduction, unsigned char* element,
                 const unsigned char* update) {
  const size_t width = dtype.width;
  if (width == 1) return UpdateSmallFloat<uint8_t>(dtype.format, reduction, element, update);
  if (width == 2) return UpdateSmallFloat<uint16_t>(dtype.format, reduction, element, update);
  if (width == 4) return UpdateFloat<float>(reduction, element, update);
  return UpdateFloat<double>(reduction, element, update);
}

// True if the bits without the sign are above those of infinity, or of the largest number if the
// format has no infinity.
template <class Bits>
bool IsNan(FloatFormat format, const unsigned char* bytes) {
  const Bits ones = static_cast<Bits>(~Bits{0}) >> 1;
  const auto fraction = static_cast<Bits>((Bits{1} << format.fraction_bits) - 1);
  const auto greatest = static_cast<Bits>(format.has_infinity ? ones - fraction : ones - 1);
  return (Load<Bits>(bytes) & ones) > greatest;
}

bool IsNan(size_t width, FloatFormat format, const unsigned char* bytes) {
  if (width == 1) return IsNan<uint8_t>(format, bytes);
  if (width == 2) return IsNan<uint16_t>(format, bytes);
  if (width == 4) return IsNan<uint32_t>(format, bytes);
  return IsNan<uint64_t>(format, bytes);
}

}  // namespace

double Decode(FloatFormat format, uint16_t bits) {
  const int hidden = 1 << format.fraction_bits;
  const int magnitude = bits & (SignBit(format) - 1);
  const double sign = (bits & SignBit(format)) != 0 ? -1.0 : 1.0;
  if (magnitude >= Overflow(format)) {
    const bool is_infinity = format.has_infinity && magnitude == Overflow(format);
    return is_infinity ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
  }
  const int fraction = magnitude % hidden;
  const int exponent = magnitude / hidden;
  const int significand = exponent == 0 ? fraction : fraction + hidden;
  const int scale = std::max(exponent, 1) - Bias(format) - format.fraction_bits;
  return sign * std::ldexp(significand, scale);
}

uint16_t Encode(FloatFormat format, double value) {
  if (std::isnan(value)) return static_cast<uint16_t>(QuietNan(format));
  const int sign = std::signbit(value) ? SignBit(format) : 0;
  const int overflow = Overflow(format);
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | overflow);
  if (magnitude == 0) return static_cast<uint16_t>(sign);

  const int smallest = 1 - Bias(format);
  const int exponent = std::max(std::ilogb(magnitude), smallest);
  if (exponent > Bias(format) + 1) return static_cast<uint16_t>(sign | overflow);
  // The significand as an integer. The scaling is exact in double, and nearbyint rounds to nearest
  // even in the default environment.
  const double significand = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  // The exponent here is one less than the biased exponent of a normal number; the hidden bit adds
  // that one. A significand that was rounded up to the next power of two carries into the exponent.
  const int bits = ((exponent - smallest) << format.fraction_bits) + static_cast<int>(significand);
  return static_cast<uint16_t>(sign | std::min(bits, overflow));
}

float ReadSingle(const Dtype& dtype, const unsigned char* bytes) {
  if (dtype.width == 4) return Load<float>(bytes);
  const uint16_t bits = dtype.width == 1 ? Load<uint8_t>(bytes) : Load<uint16_t>(bytes);
  return static_cast<float>(Decode(dtype.format, bits));
}

void WriteSingle(const Dtype& dtype, float value, unsigned char* bytes) {
  if (dtype.width == 4) return Store(bytes, value);
  const uint16_t bits = Encode(dtype.format, static_cast<double>(value));
  if (dtype.width == 1) Store(bytes, static_cast<uint8_t>(bits));
  if (dtype.width == 2) Store(bytes, bits);
}

float CombineSingle(strew_reduction reduction, float value, float update) {
  return CombineFloat(reduction, value, update);
}

void Combine(strew_dtype dtype, strew_reduction reduction, unsigned char* element,
             const unsigned char* update) {
  if (reduction == STREW_NONE) {
    std::memcpy(element, update, WidthOf(dtype));
    return;
  }
  const Dtype& line = LineOf(dtype);
  switch (line.kind) {
    case Kind::kBool:
      *element = CombineBool(reduction, *element != 0, *update != 0) ? 1 : 0;
      return;
    case Kind::kSigned:
      return UpdateSigned(line.width, reduction, element, update);
    case Kind::kUnsigned:
      return UpdateUnsigned(line.width, reduction, element, update);
    case Kind::kFloat:
      return UpdateFloat(line, reduction, element, update);
    case Kind::kComplex:
      return line.width == 8 ? UpdateComplex<float>(reduction, element, update)
                             : UpdateComplex<double>(reduction, element, update);
    case Kind::kMoved:
      break;
  }
  std::abort();
}

void ForgiveNanPayload(strew_dtype dtype, const unsigned char* expected, unsigned char* actual) {
  const Dtype line = Find(dtype);
  if (!line.has_format()) return;
  const size_t width = line.component_width();
  for (size_t i = 0; i < line.width; i += width) {
    if (IsNan(width, line.format, expected + i) && IsNan(width, line.format, actual + i)) {
      std::memcpy(actual + i, expected + i, width);
    }
  }
}

}  // namespace strew::reference
