// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_plans.h"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "api/context.h"
#include "bench/case.h"
#include "bench/graph.h"
#include "bench/workloads.h"
#include "cli/timer.h"

namespace strew::cli {
namespace {

using strew_bench::Case;
using strew_bench::Workload;

constexpr char kMake[] = "plan.make";
constexpr char kMakeOf[] = "el.1d.add.inp";  // 4 million random indices
constexpr char kGraph[] = "plan.graph";
constexpr char kPrefix[] = "plan.";

// The stages of making a plan, in the order in which they run, and words of the sentences with
// which the library announces them.
struct Stage {
  const char* name;
  const char* words;
};
constexpr Stage kStages[] = {
    {"check", "checked before"},
    {"places", "their places"},
    {"order", "put in the order"},
    {"groups", "stored with"},
};
constexpr int kStageCount = sizeof(kStages) / sizeof(kStages[0]);

// Creations of a plan, and the time of each stage of the fastest. The library reads no clock, but
// the sentences that it reports for --explain come at the beginning of each stage.
class Creation {
 public:
  Creation(const Case& workload_case, int threads) : case_(workload_case) {
    strew_context* context = nullptr;
    strew_bench::Check(strew_context_create(&context));
    context_.reset(context);
    strew_bench::Check(strew_context_set_num_threads(context, threads));
    ExplainTo(context, Tell, this);
  }

  bool Make() {
    stage_ = -1;
    for (double& seconds : seconds_) seconds = 0;
    plan_.reset();
    const Clock::time_point start = Clock::now();
    began_ = start;
    plan_ = case_.MakePlan(context_.get());
    Enter(kStageCount);
    const double total = SecondsSince(start);
    if (total < best_) {
      best_ = total;
      std::copy(std::begin(seconds_), std::end(seconds_), best_seconds_);
    }
    return plan_ != nullptr;
  }

  double best() const { return best_; }
  double best(int stage) const { return best_seconds_[stage]; }

 private:
  static void Tell(void* creation, const char* sentence) {
    const std::string text = sentence;
    for (int i = 0; i < kStageCount; ++i) {
      if (text.find(kStages[i].words) != std::string::npos) {
        static_cast<Creation*>(creation)->Enter(i);
      }
    }
  }

  // The time before the first stage belongs to that stage.
  void Enter(int stage) {
    if (stage_ >= 0) {
      seconds_[stage_] += SecondsSince(began_);
      began_ = Clock::now();
    }
    stage_ = stage;
  }

  const Case& case_;
  strew_bench::Context context_;
  strew_bench::Plan plan_;
  int stage_ = -1;
  Clock::time_point began_;
  double seconds_[kStageCount] = {};
  double best_ = std::numeric_limits<double>::infinity();
  double best_seconds_[kStageCount] = {};
};

void Require(const std::string& row, const std::string& error) {
  if (!error.empty()) throw std::runtime_error(row + ": " + error);
}

template <class... Numbers>
std::string Format(const char* format, Numbers... numbers) {
  char text[200];
  std::snprintf(text, sizeof(text), format, numbers...);
  return text;
}

std::string Line(const std::string& row, std::int64_t entries, double seconds,
                 double direct_seconds) {
  const double millions = static_cast<double>(entries) / 1e6;
  return Format("%-28s %11.4f %9.1f %9.1f %9.2f\n", row.c_str(), seconds * 1e3, millions / seconds,
                millions / direct_seconds, direct_seconds / seconds);
}

std::string MeasureCreation(const Workload& workload, int threads, double seconds) {
  Case direct_case(workload, threads);
  Require(workload.name, direct_case.error());
  Creation creation(direct_case, threads);
  Timer make([&] { return creation.Make(); }), direct([&] { return direct_case.Strew(); });
  Timer::Compare(make, direct, seconds);
  const std::int64_t entries = strew_bench::EntryCount(workload.operands);
  std::string lines = Line(kMake, entries, creation.best(), direct.best());
  for (int i = 0; i < kStageCount; ++i) {
    lines += Format("  %-26s %11.4f %9.1f\n", kStages[i].name, creation.best(i) * 1e3,
                    static_cast<double>(entries) / 1e6 / creation.best(i));
  }
  return lines;
}

std::string MeasureScatter(const Workload& workload, int threads, double seconds) {
  const std::string row = kPrefix + workload.name;
  Case workload_case(workload, threads);
  Require(row, workload_case.error());
  const strew_bench::Plan plan = workload_case.MakePlan(nullptr);
  if (plan == nullptr) throw std::runtime_error(row + ": strew refused the plan");
  Require(row, workload_case.ErrorBy(plan.get()));
  Timer by_plan([&] { return workload_case.StrewBy(plan.get()); });
  Timer direct([&] { return workload_case.Strew(); });
  Timer::Compare(by_plan, direct, seconds);
  return Line(row, strew_bench::EntryCount(workload.operands), by_plan.best(), direct.best());
}

std::string MeasureGraph(int threads, double seconds) {
  strew_bench::Graph graph(threads);
  Require(kGraph, graph.error());
  Timer at_once([&] { return graph.GatherScatter(); }), two_steps([&] { return graph.TwoSteps(); });
  Timer::Compare(at_once, two_steps, seconds);
  return Line(kGraph, strew_bench::Graph::kEdges, at_once.best(), two_steps.best());
}

Workload Find(const std::string& name) {
  for (const Workload& workload : strew_bench::Workloads()) {
    if (workload.name == name) return workload;
  }
  throw std::runtime_error("there is no workload " + name);
}

}  // namespace

std::vector<std::string> PlanRows() {
  std::vector<std::string> rows = {kMake};
  for (const Workload& workload : strew_bench::Workloads()) {
    if (workload.operands.op != strew_bench::Operator::kSlice) {
      rows.push_back(kPrefix + workload.name);
    }
  }
  rows.push_back(kGraph);
  return rows;
}

std::string PlanColumns() {
  return "row with plans                        ms       M/s    direct  / direct";
}

std::string MeasurePlans(const std::string& row, int threads, double seconds) {
  if (row == kMake) return MeasureCreation(Find(kMakeOf), threads, seconds);
  if (row == kGraph) return MeasureGraph(threads, seconds);
  return MeasureScatter(Find(row.substr(sizeof(kPrefix) - 1)), threads, seconds);
}

}  // namespace strew::cli
