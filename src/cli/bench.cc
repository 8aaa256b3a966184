// SPDX-License-Identifier: Apache-2.0
#include "cli/bench.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "bench/case.h"
#include "bench/workloads.h"
#include "cli/bench_plans.h"
#include "cli/context.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "cli/timer.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

using strew_bench::Case;
using strew_bench::Workload;

// Rows, single elements on each axis, and slices, for which the kernels are written; then plans.
const char* const kFew[] = {"nd.rows.none.inp",   "nd.rows.add.inp",      "el.last.none.inp",
                            "el.last.add.inp",    "el.first.add.inp",     "el.1d.add.inp",
                            "sl.kv.new",          "sl.multi.inp",         "plan.make",
                            "plan.el.1d.add.inp", "plan.nd.rows.add.inp", "plan.graph"};

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
  Timer strew([&] { return workload_case.Strew(); });
  Timer copy([&] { return workload_case.Memcpy(); });
  Timer::Compare(strew, copy, options.seconds);
  const double moved = static_cast<double>(strew_bench::MovedBytes(workload));
  const double copied = 2 * static_cast<double>(strew_bench::CopiedBytes(workload));
  return Line(workload.name, strew.best(), moved / strew.best(), copied / copy.best());
}

bool IsChosen(const BenchOptions& options, const std::string& row) {
  if (options.rows.empty())
    return std::find(std::begin(kFew), std::end(kFew), row) != std::end(kFew);
  return std::find(options.rows.begin(), options.rows.end(), row) != options.rows.end();
}

// A heading above the first line.
class Table {
 public:
  explicit Table(const std::string& columns) : columns_(columns) {}

  void Add(const std::string& lines) {
    if (is_empty_) Print(Bold(columns_) + "\n");
    is_empty_ = false;
    Print(lines);
  }

 private:
  const std::string columns_;
  bool is_empty_ = true;
};

void PrintWorkloads(const BenchOptions& options) {
  Table table("row                                   ms      GB/s    memcpy   / memcpy");
  for (const Workload& workload : strew_bench::Workloads()) {
    if (IsChosen(options, workload.name)) table.Add(Measure(workload, options));
  }
}

void PrintPlans(const BenchOptions& options) {
  Table table(PlanColumns());
  for (const std::string& row : PlanRows()) {
    if (IsChosen(options, row)) table.Add(MeasurePlans(row, options.threads, options.seconds));
  }
}

}  // namespace

std::vector<std::string> WorkloadRows() {
  std::vector<std::string> names;
  for (const Workload& workload : strew_bench::Workloads()) names.push_back(workload.name);
  return names;
}

void RunBench(const BenchOptions& options) {
  Print(std::string("strew ") + strew_version() + " on " + strew_simd_target() + ", threads: " +
        (options.threads == 0 ? ThreadsText() : std::to_string(options.threads)) + "\n");
  PrintWorkloads(options);
  PrintPlans(options);
}

}  // namespace strew::cli
