// SPDX-License-Identifier: Apache-2.0
// Implements base/platform.h with functions of Windows. winpthreads would be a second DLL to ship,
// and its clock for the CPU time of a thread has steps of 16 ms.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <algorithm>
#include <climits>

#include "base/compiler.h"
#include "base/platform.h"

namespace strew {
namespace {

struct Start {
  void* (*run)(void*);
  void* argument;
};

DWORD WINAPI Run(void* opaque) {
  const Start start = *static_cast<Start*>(opaque);
  HeapFree(GetProcessHeap(), 0, opaque);
  start.run(start.argument);
  return 0;
}

bool StartThread(Thread* thread, const Start& start) {
  void* const memory = HeapAlloc(GetProcessHeap(), 0, sizeof(Start));
  if (memory == nullptr) return false;
  *static_cast<Start*>(memory) = start;
  *thread = CreateThread(nullptr, 0, Run, memory, 0, nullptr);
  if (*thread != nullptr) return true;
  HeapFree(GetProcessHeap(), 0, memory);
  return false;
}

}  // namespace

int32_t CpuCount() {
  DWORD_PTR process = 0, system = 0;
  // Both masks are 0 for a process in several groups of 64 CPUs.
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system) != 0 && process != 0) {
    return static_cast<int32_t>(CountOnes(process));
  }
  const DWORD cpus = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return static_cast<int32_t>(std::clamp<DWORD>(cpus, 1, INT32_MAX));
}

ProcessNumber CurrentProcess() { return GetCurrentProcessId(); }
ThreadNumber CurrentThread() { return GetCurrentThreadId(); }
int32_t CurrentCpu() { return -1; }
void LeaveCpu(int32_t, ThreadNumber) {}

int64_t Now() {
  LARGE_INTEGER frequency, ticks;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&ticks);
  constexpr int64_t kSecond = 1000000000;
  // In two parts, because the product of all ticks and kSecond overflows after a quarter of an
  // hour.
  return ticks.QuadPart / frequency.QuadPart * kSecond +
         ticks.QuadPart % frequency.QuadPart * kSecond / frequency.QuadPart;
}

// Returns wall-clock time, because GetThreadTimes() has steps of 16 ms, longer than most calls. So
// a pool counts time without a CPU as work.
int64_t CpuTime() { return Now(); }

bool MakeSemaphore(Semaphore* semaphore) {
  *semaphore = CreateSemaphoreW(nullptr, 0, LONG_MAX, nullptr);
  return *semaphore != nullptr;
}

void DestroySemaphore(Semaphore* semaphore) { CloseHandle(*semaphore); }
void Post(Semaphore* semaphore) { ReleaseSemaphore(*semaphore, 1, nullptr); }
void Await(Semaphore* semaphore) { WaitForSingleObject(*semaphore, INFINITE); }

int32_t StartThreads(Thread* threads, int32_t count, void* (*run)(void*), void* argument) {
  int32_t started = 0;
  while (started < count && StartThread(threads + started, {run, argument})) ++started;
  return started;
}

void JoinThread(Thread* thread) {
  WaitForSingleObject(*thread, INFINITE);
  CloseHandle(*thread);
}

}  // namespace strew
