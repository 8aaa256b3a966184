// SPDX-License-Identifier: Apache-2.0
#include "cli/mapped_file.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace strew::cli {

#ifdef _WIN32

namespace {

[[noreturn]] void ThrowLastError() {
  throw std::runtime_error(std::system_category().message(static_cast<int>(GetLastError())));
}

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {
    if (handle == nullptr || handle == INVALID_HANDLE_VALUE) ThrowLastError();
  }
  ~Handle() { CloseHandle(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  HANDLE get() const { return handle_; }

 private:
  const HANDLE handle_;
};

}  // namespace

Bytes MapFile(const std::string& path, std::uintmax_t size) {
  const Handle file(CreateFileW(std::filesystem::path(path).c_str(), GENERIC_READ | GENERIC_WRITE,
                                FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr));
  LARGE_INTEGER bytes;
  if (GetFileSizeEx(file.get(), &bytes) == 0) ThrowLastError();
  // A mapping that is larger would make the file larger.
  if (static_cast<std::uintmax_t>(bytes.QuadPart) < size) {
    throw std::runtime_error("it is no regular file of its size");
  }
  const Handle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READWRITE, 0, 0, nullptr));
  void* const pages =
      MapViewOfFile(mapping.get(), FILE_MAP_WRITE, 0, 0, static_cast<std::size_t>(size));
  if (pages == nullptr) ThrowLastError();
  return Bytes(static_cast<std::byte*>(pages), [](std::byte* begin) { UnmapViewOfFile(begin); });
}

#else

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

#endif

}  // namespace strew::cli
