// SPDX-License-Identifier: Apache-2.0
#include "accumulate/destination_set.h"

#include <cstring>
#include <type_traits>

#include "base/compiler.h"

namespace strew::accumulate {
namespace {

// Largest ranges of a bitmap, which then has 512 KiB and 256 KiB of ranks, and of blocks, whose
// directory then has 1 MiB and 512 KiB of ranks, whatever the destinations are.
constexpr int64_t kMostBits = int64_t{1} << 22;
constexpr int64_t kMostInBlocks = int64_t{1} << 29;
// Clearing and counting this many bits of a bitmap or directory takes as long as sorting an entry.
constexpr int64_t kBitsOfEntry = 128;

constexpr int64_t WordsFor(int64_t bits) { return (bits - 1) / 64 + 1; }

}  // namespace

DestinationSet::Form DestinationSet::FormFor(int64_t range, int64_t entries) {
  if (entries <= kFew) return Form::kSorted;
  if (range <= kMostBits && range / kBitsOfEntry <= entries) return Form::kBitmap;
  if (range <= kMostInBlocks && range / kBlock / kBitsOfEntry <= entries) {
    return Form::kBlocks;
  }
  return Form::kSorted;
}

int64_t DestinationSet::MostBytes(int64_t range, int64_t entries) {
  constexpr int64_t kBytesOfEntry = 16, kBytesOfBlock = sizeof(uint64_t);
  if (FormFor(range, entries) != Form::kBlocks) return entries * kBytesOfEntry;
  const int64_t pieces = WordsFor(WordsFor(range));
  return pieces * int64_t{sizeof(uint64_t) + sizeof(uint32_t)} + entries * kBytesOfBlock;
}

DestinationSet::DestinationSet(const Call& call, int64_t range, int64_t entries, int64_t kept)
    : call_(call),
      form_(FormFor(range, entries)),
      range_(range),
      capacity_(std::min(entries, std::max(kept, kFew))),
      pieces_(WordsFor(form_ == Form::kBlocks ? WordsFor(range) : range)) {
  ok_ = Begin();
}

bool DestinationSet::Begin() {
  if (form_ == Form::kBitmap) return AllocateWords(pieces_);
  if (form_ == Form::kSorted) {
    if (capacity_ <= kFew) return true;
    Scratch(call_, capacity_ * int64_t{sizeof(int64_t)}).Swap(&key_memory_);
    keys_ = reinterpret_cast<int64_t*>(key_memory_.memory());
    return keys_ != nullptr;
  }
  const int64_t bytes = pieces_ * int64_t{sizeof(uint64_t)};
  Scratch(call_, bytes + pieces_ * int64_t{sizeof(uint32_t)}).Swap(&directory_memory_);
  if (directory_memory_.memory() == nullptr) return false;
  directory_ = reinterpret_cast<uint64_t*>(directory_memory_.memory());
  directory_ranks_ = reinterpret_cast<uint32_t*>(directory_memory_.memory() + bytes);
  std::memset(directory_, 0, static_cast<size_t>(bytes));
  return true;
}

void DestinationSet::SortKeys() {
  std::sort(keys_, keys_ + count_);
  count_ = std::unique(keys_, keys_ + count_) - keys_;
}

// Leaves at least a third of the list free, so that each destination is sorted only a few times. A
// list that has grown has room for 1.5 times as many destinations as there are, or for at most 3
// times as many while it grows.
bool DestinationSet::MakeRoom() {
  SortKeys();
  if (count_ <= capacity_ - capacity_ / 3) return true;
  const int64_t capacity = count_ + count_ / 2;
  Scratch larger(call_, capacity * int64_t{sizeof(int64_t)});
  if (larger.memory() == nullptr) return false;
  std::memcpy(larger.memory(), keys_, static_cast<size_t>(count_) * sizeof(int64_t));
  key_memory_.Swap(&larger);
  keys_ = reinterpret_cast<int64_t*>(key_memory_.memory());
  capacity_ = capacity;
  return true;
}

bool DestinationSet::AllocateWords(int64_t count) {
  word_count_ = count;
  if (count == 1) return true;
  const int64_t bytes = count * int64_t{sizeof(uint64_t)};
  Scratch(call_, bytes).Swap(&word_memory_);
  words_ = reinterpret_cast<uint64_t*>(word_memory_.memory());
  if (words_ == nullptr) return false;
  std::memset(words_, 0, static_cast<size_t>(bytes));
  return true;
}

bool DestinationSet::FinishCollecting() {
  if (form_ == Form::kBitmap) return true;
  if (form_ == Form::kSorted) {
    SortKeys();
    return AllocateWords(WordsFor(std::max<int64_t>(count_, 1)));
  }
  uint32_t blocks = 0;
  for (int64_t i = 0; i < pieces_; ++i) {
    directory_ranks_[i] = blocks;
    blocks += static_cast<uint32_t>(CountBits(directory_[i]));
  }
  return AllocateWords(std::max<int64_t>(blocks, 1));
}

void DestinationSet::LocateRow(const kernel::IndexKernels& kernels,
                               kernel::OffsetWidth offset_width, const kernel::LocateArguments& row,
                               int32_t* bits) const {
  kernel::LocateArguments arguments = row;
  arguments.directory = directory_;
  arguments.directory_ranks = directory_ranks_;
  if (form_ != Form::kSorted) {
    kernels.locate[offset_width](arguments, bits);
    if (word_count_ <= kNearWords) return;
    for (int64_t c = 0; c < row.columns; ++c) {
      if (bits[c] < 0) continue;
      PrefetchForWrite(words_ + bits[c] / kBlock);
      if (ranks_ != nullptr) Prefetch(ranks_ + bits[c] / kBlock);
    }
    return;
  }
  const auto locate = [&](const auto* offsets) {
    using Offset = std::remove_cv_t<std::remove_reference_t<decltype(*offsets)>>;
    for (int64_t c = 0; c < row.columns; ++c) {
      const bool dropped = offsets[c] == kernel::kDropped<Offset>;
      bits[c] = dropped ? kernel::kDropped<int32_t>
                        : static_cast<int32_t>(BitOf(kernel::NumberAt(row, offsets[c])));
    }
  };
  if (offset_width == kernel::kOffset32) {
    locate(static_cast<const int32_t*>(row.offsets));
  } else {
    locate(static_cast<const int64_t*>(row.offsets));
  }
}

bool DestinationSet::Number() {
  if (form_ == Form::kSorted) return true;
  Scratch(call_, word_count_ * int64_t{sizeof(uint32_t)}).Swap(&rank_memory_);
  ranks_ = reinterpret_cast<uint32_t*>(rank_memory_.memory());
  if (ranks_ == nullptr) return false;
  uint32_t destinations = 0;
  for (int64_t i = 0; i < word_count_; ++i) {
    ranks_[i] = destinations;
    destinations += static_cast<uint32_t>(CountBits(words_[i]));
  }
  count_ = destinations;
  return true;
}

}  // namespace strew::accumulate
