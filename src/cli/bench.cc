// SPDX-License-Identifier: Apache-2.0
#include "cli/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "bench/case.h"
#include "bench/workloads.h"
#include "cli/context.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

using strew_bench::Case;
using strew_bench::Workload;
using Contestant = bool (Case::*)();
using Clock = std::chrono::steady_clock;

// Rows, single elements on each axis, and slices: what the kernels are written for.
const char* const kFew[] = {"nd.rows.none.inp", "nd.rows.add.inp",  "el.last.none.inp",
                            "el.last.add.inp",  "el.first.add.inp", "el.1d.add.inp",
                            "sl.kv.new",        "sl.multi.inp"};

// A turn has as many calls as make its time large against that of looking at the clock.
constexpr double kTurnSeconds = 1e-3;
constexpr int kLeastTurns = 5;

class Timer {
 public:
  Timer(Case& workload_case, Contestant contestant)
      : case_(workload_case), contestant_(contestant) {}

  void Turn() {
    const double seconds = Seconds(calls_);
    total_ += seconds;
    if (seconds < kTurnSeconds) {
      calls_ *= 2;
    } else {
      best_ = std::min(best_, seconds / static_cast<double>(calls_));
      ++turns_;
    }
  }

  double best() const { return best_; }
  bool IsDone(double seconds) const { return turns_ >= kLeastTurns && total_ >= seconds; }

 private:
  double Seconds(std::int64_t calls) {
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) {
      if (!(case_.*contestant_)()) throw std::runtime_error("a call of a workload failed");
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Case& case_;
  const Contestant contestant_;
  std::int64_t calls_ = 1;
  int turns_ = 0;
  double total_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

std::string Line(const std::string& name, double seconds, double rate, double copy_rate) {
  char text[200];
  std::snprintf(text, sizeof(text), "%-28s %11.4f %9.1f %9.1f %9.2f\n", name.c_str(), seconds * 1e3,
                rate / 1e9, copy_rate / 1e9, rate / copy_rate);
  return text;
}

std::string Measure(const Workload& workload, const BenchOptions& options) {
  Case workload_case(workload, options.threads);
  if (!workload_case.error().empty()) {
    throw std::runtime_error(workload.name + ": " + workload_case.error());
  }
  Timer strew(workload_case, &Case::Strew), copy(workload_case, &Case::Memcpy);
  while (!strew.IsDone(options.seconds) || !copy.IsDone(options.seconds)) {
    strew.Turn();
    copy.Turn();
  }
  const double moved = static_cast<double>(strew_bench::MovedBytes(workload));
  const double copied = 2 * static_cast<double>(strew_bench::CopiedBytes(workload));
  return Line(workload.name, strew.best(), moved / strew.best(), copied / copy.best());
}

}  // namespace

std::vector<std::string> BenchRows() {
  std::vector<std::string> names;
  for (const Workload& workload : strew_bench::Workloads()) names.push_back(workload.name);
  return names;
}

void RunBench(const BenchOptions& options) {
  Print(std::string("strew ") + strew_version() + " on " + strew_simd_target() + ", threads: " +
        (options.threads == 0 ? ThreadsText() : std::to_string(options.threads)) + "\n" +
        Bold("row                                   ms      GB/s    memcpy   / memcpy") + "\n");
  const std::vector<std::string> few(std::begin(kFew), std::end(kFew));
  const std::vector<std::string>& chosen = options.rows.empty() ? few : options.rows;
  for (const Workload& workload : strew_bench::Workloads()) {
    if (std::find(chosen.begin(), chosen.end(), workload.name) == chosen.end()) continue;
    Print(Measure(workload, options));
  }
}

}  // namespace strew::cli
