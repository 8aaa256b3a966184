// SPDX-License-Identifier: Apache-2.0
#include "crash_report.h"

#include <signal.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace strew_test {
namespace {

#ifdef _WIN32

constexpr int kStandardError = 2;
constexpr int kSignals[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTERM};

char words[1024];

// Windows sets the default handler again before it calls one: what faulted is run again.
void Speak(int number) {
  _write(kStandardError, words, static_cast<unsigned>(std::strlen(words)));
  if (number == SIGABRT || number == SIGTERM) raise(number);
}

bool Listen() {
  for (const int number : kSignals) signal(number, Speak);
  return true;
}

#else

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
constexpr size_t kCount = sizeof(kSignals) / sizeof(kSignals[0]);

char words[1024];
std::array<struct sigaction, kCount> earlier;

// Speaks, and leaves the signal to who was there before: what faulted is run again.
void Speak(int number) {
  const ssize_t written = write(STDERR_FILENO, words, std::strlen(words));
  static_cast<void>(written);
  for (size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], &earlier[i], nullptr);
  if (number == SIGABRT || number == SIGTERM) raise(number);
}

bool Listen() {
  struct sigaction action = {};
  action.sa_handler = Speak;
  for (size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], &action, &earlier[i]);
  return true;
}

#endif

}  // namespace

void SetCrashReport(const char* format, ...) {
  static const bool listening = Listen();
  static_cast<void>(listening);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(words, sizeof(words), format, arguments);
  va_end(arguments);
}

}  // namespace strew_test
