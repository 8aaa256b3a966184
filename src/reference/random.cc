// SPDX-License-Identifier: Apache-2.0
#include "reference/random.h"

#include <algorithm>
#include <cstdlib>

#include "reference/bytes.h"
#include "reference/dtypes.h"
#include "reference/indices.h"

namespace strew::reference {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Bits of a binary interchange format of `width` bytes, sign excluded.
uint64_t SpecialFloat(Random& random, int width, int fraction_bits) {
  const uint64_t hidden = uint64_t{1} << fraction_bits;
  const uint64_t infinity = (uint64_t{1} << (8 * width - 1)) - hidden;
  const uint64_t one = (infinity >> 1) & ~(hidden - 1);
  const uint64_t quiet_nan = infinity | (hidden >> 1);
  const uint64_t signalling_nan = infinity | 1;
  const uint64_t ones = infinity | (hidden - 1);
  const uint64_t specials[] = {
      0,        1,         hidden - 1,    hidden,         one,      one + hidden, infinity - 1,
      infinity, quiet_nan, quiet_nan | 1, signalling_nan, ones - 1, ones};
  return random.Pick(specials);
}

// Draws bits of a number from 1/8 to 16, where sums and products of a few numbers are finite and
// must be rounded.
uint64_t OrdinaryFloat(Random& random, int width, int fraction_bits) {
  const uint64_t bias = (uint64_t{1} << (8 * width - 2 - fraction_bits)) - 1;
  const uint64_t exponent = bias + static_cast<uint64_t>(random.Between(-3, 3));
  const uint64_t fraction = random.Bits() & ((uint64_t{1} << fraction_bits) - 1);
  return (exponent << fraction_bits) | fraction;
}

uint64_t SpecialInteger(Random& random, int width) {
  const uint64_t highest = ~uint64_t{0} >> (64 - 8 * width);
  const uint64_t sign = uint64_t{1} << (8 * width - 1);
  const uint64_t specials[] = {0, 1, 2, highest, highest - 1, sign, sign - 1};
  return random.Pick(specials);
}

uint64_t Number(Random& random, int width, int fraction_bits) {
  const int64_t choice = random.Between(0, 3);
  if (choice == 0) return random.Bits();
  const bool special = choice == 1;
  if (fraction_bits == 0) {
    return special ? SpecialInteger(random, width) : static_cast<uint64_t>(random.Between(0, 20));
  }
  const uint64_t sign = (random.Bits() & 1) << (8 * width - 1);
  return sign | (special ? SpecialFloat(random, width, fraction_bits)
                         : OrdinaryFloat(random, width, fraction_bits));
}

void StoreNumber(uint64_t bits, size_t width, unsigned char* bytes) {
  if (width == 1) Store(bytes, static_cast<uint8_t>(bits));
  if (width == 2) Store(bytes, static_cast<uint16_t>(bits));
  if (width == 4) Store(bytes, static_cast<uint32_t>(bits));
  if (width == 8) Store(bytes, bits);
}

void FillWithBits(Random& random, unsigned char* bytes, size_t size) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i, bits >>= 8) {
    if (i % sizeof(bits) == 0) bits = random.Bits();
    bytes[i] = static_cast<unsigned char>(bits);
  }
}

}  // namespace

uint64_t Seed() { return FromEnvironment("STREW_SEED", 1); }

int64_t Cases(int64_t otherwise) {
  return static_cast<int64_t>(FromEnvironment("STREW_CASES", static_cast<uint64_t>(otherwise)));
}

int64_t Calls(int64_t otherwise) {
  return static_cast<int64_t>(FromEnvironment("STREW_CALLS", static_cast<uint64_t>(otherwise)));
}

void FillWithValues(Random& random, Array& array) {
  if (random.ReadsBytes()) {
    // Elements would use up the bytes, and their values matter little.
    Random values(static_cast<uint64_t>(random.Between(0, 255)));
    return FillWithValues(values, array);
  }
  const Dtype dtype = Find(array.dtype());
  unsigned char* bytes = array.buffer().bytes();
  const size_t size = array.buffer().size();
  if (dtype.kind == Kind::kMoved) return FillWithBits(random, bytes, size);
  const size_t width = dtype.component_width();
  for (size_t i = 0; i < size; i += width) {
    StoreNumber(Number(random, static_cast<int>(width), dtype.format.fraction_bits), width,
                bytes + i);
  }
}

Array RandomArray(Random& random, strew_dtype dtype, const Layout& layout, Guard guard) {
  Array array(dtype, layout, guard);
  FillWithValues(random, array);
  return array;
}

Array RandomIndices(Random& random, strew_dtype dtype, const Layout& layout, int64_t dim,
                    Guard guard) {
  Array array(dtype, layout, guard);
  FillWithLargeIndices(array);
  const int64_t lowest = std::max(-dim, LowestIndex(dtype));
  ForEachIndex(layout.shape, [&](const Dims& i) {
    WriteIndex(dtype, array.view().At(i), random.Between(lowest, dim - 1));
  });
  return array;
}

}  // namespace strew::reference
