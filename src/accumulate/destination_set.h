// SPDX-License-Identifier: Apache-2.0
// The distinct destinations of the entries of a call, numbered in ascending order. Nothing is
// hashed, so no choice of index values makes this slow or large.
#ifndef STREW_ACCUMULATE_DESTINATION_SET_H_
#define STREW_ACCUMULATE_DESTINATION_SET_H_

#include <algorithm>
#include <cstdint>

#include "base/call.h"
#include "base/compiler.h"
#include "kernel/kernel.h"
#include "base/scratch.h"

namespace strew::accumulate {

// Counts set bits. Baseline x86-64 has no instruction for this, and the function that compilers
// call instead reads a table.
inline int64_t CountBits(uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<int64_t>((bits * 0x0101010101010101u) >> 56);
}

// Pass all destinations to Insert(); Number() then numbers them.
class DestinationSet {
 public:
  // Destinations lie in [0, range), range > 0. source(collect) passes at most `entries` of them to
  // collect(destination); there is no call if bits for the whole range are few. A sorted list
  // starts with room for `kept` destinations, and grows only if more are distinct.
  template <class Source>
  DestinationSet(const Call& call, int64_t range, int64_t entries, int64_t kept,
                 const Source& source)
      : DestinationSet(call, range, entries, kept) {
    if (ok_ && form_ != Form::kBitmap) {
      source([this](int64_t destination) { Collect(destination); });
    }
    ok_ = ok_ && FinishCollecting();
  }
  // Most bytes of scratch until Number() is called, if the list of destinations need not grow.
  static int64_t MostBytes(int64_t range, int64_t entries);
  DestinationSet(const DestinationSet&) = delete;
  DestinationSet& operator=(const DestinationSet&) = delete;

  // False if an allocation failed.
  bool ok() const { return ok_; }

  bool needs_inserting() const { return form_ != Form::kSorted; }
  // Returns true if the destination is new.
  bool Insert(int64_t destination) {
    const int64_t bit = BitOf(destination);
    const uint64_t mask = uint64_t{1} << (bit % kBlock);
    uint64_t& word = words_[bit / kBlock];
    const bool is_new = (word & mask) == 0;
    word |= mask;
    return is_new;
  }
  // Returns false if an allocation fails.
  bool Number();

  // Number of destinations, once they are numbered.
  int64_t count() const { return count_; }
  // The number of a destination that is in the set.
  int64_t NumberOf(int64_t destination) const {
    const int64_t bit = BitOf(destination);
    if (form_ == Form::kSorted) return bit;
    return ranks_[bit / kBlock] + CountBits(words_[bit / kBlock] & Below(bit % kBlock));
  }
  // The same for a row of entries. LocateRow() stores the positions of their bits, negative for
  // dropped entries; NumberRow() replaces them by numbers. Requires fewer than 2^31 positions.
  void LocateRow(const kernel::IndexKernels& kernels, kernel::OffsetWidth offset_width,
                 const kernel::LocateArguments& row, int32_t* bits) const;
  void InsertRow(const int32_t* bits, int64_t columns) {
    for (int64_t c = 0; c < columns; ++c) {
      if (bits[c] >= 0) SetBit(words_, bits[c]);
    }
  }
  void NumberRow(const kernel::IndexKernels& kernels, int32_t* bits, int64_t columns) const {
    if (form_ != Form::kSorted) kernels.rank(words_, ranks_, bits, columns);
  }

  // Prefetches the memory that NumberOf() reads.
  [[gnu::always_inline]] void Fetch(int64_t destination) const {
    if (form_ == Form::kSorted || word_count_ <= kNearWords) return;
    const int64_t word = BitOf(destination) / kBlock;
    Prefetch(words_ + word);
    Prefetch(ranks_ + word);
  }

  // Number of pieces of the set, of about equal length in the range or in the list.
  int64_t pieces() const { return form_ == Form::kSorted ? count_ : pieces_; }
  // Calls body(destination, number) for all in pieces [first, end), in ascending order.
  template <class Body>
  void ForEach(int64_t first, int64_t end, Body body) const;

