// SPDX-License-Identifier: Apache-2.0
//
// An allocator for scratch that counts what it is asked for, and checks what comes back.
#ifndef STREW_TEST_SUPPORT_COUNTING_ALLOCATOR_H_
#define STREW_TEST_SUPPORT_COUNTING_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include <strew/strew.h>

namespace strew_test {

// Serves one thread only, refuses from the n-th request on, and hands out memory full of rubbish
// that is aligned as asked, no better, and has margins that are looked at when it comes back. All
// has to come back.
class CountingAllocator {
 public:
  static constexpr int64_t kGrantsAll = std::numeric_limits<int64_t>::max();

  explicit CountingAllocator(int64_t granted) : granted_(granted) {}
  ~CountingAllocator();
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;

  void InstallIn(strew_context* context);
  // Is called at each request.
  void OnRequest(std::function<void()> look) { look_ = std::move(look); }

  // The functions of the allocator; `opaque` is the CountingAllocator.
  static void* Allocate(void* opaque, size_t size, size_t alignment);
  static void Free(void* opaque, void* memory, size_t size);

  int64_t requests() const { return requests_; }
  bool has_refused() const { return requests_ > granted_; }
  size_t peak() const { return peak_; }

 private:
  struct Block {
    unsigned char* bytes;
    size_t capacity;
    size_t size;
  };

  void* Grant(size_t size, size_t alignment);
  void TakeBack(void* memory, size_t size);

  const std::thread::id thread_ = std::this_thread::get_id();
  const int64_t granted_;
  std::function<void()> look_ = [] {};
  int64_t requests_ = 0;
  std::map<void*, Block> live_;
  size_t held_ = 0;
  size_t peak_ = 0;
};

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_COUNTING_ALLOCATOR_H_
