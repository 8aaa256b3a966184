// SPDX-License-Identifier: Apache-2.0
// cli/platform.h for Windows.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/platform.h"

namespace strew::cli {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void ThrowLastError() {
  throw std::runtime_error(std::system_category().message(static_cast<int>(GetLastError())));
}

File Checked(std::FILE* file) {
  if (file == nullptr) throw std::runtime_error(std::generic_category().message(errno));
  return File(file);
}

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {
    if (handle == nullptr || handle == INVALID_HANDLE_VALUE) ThrowLastError();
  }
  ~Handle() {
    if (handle_ != nullptr) CloseHandle(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, nullptr); }

 private:
  HANDLE handle_;
};

// The file that a signal removes, and its lock.
SRWLOCK removal = SRWLOCK_INIT;
const wchar_t* partial_file = nullptr;

// Windows calls it on a separate thread, and ends the process when it returns. The lock is not
// released: a writer that misses its file waits for the end instead of reporting an error.
BOOL WINAPI Remove(DWORD) {
  AcquireSRWLockExclusive(&removal);
  if (partial_file != nullptr) DeleteFileW(partial_file);
  return FALSE;
}

void SetPartialFile(const wchar_t* path) {
  AcquireSRWLockExclusive(&removal);
  partial_file = path;
  ReleaseSRWLockExclusive(&removal);
}

// Text on a console is in UTF-8 until the program ends, and then what it was before.
void SetCodePage() {
  static const UINT before = GetConsoleOutputCP();
  if (before == 0 || SetConsoleOutputCP(CP_UTF8) == 0) return;
  std::atexit([] { SetConsoleOutputCP(before); });
}

HANDLE HandleOf(std::FILE* stream) {
  return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(stream)));
}

}  // namespace

// main() gets them in the code page of the system, which does not have all characters.
std::vector<std::string> BeginProgram(int, char**) {
  for (std::FILE* stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  SetCodePage();
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  if (words == nullptr) ThrowLastError();
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(fs::path(words[i]).u8string());
  LocalFree(words);
  return arguments;
}

fs::path PathOf(const std::string& word) { return fs::u8path(word); }

File OpenToRead(const fs::path& path) { return Checked(_wfopen(path.c_str(), L"rb")); }
File OpenToWrite(const fs::path& path) { return Checked(_wfopen(path.c_str(), L"wb")); }

// Not by _wfopen(), which opens files that cannot be removed before they are closed.
File MakeFile(const fs::path& path) {
  Handle handle(CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                            nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  const int number = _open_osfhandle(reinterpret_cast<intptr_t>(handle.get()), _O_BINARY);
  if (number < 0) return Checked(nullptr);
  handle.release();
  return Checked(_fdopen(number, "wb"));
}

File Duplicate(std::FILE* stream) {
  const int copy = _dup(_fileno(stream));
  if (copy >= 0) _setmode(copy, _O_BINARY);
  return Checked(copy < 0 ? nullptr : _fdopen(copy, stream == stdin ? "rb" : "wb"));
}

Bytes MapFile(const fs::path& path, std::uintmax_t size) {
  const Handle file(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ,
                                nullptr, OPEN_EXISTING, 0, nullptr));
  LARGE_INTEGER bytes;
  if (GetFileSizeEx(file.get(), &bytes) == 0) ThrowLastError();
  // A larger mapping would make the file larger.
  if (static_cast<std::uintmax_t>(bytes.QuadPart) < size) {
    throw std::runtime_error("it is not a regular file, or its size has changed");
  }
  const Handle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READWRITE, 0, 0, nullptr));
  void* const pages =
      MapViewOfFile(mapping.get(), FILE_MAP_WRITE, 0, 0, static_cast<std::size_t>(size));
  if (pages == nullptr) ThrowLastError();
  return Bytes(static_cast<std::byte*>(pages), [](std::byte* begin) { UnmapViewOfFile(begin); });
}

RemovedBySignals::RemovedBySignals(fs::path path) : path_(std::move(path)) {
  SetPartialFile(path_.c_str());
  SetConsoleCtrlHandler(Remove, TRUE);
}

RemovedBySignals::~RemovedBySignals() { SetPartialFile(nullptr); }

bool IsTerminal(std::FILE* stream) {
  DWORD mode = 0;
  return GetConsoleMode(HandleOf(stream), &mode) != 0;
}

bool ObeysEscapes(std::FILE* terminal) {
  DWORD mode = 0;
  const HANDLE handle = HandleOf(terminal);
  return GetConsoleMode(handle, &mode) != 0 &&
         SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

bool InForeground() { return true; }

std::size_t TerminalColumns() {
  CONSOLE_SCREEN_BUFFER_INFO screen;
  if (GetConsoleScreenBufferInfo(HandleOf(stderr), &screen) == 0) return 0;
  return static_cast<std::size_t>(screen.srWindow.Right - screen.srWindow.Left + 1);
}

}  // namespace strew::cli
