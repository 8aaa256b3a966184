// SPDX-License-Identifier: Apache-2.0
#include "cli/cast.h"

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/dtype.h"
#include "cli/element_text.h"
#include "reference/arithmetic.h"
#include "reference/bytes.h"
#include "reference/dtypes.h"

namespace strew::cli {
namespace {

using reference::Load;

template <typename T>
bool Store(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof(value));
  return true;
}

double LoadShortFloat(const ElementType& type, const std::byte* element) {
  const std::uint16_t bits =
      type.size == 1 ? Load<std::uint8_t>(element) : Load<std::uint16_t>(element);
  return reference::Decode(reference::LineOf(type.dtype).format, bits);
}

bool StoreShortFloat(const ElementType& type, double value, std::byte* element) {
  const std::uint16_t bits = reference::Encode(reference::LineOf(type.dtype).format, value);
  return type.size == 1 ? Store(static_cast<std::uint8_t>(bits), element) : Store(bits, element);
}

template <typename T>
bool StoreInteger(double value, std::byte* element) {
  // Bounds are powers of two, which a double represents exactly, unlike the greatest integer.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double whole = std::trunc(value);
  const bool holds = whole < end && whole >= (std::is_signed_v<T> ? -end : 0.0);
  return holds && Store(static_cast<T>(whole), element);
}

template <typename T>
bool StoreInteger(std::uint64_t value, std::byte* element) {
  constexpr auto kGreatest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return value <= kGreatest && Store(static_cast<T>(value), element);
}

template <typename T>
bool StoreInteger(std::int64_t value, std::byte* element) {
  if (value >= 0) return StoreInteger<T>(static_cast<std::uint64_t>(value), element);
  if constexpr (std::is_signed_v<T>) {
    constexpr std::int64_t kLeast =
        INT64_MIN / (std::int64_t{1} << (63 - std::numeric_limits<T>::digits));
    return value >= kLeast && Store(static_cast<T>(value), element);
  }
  return false;
}

template <typename Value>
bool StoreInteger(const ElementType& type, Value value, std::byte* element) {
  switch (type.dtype) {
    case STREW_INT8:
      return StoreInteger<std::int8_t>(value, element);
    case STREW_INT16:
      return StoreInteger<std::int16_t>(value, element);
    case STREW_INT32:
      return StoreInteger<std::int32_t>(value, element);
    case STREW_INT64:
      return StoreInteger<std::int64_t>(value, element);
    case STREW_UINT8:
      return StoreInteger<std::uint8_t>(value, element);
    case STREW_UINT16:
      return StoreInteger<std::uint16_t>(value, element);
    case STREW_UINT32:
      return StoreInteger<std::uint32_t>(value, element);
    default:
      return StoreInteger<std::uint64_t>(value, element);
  }
}

// A number as the widest of its kind: std::int64_t, std::uint64_t or double. False if the dtype
// cannot hold it.
template <typename Value>
bool StoreNumber(const ElementType& type, Value value, double imaginary, std::byte* element) {
  const Arithmetic arithmetic = kDtypes[type.dtype].arithmetic;
  if (arithmetic == Arithmetic::kLogical) {
    return Store(static_cast<std::uint8_t>(value != 0 || imaginary != 0), element);
  }
  if (type.dtype == STREW_COMPLEX64) {
    return Store(std::complex<float>(static_cast<float>(value), static_cast<float>(imaginary)),
                 element);
  }
  const auto real = static_cast<double>(value);
  if (type.dtype == STREW_COMPLEX128) return Store(std::complex<double>(real, imaginary), element);
  if (imaginary != 0) return false;
  if (arithmetic == Arithmetic::kInteger) return StoreInteger(type, value, element);
  if (type.dtype == STREW_FLOAT64) return Store(real, element);
  if (type.dtype == STREW_FLOAT32) return Store(static_cast<float>(value), element);
  return StoreShortFloat(type, real, element);
}

bool CastElement(const ElementType& from, const std::byte* number, const ElementType& to,
                 std::byte* element) {
  const auto store = [&](auto value, double imaginary = 0) {
    return StoreNumber(to, value, imaginary, element);
  };
  switch (from.dtype) {
    case STREW_BOOL:
      return store(std::uint64_t{Load<std::uint8_t>(number) != 0});
    case STREW_INT8:
      return store(std::int64_t{Load<std::int8_t>(number)});
    case STREW_INT16:
      return store(std::int64_t{Load<std::int16_t>(number)});
    case STREW_INT32:
      return store(std::int64_t{Load<std::int32_t>(number)});
    case STREW_INT64:
      return store(Load<std::int64_t>(number));
    case STREW_UINT8:
      return store(std::uint64_t{Load<std::uint8_t>(number)});
    case STREW_UINT16:
      return store(std::uint64_t{Load<std::uint16_t>(number)});
    case STREW_UINT32:
      return store(std::uint64_t{Load<std::uint32_t>(number)});
    case STREW_UINT64:
      return store(Load<std::uint64_t>(number));
    case STREW_FLOAT32:
      return store(double{Load<float>(number)});
    case STREW_FLOAT64:
      return store(Load<double>(number));
    case STREW_COMPLEX64: {
      const auto pair = Load<std::complex<float>>(number);
      return store(double{pair.real()}, double{pair.imag()});
    }
    case STREW_COMPLEX128: {
      const auto pair = Load<std::complex<double>>(number);
      return store(pair.real(), pair.imag());
    }
    default:
      return store(LoadShortFloat(from, number));
  }
}

}  // namespace

Array Cast(const Array& array, const ElementType& type) {
  if (AreSame(array.type, type)) return array;
  if (!HasNumbers(array.type) || !HasNumbers(type)) {
    throw std::runtime_error("--cast converts numbers, not " + Descr(array.type) + " to " +
                             Descr(type));
  }
  Array cast = MakeArray(type, array.shape, array.fortran_order);
  const std::int64_t count = array.byte_count / array.type.size;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* const number = array.bytes.get() + i * array.type.size;
    if (CastElement(array.type, number, type, cast.bytes.get() + i * type.size)) continue;
    throw std::runtime_error("updates has " + ElementText(array.type, number) + ", which " +
                             kDtypes[type.dtype].name + " cannot hold");
  }
  return cast;
}

}  // namespace strew::cli
