// SPDX-License-Identifier: Apache-2.0
// Functions of the operating system that C++17 lacks: aligned memory, and threads for base/pool.h.
// posix.cc and windows.cc define them.
#ifndef STREW_BASE_PLATFORM_H_
#define STREW_BASE_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef _WIN32
#include <malloc.h>
#else
#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#endif

namespace strew {

// Returns memory that FreeAligned() frees, or NULL on failure. `size` must be a multiple of
// `alignment`.
inline void* AllocateAligned(size_t alignment, size_t size) {
#ifdef _WIN32
  return _aligned_malloc(size, alignment);
#else
  return std::aligned_alloc(alignment, size);
#endif
}

inline void FreeAligned(void* memory) {
#ifdef _WIN32
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

#ifdef _WIN32
// These are HANDLEs. <windows.h> defines too many names to be included in a header.
using Thread = void*;
using Semaphore = void*;
using ThreadNumber = uint32_t;
using ProcessNumber = uint32_t;
#else
using Thread = pthread_t;
using Semaphore = sem_t;
using ThreadNumber = pid_t;
using ProcessNumber = pid_t;
#endif

// The number of CPUs on which the calling thread may run, at least 1; always 1 in a build without
// threads.
int32_t CpuCount();

// ---- Threads: only in builds with threads ----

ProcessNumber CurrentProcess();
ThreadNumber CurrentThread();
// The CPU of the calling thread; -1 if the system does not tell.
int32_t CurrentCpu();
// If the calling thread runs on `cpu`, moves it to another CPU on which the thread `caller` may
// run.
void LeaveCpu(int32_t cpu, ThreadNumber caller);

// The time in ns, from a clock that never goes back.
int64_t Now();
// The CPU time of the calling thread in ns. It does not advance while other threads have the CPU.
int64_t CpuTime();

// The count of a new semaphore is 0.
bool MakeSemaphore(Semaphore* semaphore);
void DestroySemaphore(Semaphore* semaphore);
void Post(Semaphore* semaphore);
void Await(Semaphore* semaphore);

// Starts up to `count` threads, which receive no signals of the process. Returns the number of
// threads that run.
int32_t StartThreads(Thread* threads, int32_t count, void* (*run)(void*), void* argument);
void JoinThread(Thread* thread);

}  // namespace strew

#endif  // STREW_BASE_PLATFORM_H_
