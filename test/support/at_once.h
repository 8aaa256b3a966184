// SPDX-License-Identifier: Apache-2.0
//
// Threads that do something at the same moment.
#ifndef STREW_TEST_SUPPORT_AT_ONCE_H_
#define STREW_TEST_SUPPORT_AT_ONCE_H_

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace strew_test {

// Holds threads back until the last of them has come.
class StartLine {
 public:
  explicit StartLine(int threads) : missing_(threads) {}

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) all_are_here_.notify_all();
    all_are_here_.wait(lock, [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_are_here_;
  int missing_;
};

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

// WebAssembly has threads only where memory is shared: one call after the other.
template <class Body>
void AtOnce(int number, const Body& body) {
  for (int i = 0; i < number; ++i) body(i);
}

#else

// Calls body(i) for every i in [0, number), each on a thread of its own.
template <class Body>
void AtOnce(int number, const Body& body) {
  StartLine line(number);
  std::vector<std::thread> threads;
  for (int i = 0; i < number; ++i) {
    threads.emplace_back([&line, &body, i] {
      line.Wait();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#endif

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_AT_ONCE_H_
