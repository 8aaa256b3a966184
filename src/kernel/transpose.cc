// SPDX-License-Identifier: Apache-2.0
#include "kernel/transpose.h"

#include <algorithm>
#include <cstring>

#include "base/cache_size.h"
#include "base/compiler.h"

namespace strew::kernel {
namespace {

// The exchanges assume little-endian words.
constexpr bool kLowestFirst = STREW_BIG_ENDIAN == 0;

constexpr int64_t kWord = 8;

// Distances between rows of the output and between columns of the updates, in bytes.
struct Steps {
  int64_t output;
  int64_t updates;
};

// Exchanges the upper halves of the lanes of `one` with the lower halves of the lanes of `other`. A
// half has kBits bits.
template <int kBits>
void Exchange(uint64_t* one, uint64_t* other) {
  constexpr uint64_t kLower = ~uint64_t{0} / ((uint64_t{1} << kBits) + 1);
  const uint64_t differing = ((*one >> kBits) ^ *other) & kLower;
  *other ^= differing;
  *one ^= differing << kBits;
}

// Exchanges the upper right quarter of each square of 2 * kHalf rows with its lower left quarter,
// then does the same within each quarter.
template <int64_t kSize, int64_t kHalf>
void ExchangeHalves(uint64_t* words) {
  constexpr int64_t kSide = kWord / kSize;
  for (int64_t first = 0; first < kSide; first += 2 * kHalf) {
    for (int64_t i = first; i < first + kHalf; ++i) {
      Exchange<8 * kSize * kHalf>(&words[i], &words[i + kHalf]);
    }
  }
  if constexpr (kHalf > 1) ExchangeHalves<kSize, kHalf / 2>(words);
}

// Transposes a square of elements, each row of which is a word.
template <int64_t kSize>
void MoveSquare(unsigned char* output, const unsigned char* updates, const Steps& step) {
  constexpr int64_t kSide = kWord / kSize;
  uint64_t words[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&words[i], updates + i * step.updates, kWord);
  ExchangeHalves<kSize, kSide / 2>(words);
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(output + i * step.output, &words[i], kWord);
}

template <int64_t kSize>
void MoveEach(unsigned char* output, const unsigned char* updates, const Steps& step, int64_t rows,
              int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    unsigned char* const to = output + r * step.output;
    const unsigned char* const from = updates + r * kSize;
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(to + c * kSize, from + c * step.updates, kSize);
    }
  }
}

template <int64_t kSize>
void MoveTile(unsigned char* output, const unsigned char* updates, const Steps& step, int64_t rows,
              int64_t columns) {
  constexpr int64_t kSide = kWord / kSize;
  const int64_t whole_rows = rows / kSide * kSide;
  const int64_t whole = columns / kSide * kSide;
  for (int64_t r = 0; r < whole_rows; r += kSide) {
    unsigned char* const to = output + r * step.output;
    const unsigned char* const from = updates + r * kSize;
    for (int64_t c = 0; c < whole; c += kSide) {
      MoveSquare<kSize>(to + c * kSize, from + c * step.updates, step);
    }
    MoveEach<kSize>(to + whole * kSize, from + whole * step.updates, step, kSide, columns - whole);
  }
  MoveEach<kSize>(output + whole_rows * step.output, updates + whole_rows * kSize, step,
                  rows - whole_rows, columns);
}

// A row of a tile is one cache line in both operands. These lines stay in the L1 cache until the
// tile is complete, even if all of them fall into the same set.
template <int64_t kSize>
void MoveTiles(const BoxArguments& box) {
  constexpr int64_t kTile = kCacheLine / kSize;
  const Steps step = {box.output_row_stride * kSize, box.updates_stride * kSize};
  for (int64_t r = 0; r < box.rows; r += kTile) {
    for (int64_t c = 0; c < box.run; c += kTile) {
      MoveTile<kSize>(box.output + r * step.output + c * kSize,
                      box.updates + r * kSize + c * step.updates, step,
                      std::min(kTile, box.rows - r), std::min(kTile, box.run - c));
    }
  }
}

}  // namespace

// Copies of 1520 x 680 and 1024 x 1024 elements took 0.43 and 0.18 x the time of the other loops
// for int8, 0.57 and 0.15 x for int16, 0.8 and 0.25 x for float32 (Zen 4). Elements of 8 bytes gain
// nothing.
bool MoveTransposed(int64_t size, const BoxArguments& box) {
  const bool is_transpose = box.moves && box.output_stride == 1 && box.updates_row_stride == 1;
  if (!kLowestFirst || !is_transpose || size > kWord / 2 || kWord % size != 0) return false;
  if (std::min(box.rows, box.run) < kWord / size) return false;
  if (size == 1) MoveTiles<1>(box);
  if (size == 2) MoveTiles<2>(box);
  if (size == 4) MoveTiles<4>(box);
  return true;
}

}  // namespace strew::kernel
