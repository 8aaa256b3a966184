// SPDX-License-Identifier: Apache-2.0
#include "counting_allocator.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "base/platform.h"

namespace strew_test {
namespace {

constexpr unsigned char kMargin = 0x5C;

}  // namespace

CountingAllocator::~CountingAllocator() {
  EXPECT_TRUE(live_.empty()) << live_.size() << " blocks were not freed";
}

void CountingAllocator::InstallIn(strew_context* context) {
  ASSERT_EQ(strew_context_set_allocator(context, Allocate, Free, this), STREW_OK);
}

void* CountingAllocator::Allocate(void* opaque, size_t size, size_t alignment) {
  return static_cast<CountingAllocator*>(opaque)->Grant(size, alignment);
}

void CountingAllocator::Free(void* opaque, void* memory, size_t size) {
  static_cast<CountingAllocator*>(opaque)->TakeBack(memory, size);
}

void* CountingAllocator::Grant(size_t size, size_t alignment) {
  EXPECT_EQ(std::this_thread::get_id(), thread_) << "asked for on another thread";
  EXPECT_GT(size, 0u);
  EXPECT_TRUE(alignment > 0 && (alignment & (alignment - 1)) == 0) << alignment;
  look_();
  if (++requests_ > granted_) return nullptr;
  const size_t rounded = (size + 2 * alignment) / (2 * alignment) * (2 * alignment);
  Block block{nullptr, rounded + 4 * alignment, size};
  block.bytes = static_cast<unsigned char*>(strew::AllocateAligned(2 * alignment, block.capacity));
  std::memset(block.bytes, kMargin, block.capacity);
  unsigned char* const memory = block.bytes + alignment;
  std::memset(memory, 0xA5, size);
  live_[memory] = block;
  held_ += size;
  peak_ = std::max(peak_, held_);
  return memory;
}

void CountingAllocator::TakeBack(void* memory, size_t size) {
  EXPECT_EQ(std::this_thread::get_id(), thread_) << "freed on another thread";
  const auto found = live_.find(memory);
  ASSERT_NE(found, live_.end()) << "freed what was not allocated";
  const Block block = found->second;
  EXPECT_EQ(block.size, size);
  const auto* const begin = static_cast<const unsigned char*>(memory);
  const auto* const end = static_cast<const unsigned char*>(block.bytes) + block.capacity;
  const auto is_margin = [](unsigned char byte) { return byte == kMargin; };
  EXPECT_TRUE(std::all_of<const unsigned char*>(block.bytes, begin, is_margin) &&
              std::all_of(begin + size, end, is_margin))
      << "wrote outside of the scratch";
  held_ -= size;
  live_.erase(found);
  strew::FreeAligned(block.bytes);
}

}  // namespace strew_test
