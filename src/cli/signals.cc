// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <atomic>
#include <csignal>
#include <utility>

#ifdef SA_RESTART
#include <pthread.h>
#include <unistd.h>
#define STREW_HAS_POSIX_SIGNALS 1
#else
#define STREW_HAS_POSIX_SIGNALS 0
#endif

namespace strew::cli {

#if STREW_HAS_POSIX_SIGNALS

namespace {

// From terminals, users, batch systems, timers and limits of resources. Others tell of a defect.
constexpr int kEnding[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGALRM,
                           SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};

std::atomic<const char*> partial_file{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free, "a handler may not wait for a lock");
pthread_t writer;

void RemoveAndEnd(int number) {
  // Another thread could remove the file just before the writer renames it, which would then report
  // an error and exit with 1 instead of ending by the signal.
  if (pthread_equal(pthread_self(), writer) == 0) {
    pthread_kill(writer, number);
    return;
  }
  const char* const path = partial_file.load();
  if (path != nullptr) unlink(path);
  // A shell tells from the signal that the program was interrupted and did not fail. It is
  // delivered when this function returns.
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void Catch(int number) {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = RemoveAndEnd;
  action.sa_flags = SA_RESTART;  // for the threads that only pass the signal on
  sigfillset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

// The handlers stay: without a file they do what happens by default.
RemovedBySignals::RemovedBySignals(std::string path) : path_(std::move(path)) {
  writer = pthread_self();
  partial_file.store(path_.c_str());
  for (const int number : kEnding) Catch(number);
}

RemovedBySignals::~RemovedBySignals() { partial_file.store(nullptr); }

#else

RemovedBySignals::RemovedBySignals(std::string path) : path_(std::move(path)) {}
RemovedBySignals::~RemovedBySignals() = default;

#endif

}  // namespace strew::cli
