// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_BENCH_H_
#define STREW_CLI_BENCH_H_

#include <string>
#include <vector>

namespace strew::cli {

struct BenchOptions {
  std::vector<std::string> rows;  // empty: a few that stand for all
  int threads = 1;
  double seconds = 0.5;
};

// The names of all workloads of the benchmarks, except for those of plans: see PlanRows().
std::vector<std::string> WorkloadRows();

// Times the calls of workloads in turns with memcpy, and calls with plans in turns with calls
// without them. Prints a line for each. Throws std::runtime_error.
void RunBench(const BenchOptions& options);

}  // namespace strew::cli

#endif  // STREW_CLI_BENCH_H_
