// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_BENCH_PLANS_H_
#define STREW_CLI_BENCH_PLANS_H_

#include <string>
#include <vector>

namespace strew::cli {

// "plan.make", which creates a plan, "plan.graph", and "plan.ROW" for each workload with indices.
std::vector<std::string> PlanRows();

// The heading of MeasurePlans().
std::string PlanColumns();

// Times the calls of such a row with plans, in turns with the same calls without, and returns a
// line; for a creation, its stages follow in further lines. Throws std::runtime_error.
std::string MeasurePlans(const std::string& row, int threads, double seconds);

}  // namespace strew::cli

#endif  // STREW_CLI_BENCH_PLANS_H_
