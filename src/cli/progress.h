// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_PROGRESS_H_
#define STREW_CLI_PROGRESS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace strew::cli {

// A line on standard error that shows how far a run has come, once it has lasted for a second:
//
//     strew: 12 of 50 calls [#########------------------------------] 0:03, 0:09 left
//
// A separate thread draws it, so that it costs a caller that measures time only one addition. It is
// drawn only on a terminal, and only by a process in the foreground.
class Progress {
 public:
  Progress();
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From now on Advance() counts to `total`, which is shown in units of `unit`. With a total of 1
  // there is no partial progress, and the line shows `noun` and the time.
  void Begin(const char* noun, std::int64_t total, std::int64_t unit = 1);
  void Advance(std::int64_t count) { done_.fetch_add(count, std::memory_order_relaxed); }

  // Erases the line, and draws no other before the next Begin(). Call it before anything else
  // writes to the terminal.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  struct Stage {
    const char* noun;  // NULL: there is nothing to show
    std::int64_t total;
    std::int64_t unit;
    Clock::time_point begun;
  };

  static std::string Line(const Stage& stage, std::int64_t done, std::size_t width);

  void Watch();
  void Draw();
  void Show(const std::string& line);

  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int64_t> done_{0};

  std::mutex mutex_;  // guards the four below
  std::condition_variable changed_;
  bool ended_ = false;
  Stage stage_{};
  std::size_t shown_ = 0;  // columns of the line on the terminal

  std::thread thread_;  // none without a terminal
};

}  // namespace strew::cli

#endif  // STREW_CLI_PROGRESS_H_
