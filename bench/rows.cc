// SPDX-License-Identifier: Apache-2.0
//
// Every workload of workloads.h as three benchmarks on the same buffers: <workload>/strew,
// <workload>/scalar (see scalar_loops.h) and <workload>/memcpy (see CopiedBytes()). Those with
// indices come once more as plan.<workload>, in which strew has a plan; plan.gather and plan.graph
// are the messages of a graph network, see graph.h. Takes the options of Google Benchmark, and
// --threads=N for strew: with more than one thread, CPU time is that of the calling thread, so that
// only elapsed time is meaningful. Exits with 1 if strew and the scalar loop do not agree.
//
// Only ratios within one workload and one run are meaningful; ratios.py computes them. Buffers
// exist for one workload at a time, so random interleaving needs a filter that selects one
// workload.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "case.h"
#include "graph.h"
#include "strew/strew.h"
#include "workloads.h"

namespace {

using strew_bench::Case;
using strew_bench::Graph;
using strew_bench::Workload;

constexpr char kThreads[] = "--threads=";

bool g_failed = false;
int32_t g_threads = 1;

// The case of this name, which make() makes if it is not the current one.
template <class T, class Make>
T& Current(const std::string& name, const Make& make) {
  static std::string current_name;
  static std::unique_ptr<T> current;
  if (!current || current_name != name) {
    current.reset();  // before the next is made, so that memory holds one at a time
    current = make();
    current_name = name;
  }
  return *current;
}

void Skip(benchmark::State& state, const std::string& message) {
  g_failed = true;
  state.SkipWithError(message.c_str());
}

template <class T>
void Measure(benchmark::State& state, T& current, bool (T::*contestant)(), int64_t bytes) {
  if (!current.error().empty()) return Skip(state, current.error());
  for (auto _ : state) {
    if (!(current.*contestant)()) return Skip(state, "a call failed");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

template <class T>
struct Contestant {
  const char* name;
  bool (T::*call)();
  int64_t bytes;
};

template <class T, class Make>
void Register(const std::string& row, const Contestant<T>& contestant, const Make& make) {
  const auto run = [=](benchmark::State& state) {
    try {
      Measure(state, Current<T>(row, make), contestant.call, contestant.bytes);
    } catch (const std::exception& exception) {
      Skip(state, exception.what());
    }
  };
  benchmark::RegisterBenchmark((row + "/" + contestant.name).c_str(), run)
      ->Unit(contestant.bytes < 1000000 ? benchmark::kNanosecond : benchmark::kMillisecond);
}

void RegisterWorkload(const std::string& row, const Workload& workload, Case::Way way) {
  const auto make = [=] { return std::make_unique<Case>(workload, g_threads, way); };
  const int64_t moved = strew_bench::MovedBytes(workload);
  const int64_t copied = 2 * strew_bench::CopiedBytes(workload);
  const Contestant<Case> contestants[] = {{"strew", &Case::Strew, moved},
                                          {"scalar", &Case::Scalar, moved},
                                          {"memcpy", &Case::Memcpy, copied}};
  for (const Contestant<Case>& contestant : contestants) Register(row, contestant, make);
}

void RegisterGraph(const std::string& row, bool (Graph::*strew)(), bool (Graph::*scalar)()) {
  const auto make = [] { return std::make_unique<Graph>(g_threads); };
  const int64_t bytes = 2 * Graph::kMessageBytes;
  const Contestant<Graph> contestants[] = {{"strew", strew, bytes},
                                           {"scalar", scalar, bytes},
                                           {"memcpy", &Graph::CopyMessages, Graph::kMessageBytes}};
  for (const Contestant<Graph>& contestant : contestants) Register(row, contestant, make);
}

// Reads --threads=N and removes it from the arguments.
void TakeThreads(int* argc, char** argv) {
  const auto is_threads = [](const char* argument) {
    return std::strncmp(argument, kThreads, std::strlen(kThreads)) == 0;
  };
  char** const end = argv + *argc;
  char** const found = std::find_if(argv, end, is_threads);
  if (found == end) return;
  g_threads = std::atoi(*found + std::strlen(kThreads));
  *argc = static_cast<int>(std::copy(found + 1, end, found) - argv);
}

}  // namespace

int main(int argc, char** argv) {
  TakeThreads(&argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("strew", strew_version());
  benchmark::AddCustomContext("strew_simd_target", strew_simd_target());
  for (const Workload& workload : strew_bench::Workloads()) {
    RegisterWorkload(workload.name, workload, Case::Way::kCall);
  }
  for (const Workload& workload : strew_bench::Workloads()) {
    if (workload.operands.op == strew_bench::Operator::kSlice) continue;
    RegisterWorkload("plan." + workload.name, workload, Case::Way::kPlan);
  }
  RegisterGraph("plan.gather", &Graph::Gather, &Graph::GatherLoop);
  RegisterGraph("plan.graph", &Graph::GatherScatter, &Graph::GatherScatterLoop);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return g_failed ? 1 : 0;
}
