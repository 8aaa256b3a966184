// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "cli/platform.h"
#include "cli/terminal.h"

namespace strew::cli {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::seconds kPatience(1);
constexpr std::chrono::milliseconds kPause(100);  // between two lines

constexpr std::size_t kMaxBar = 40;
constexpr std::size_t kMinBar = 5;  // a shorter one is left out
constexpr std::size_t kBlock = 3;   // of a bar that only shows that work goes on

// "2:05"
std::string ClockText(Seconds time) {
  const auto seconds = static_cast<std::int64_t>(time.count());
  const std::string rest = std::to_string(seconds % 60);
  return std::to_string(seconds / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

std::string BarOfShare(std::size_t size, double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(size));
  return std::string(filled, '#') + std::string(size - filled, '-');
}

// The block moves by one place with every line.
std::string BarOfTime(std::size_t size, Seconds elapsed) {
  const std::size_t before = static_cast<std::size_t>(elapsed / kPause) % (size - kBlock + 1);
  return std::string(before, '-') + std::string(kBlock, '#') +
         std::string(size - kBlock - before, '-');
}

}  // namespace

Progress::Progress() {
  if (!IsTerminal(stderr)) return;
  try {
    thread_ = std::thread(&Progress::Watch, this);
  } catch (const std::system_error&) {
    // Without a thread there is no bar, and the work goes on.
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  Clear();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::Begin(const char* noun, std::int64_t total, std::int64_t unit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stage_ = {noun, total, unit, Clock::now()};
  done_.store(0, std::memory_order_relaxed);
}

void Progress::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stage_ = {};
  Show("");
}

void Progress::Watch() {
  const auto ended = [this] { return ended_; };
  std::unique_lock<std::mutex> lock(mutex_);
  if (changed_.wait_until(lock, start_ + kPatience, ended)) return;
  do {
    if (stage_.noun != nullptr) Draw();
  } while (!changed_.wait_for(lock, kPause, ended));
}

void Progress::Draw() {
  // One column stays free: some terminals break a line that fills the last one.
  Show(Line(stage_, done_.load(std::memory_order_relaxed), Columns() - 1));
}

std::string Progress::Line(const Stage& stage, std::int64_t done, std::size_t width) {
  const Seconds elapsed = Clock::now() - stage.begun;
  const bool countable = stage.total > 1;
  const double share = countable ? static_cast<double>(done) / static_cast<double>(stage.total) : 0;

  std::string text = "strew: ";
  if (countable) {
    const std::string total = std::to_string((stage.total + stage.unit - 1) / stage.unit);
    // The total is rounded up, and so is what reaches it.
    const std::string part = done < stage.total ? std::to_string(done / stage.unit) : total;
    text += std::string(total.size() - part.size(), ' ') + part + " of " + total + " ";
  }
  text += stage.noun;
  std::string time = " " + ClockText(elapsed);
  if (share > 0) time += ", " + ClockText(elapsed * (1 / share - 1)) + " left";

  const std::size_t used = text.size() + time.size() + std::string(" []").size();
  const std::size_t bar = used < width ? std::min(width - used, kMaxBar) : 0;
  if (bar >= kMinBar) {
    text += " [" + (countable ? BarOfShare(bar, share) : BarOfTime(bar, elapsed)) + "]";
  }
  return (text + time).substr(0, width);
}

// Overwrites with blanks and not by an escape sequence, because every terminal knows those.
void Progress::Show(const std::string& line) {
  const std::size_t blanks = shown_ > line.size() ? shown_ - line.size() : 0;
  const bool nothing = line.size() + blanks == 0 || !InForeground();
  shown_ = 0;
  if (nothing) return;
  const std::string text = "\r" + line + std::string(blanks, ' ') + (line.empty() ? "\r" : "");
  std::fwrite(text.data(), 1, text.size(), stderr);
  shown_ = line.size();
}

}  // namespace strew::cli
