// SPDX-License-Identifier: Apache-2.0
#include "cli/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace strew::cli {
namespace {

[[noreturn]] void ThrowLastError() {
  throw std::runtime_error(std::generic_category().message(errno));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (number_ < 0) ThrowLastError();
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

}  // namespace

Bytes MapFile(const std::string& path, std::uintmax_t size) {
  const Descriptor file(path);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) ThrowLastError();
  // Pages behind the end of a file end the process that touches them.
  if (!S_ISREG(status.st_mode) || static_cast<std::uintmax_t>(status.st_size) < size) {
    throw std::runtime_error("it is no regular file of its size");
  }
  const auto length = static_cast<std::size_t>(size);
  void* const pages =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), /*offset=*/0);
  if (pages == MAP_FAILED) ThrowLastError();
  return Bytes(static_cast<std::byte*>(pages),
               [length](std::byte* bytes) { munmap(bytes, length); });
}

}  // namespace strew::cli
