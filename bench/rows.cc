// SPDX-License-Identifier: Apache-2.0
//
// Every workload of workloads.h as three benchmarks on the same buffers: <workload>/strew,
// <workload>/scalar (see scalar_loops.h) and <workload>/memcpy (see CopiedBytes()). Takes the
// options of Google Benchmark, and --threads=N for strew: with more than one thread, CPU time is
// that of the calling thread, so that only elapsed time is meaningful. Exits with 1 if strew and
// the scalar loop do not agree.
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
#include "strew/strew.h"
#include "workloads.h"

namespace {

using strew_bench::Case;
using strew_bench::Workload;
using Contestant = bool (Case::*)();

constexpr char kThreads[] = "--threads=";

bool g_failed = false;
int32_t g_threads = 1;

Case& CurrentCase(const Workload& workload) {
  static std::string name;
  static std::unique_ptr<Case> current;
  if (!current || name != workload.name) {
    current.reset();  // before the next is made, so that memory holds one at a time
    current = std::make_unique<Case>(workload, g_threads);
    name = workload.name;
  }
  return *current;
}

void Skip(benchmark::State& state, const std::string& message) {
  g_failed = true;
  state.SkipWithError(message.c_str());
}

void Measure(benchmark::State& state, Case& workload_case, Contestant contestant, int64_t bytes) {
  if (!workload_case.error().empty()) return Skip(state, workload_case.error());
  for (auto _ : state) {
    if (!(workload_case.*contestant)()) return Skip(state, "a call failed");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

void Register(const Workload& workload, const char* contestant_name, Contestant contestant,
              int64_t bytes) {
  const std::string name = workload.name + "/" + contestant_name;
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 try {
                                   Measure(state, CurrentCase(workload), contestant, bytes);
                                 } catch (const std::exception& exception) {
                                   Skip(state, exception.what());
                                 }
                               })
      ->Unit(strew_bench::MovedBytes(workload) < 1000000 ? benchmark::kNanosecond
                                                         : benchmark::kMillisecond);
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
    const int64_t moved = strew_bench::MovedBytes(workload);
    Register(workload, "strew", &Case::Strew, moved);
    Register(workload, "scalar", &Case::Scalar, moved);
    Register(workload, "memcpy", &Case::Memcpy, 2 * strew_bench::CopiedBytes(workload));
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return g_failed ? 1 : 0;
}
