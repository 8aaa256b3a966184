// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_TIMER_H_
#define STREW_CLI_TIMER_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>

namespace strew::cli {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The time of the fastest call of one contestant.
class Timer {
 public:
  // call() returns false if it failed; Turn() then throws std::runtime_error.
  template <class Call>
  explicit Timer(const Call& call)
      : make_calls_([call](std::int64_t calls) {
          for (std::int64_t i = 0; i < calls; ++i) {
            if (!call()) throw std::runtime_error("a call of a workload failed");
          }
        }) {}

  double best() const { return best_; }

  // The contestants take turns until each has run for `seconds`.
  static void Compare(Timer& one, Timer& other, double seconds) {
    while (!one.IsDone(seconds) || !other.IsDone(seconds)) {
      one.Turn();
      other.Turn();
    }
  }

 private:
  // A turn has enough calls to make its time large compared with that of reading the clock.
  static constexpr double kTurnSeconds = 1e-3;
  static constexpr int kLeastTurns = 5;

  void Turn() {
    const Clock::time_point start = Clock::now();
    make_calls_(calls_);
    const double seconds = SecondsSince(start);
    total_ += seconds;
    if (seconds < kTurnSeconds) {
      calls_ *= 2;
    } else {
      best_ = std::min(best_, seconds / static_cast<double>(calls_));
      ++turns_;
    }
  }

  bool IsDone(double seconds) const { return turns_ >= kLeastTurns && total_ >= seconds; }

  const std::function<void(std::int64_t)> make_calls_;
  std::int64_t calls_ = 1;
  int turns_ = 0;
  double total_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace strew::cli

#endif  // STREW_CLI_TIMER_H_
