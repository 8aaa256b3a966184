// SPDX-License-Identifier: Apache-2.0
#include "cli/element_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "reference/bytes.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

using reference::Load;

// Python's rule: the fewest digits, an exponent only outside [1e-4, 1e16).
template <typename Float>
std::string FloatText(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const Float magnitude = std::abs(value);
  const bool fixed = magnitude == 0 || (magnitude >= Float(1e-4) && magnitude < Float(1e16));
  std::array<char, 64> buffer;
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                  fixed ? std::chars_format::fixed : std::chars_format::scientific)
                        .ptr;
  const std::string text(buffer.data(), end);
  return !fixed || text.find('.') != std::string::npos ? text : text + ".0";
}

// ---- Floats of 16 bits and fewer: the upper bits of a float16 ----

constexpr DtypeInfo kHalf = kDtypes[STREW_FLOAT16];

constexpr bool AreUpperBitsOfHalves() {
  for (const DtypeInfo& row : kDtypes) {
    if (row.arithmetic != Arithmetic::kFloating || row.npy_kind == 'V' || row.size > 2) continue;
    if (row.format.exponent_bits != kHalf.format.exponent_bits) return false;
    if (!row.format.has_infinity) return false;
  }
  return true;
}
static_assert(AreUpperBitsOfHalves(), "a short float of .npy files needs a text of its own");

// The value of a float16 by its bits without the sign. Not for infinity and NaN.
float HalfMagnitude(int bits) {
  constexpr int kFractionBits = kHalf.format.fraction_bits;
  constexpr int kHidden = 1 << kFractionBits;
  constexpr int kLeast = 1 - kHalf.format.bias() - kFractionBits;  // the exponent of the number 1
  const int exponent = bits / kHidden;
  const int fraction = bits % kHidden;
  if (exponent == 0) return std::ldexp(static_cast<float>(fraction), kLeast);
  return std::ldexp(static_cast<float>(fraction + kHidden), exponent - 1 + kLeast);
}

// The number with the fewest decimal digits that rounds to this float16: 0x2e66 is 0.1, not
// 0.099975586.
float ShortestHalf(int bits) {
  const float value = HalfMagnitude(bits);
  if (bits == 0) return value;
  // The gap to the next greater float16 is never the smaller one.
  const float tolerance = (value - HalfMagnitude(bits - 1)) / 2;
  for (int digits = 0; digits < 5; ++digits) {
    std::array<char, 32> buffer{};
    std::to_chars(buffer.data(), buffer.data() + buffer.size() - 1, value,
                  std::chars_format::scientific, digits);
    // libc++ has no from_chars() for floats. The command stays in the locale C.
    const float candidate = std::strtof(buffer.data(), nullptr);
    if (std::abs(candidate - value) < tolerance) return candidate;
  }
  return value;
}

std::string HalfText(std::uint16_t bits) {
  constexpr int kSign = static_cast<int>(kHalf.format.sign());
  constexpr int kInfinity = static_cast<int>(kHalf.format.overflow());
  const int magnitude = bits % kSign;
  const std::string sign = bits >= kSign ? "-" : "";
  if (magnitude > kInfinity) return "nan";
  return sign + (magnitude == kInfinity ? "inf" : FloatText(ShortestHalf(magnitude)));
}

template <typename Float>
std::string ComplexText(std::complex<Float> value) {
  const std::string imaginary = FloatText(value.imag());
  return FloatText(value.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
}

void AppendUtf8(std::string& text, std::uint32_t character) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | (character >> shift & 0x3f));
  };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xc0 | character >> 6);
    tail(0);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xe0 | character >> 12);
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | character >> 18);
    tail(12), tail(6), tail(0);
  }
}

// Control characters are escaped, so that no file can write them to a terminal.
void AppendCharacter(std::string& text, std::uint32_t character, bool is_byte) {
  const bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
  const bool invalid = character > 0x10ffff || (character >= 0xd800 && character < 0xe000);
  if (character == '\'' || character == '\\') {
    text += {'\\', static_cast<char>(character)};
  } else if (control || invalid || (is_byte && character > 0x7e)) {
    std::array<char, 16> escape;
    const char* const format = character <= 0xff ? "\\x%02x" : "\\U%08x";
    std::snprintf(escape.data(), escape.size(), format, static_cast<unsigned>(character));
    text += escape.data();
  } else {
    AppendUtf8(text, character);
  }
}

// 'text' or b'bytes'. NumPy pads short values of kinds S and U with zeros.
template <typename Character>
std::string QuotedText(const ElementType& type, const std::byte* element) {
  constexpr bool kIsByte = sizeof(Character) == 1;
  std::vector<Character> characters(static_cast<std::size_t>(type.size) / sizeof(Character));
  std::memcpy(characters.data(), element, static_cast<std::size_t>(type.size));
  while (type.kind != 'V' && !characters.empty() && characters.back() == 0) characters.pop_back();
  std::string text = kIsByte ? "b'" : "'";
  for (const Character character : characters) AppendCharacter(text, character, kIsByte);
  return text + "'";
}

template <typename Signed>
std::string IntegerText(bool is_signed, const std::byte* element) {
  return is_signed ? std::to_string(Load<Signed>(element))
                   : std::to_string(Load<std::make_unsigned_t<Signed>>(element));
}

std::string IntegerText(const DtypeInfo& row, const std::byte* element) {
  switch (row.size) {
    case 1:
      return IntegerText<std::int8_t>(row.is_signed, element);
    case 2:
      return IntegerText<std::int16_t>(row.is_signed, element);
    case 4:
      return IntegerText<std::int32_t>(row.is_signed, element);
    default:
      return IntegerText<std::int64_t>(row.is_signed, element);
  }
}

std::string FloatText(const DtypeInfo& row, const std::byte* element) {
  switch (row.size) {
    case 1:
      return HalfText(static_cast<std::uint16_t>(Load<std::uint8_t>(element) << 8));
    case 2:
      return HalfText(Load<std::uint16_t>(element));
    case 4:
      return FloatText(Load<float>(element));
    default:
      return FloatText(Load<double>(element));
  }
}

std::string OpaqueText(const ElementType& type, const std::byte* element) {
  return type.kind == 'U' ? QuotedText<std::uint32_t>(type, element)
                          : QuotedText<std::uint8_t>(type, element);
}

}  // namespace

std::string ElementText(const ElementType& type, const std::byte* element) {
  if (type.dtype >= kDtypesEnd) return OpaqueText(type, element);
  const DtypeInfo& row = kDtypes[type.dtype];
  switch (row.arithmetic) {
    case Arithmetic::kLogical:
      return Load<std::uint8_t>(element) != 0 ? "True" : "False";
    case Arithmetic::kInteger:
      return IntegerText(row, element);
    case Arithmetic::kFloating:
      return FloatText(row, element);
    case Arithmetic::kComplex:
      return row.size == 8 ? ComplexText(Load<std::complex<float>>(element))
                           : ComplexText(Load<std::complex<double>>(element));
    case Arithmetic::kNone:
      break;
  }
  return OpaqueText(type, element);
}

}  // namespace strew::cli