 private:
  // kBitmap: a bit for each destination of the range. kBlocks: a directory with a bit for each
  // block of 64 destinations, and a bitmap for each block with a destination of the set. kSorted: a
  // sorted list.
  enum class Form { kBitmap, kBlocks, kSorted };

  static constexpr int64_t kBlock = 64;
  // Words that fit the L1 or L2 cache.
  static constexpr int64_t kNearWords = 16 << 10;
  // Sets of at most this many entries use no scratch.
  static constexpr int64_t kFew = 64;

  static Form FormFor(int64_t range, int64_t entries);
  static uint64_t Below(int64_t bit) { return (uint64_t{1} << bit) - 1; }
  static void SetBit(uint64_t* words, int64_t i) {
    words[i / kBlock] |= uint64_t{1} << (i % kBlock);
  }

  // Position of a destination's bit in words_, which in a sorted list is also its number. 0 if the
  // destination is outside the range.
  int64_t BitOf(int64_t destination) const;
  DestinationSet(const Call& call, int64_t range, int64_t entries, int64_t kept);
  bool Begin();
  void Collect(int64_t destination) {
    if (form_ == Form::kBlocks) {
      SetBit(directory_, destination / kBlock);
    } else if (!ok_ || (count_ == capacity_ && !MakeRoom())) {
      ok_ = false;
    } else {
      keys_[count_++] = destination;
    }
  }
  bool FinishCollecting();
  bool MakeRoom();
  void SortKeys();
  bool AllocateWords(int64_t count);
  template <class Body>
  void ForEachOfWord(int64_t word, int64_t first, Body body) const;

  const Call& call_;
  const Form form_;
  const int64_t range_;
  bool ok_ = true;
  int64_t capacity_;        // of keys_
  int64_t count_ = 0;       // of keys_; of destinations once they are numbered
  const int64_t pieces_;    // words of the bitmap or of the directory
  int64_t word_count_ = 0;  // of words_
  int64_t* keys_ = few_;
  uint64_t* words_ = &few_bits_;
  uint32_t* ranks_ = nullptr;  // destinations before each word of words_
  uint64_t* directory_ = nullptr;
  uint32_t* directory_ranks_ = nullptr;  // blocks before each word of the directory
  Scratch key_memory_;
  Scratch directory_memory_;
  Scratch word_memory_;
  Scratch rank_memory_;
  int64_t few_[kFew];
  uint64_t few_bits_ = 0;
};

inline int64_t DestinationSet::BitOf(int64_t destination) const {
  if (form_ == Form::kSorted) return std::lower_bound(keys_, keys_ + count_, destination) - keys_;
  // GCOVR_EXCL_BR_START: only indices that change while they are read lead outside the range.
  if (static_cast<uint64_t>(destination) >= static_cast<uint64_t>(range_)) return 0;
  // GCOVR_EXCL_BR_STOP
  if (form_ == Form::kBitmap) return destination;
  const int64_t block = destination / kBlock;
  const int64_t word = directory_ranks_[block / kBlock] +
                       CountBits(directory_[block / kBlock] & Below(block % kBlock));
  return word * kBlock + destination % kBlock;
}

// `first` is the destination of the lowest bit of the word.
template <class Body>
void DestinationSet::ForEachOfWord(int64_t word, int64_t first, Body body) const {
  int64_t number = ranks_[word];
  for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
    body(first + TrailingZeros(bits), number++);
  }
}

template <class Body>
void DestinationSet::ForEach(int64_t first, int64_t end, Body body) const {
  for (int64_t i = first; i < end; ++i) {
    if (form_ == Form::kSorted) {
      body(keys_[i], i);
    } else if (form_ == Form::kBitmap) {
      ForEachOfWord(i, i * kBlock, body);
    } else {
      int64_t word = directory_ranks_[i];
      for (uint64_t blocks = directory_[i]; blocks != 0; blocks &= blocks - 1) {
        ForEachOfWord(word++, (i * kBlock + TrailingZeros(blocks)) * kBlock, body);
      }
    }
  }
}

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_DESTINATION_SET_H_
