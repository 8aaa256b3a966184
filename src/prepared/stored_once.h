// SPDX-License-Identifier: Apache-2.0
// Holds what a plan stores when a call first needs it. Afterwards it never changes, so any number
// of threads may read it.
#ifndef STREW_PREPARED_STORED_ONCE_H_
#define STREW_PREPARED_STORED_ONCE_H_

#include <atomic>
#include <cstdlib>
#include <new>

namespace strew::prepared {

template <class T>
class StoredOnce {
 public:
  StoredOnce() = default;
  ~StoredOnce() { Free(stored_.load(std::memory_order_relaxed)); }
  StoredOnce(const StoredOnce&) = delete;
  StoredOnce& operator=(const StoredOnce&) = delete;

  // NULL if nothing is stored.
  const T* get() const { return stored_.load(std::memory_order_acquire); }
  // Stores `made`, which comes from New(). Returns it, or what another thread has stored before.
  const T* Store(T* made) {
    T* stored = nullptr;
    if (stored_.compare_exchange_strong(stored, made, std::memory_order_acq_rel)) return made;
    Free(made);
    return stored;
  }

  // NULL if malloc fails.
  static T* New() {
    void* const memory = std::malloc(sizeof(T));
    return memory == nullptr ? nullptr : new (memory) T();
  }
  static void Free(T* made) {
    if (made == nullptr) return;
    made->~T();
    std::free(made);
  }

 private:
  std::atomic<T*> stored_{nullptr};
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_STORED_ONCE_H_
