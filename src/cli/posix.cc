// SPDX-License-Identifier: Apache-2.0
// cli/platform.h for POSIX.
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/platform.h"

namespace strew::cli {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void ThrowLastError() {
  throw std::runtime_error(std::generic_category().message(errno));
}

File Checked(std::FILE* file) {
  if (file == nullptr) ThrowLastError();
  return File(file);
}

class Descriptor {
 public:
  explicit Descriptor(const fs::path& path) : number_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (number_ < 0) ThrowLastError();
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

// Signals from terminals, users, batch systems, timers and resource limits. Others mean a defect.
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
  // Ending by the signal tells a shell that the program was interrupted and did not fail. The
  // signal is delivered when this function returns.
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

std::vector<std::string> BeginProgram(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

fs::path PathOf(const std::string& word) { return word; }

File OpenToRead(const fs::path& path) { return Checked(std::fopen(path.c_str(), "rb")); }
File OpenToWrite(const fs::path& path) { return Checked(std::fopen(path.c_str(), "wb")); }
File MakeFile(const fs::path& path) { return Checked(std::fopen(path.c_str(), "wbx")); }

File Duplicate(std::FILE* stream) {
  const int copy = dup(fileno(stream));
  return Checked(copy < 0 ? nullptr : fdopen(copy, stream == stdin ? "rb" : "wb"));
}

Bytes MapFile(const fs::path& path, std::uintmax_t size) {
  const Descriptor file(path);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) ThrowLastError();
  // Touching pages beyond the end of a file would end the process.
  if (!S_ISREG(status.st_mode) || static_cast<std::uintmax_t>(status.st_size) < size) {
    throw std::runtime_error("it is not a regular file, or its size has changed");
  }
  const auto length = static_cast<std::size_t>(size);
  void* const pages =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), /*offset=*/0);
  if (pages == MAP_FAILED) ThrowLastError();
  return Bytes(static_cast<std::byte*>(pages),
               [length](std::byte* bytes) { munmap(bytes, length); });
}

// The handlers stay installed: without a file, they do what happens by default.
RemovedBySignals::RemovedBySignals(fs::path path) : path_(std::move(path)) {
  writer = pthread_self();
  partial_file.store(path_.c_str());
  for (const int number : kEnding) Catch(number);
}

RemovedBySignals::~RemovedBySignals() { partial_file.store(nullptr); }

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool ObeysEscapes(std::FILE*) {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

bool InForeground() {
  // -1 if the terminal does not control this process; then nothing is known.
  const pid_t foreground = tcgetpgrp(STDERR_FILENO);
  return foreground == -1 || foreground == getpgrp();
}

std::size_t TerminalColumns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace strew::cli
