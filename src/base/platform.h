// SPDX-License-Identifier: Apache-2.0
// Functions of the operating system that C++17 does not have: aligned memory, and threads for
// base/pool.h. posix.cc and windows.cc define them.
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

// Memory for FreeAligned(), NULL if there is none. `size` is a multiple of `alignment`.
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
// A HANDLE: <windows.h> has too many names for a header.
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

// How many CPUs the calling thread may run on, at least 1. 1 in a build without threads.
int32_t CpuCount();

// ---- Threads: only where the build has them ----

ProcessNumber CurrentProcess();
ThreadNumber CurrentThread();
// -1 where the system does not tell.
int32_t CurrentCpu();
// Moves the calling thread off that CPU, to another that the thread `caller` may run on.
void LeaveCpu(int32_t cpu, ThreadNumber caller);

// In ns: of a clock that never goes back.
int64_t Now();
// In ns, less while other threads have the CPU.
int64_t CpuTime();

// The count of a new semaphore is 0.
bool MakeSemaphore(Semaphore* semaphore);
void DestroySemaphore(Semaphore* semaphore);
void Post(Semaphore* semaphore);
void Await(Semaphore* semaphore);

// Starts up to `count` threads, which take no signals of the process, and returns how many run.
int32_t StartThreads(Thread* threads, int32_t count, void* (*run)(void*), void* argument);
void JoinThread(Thread* thread);

}  // namespace strew

#endif  // STREW_BASE_PLATFORM_H_
