// SPDX-License-Identifier: Apache-2.0
// Services of the operating system for the command that C++17 does not have, defined in posix.cc
// and windows.cc. A failure throws std::runtime_error with the system's reason, without the path.
#ifndef STREW_CLI_PLATFORM_H_
#define STREW_CLI_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/array.h"

namespace strew::cli {

// The arguments of the program, on Windows in UTF-8. There it also sets the standard streams to
// binary, so that they have the same bytes as on other systems.
std::vector<std::string> BeginProgram(int argc, char** argv);

// ---- Files ----

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// A path from the command line.
std::filesystem::path PathOf(const std::string& word);

File OpenToRead(const std::filesystem::path& path);
File OpenToWrite(const std::filesystem::path& path);
// Fails if there is a file already.
File MakeFile(const std::filesystem::path& path);
// Standard input or output under a new file descriptor.
File Duplicate(std::FILE* stream);

// The first `size` bytes of a regular file, mapped into memory: writing there changes the file. The
// file must have that many bytes.
Bytes MapFile(const std::filesystem::path& path, std::uintmax_t size);

// While it lives, every signal that would end the program, and can be caught, removes the file at
// `path` first, if there is one. Signals that are ignored, as by nohup, stay ignored. At most one
// lives at a time, in the thread that creates, writes, renames and removes the file.
class RemovedBySignals {
 public:
  explicit RemovedBySignals(std::filesystem::path path);
  ~RemovedBySignals();
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  const std::filesystem::path path_;
};

// ---- Terminals ----

bool IsTerminal(std::FILE* stream);

// True if the terminal obeys escape sequences, such as that for bold text.
bool ObeysEscapes(std::FILE* terminal);

// True if this process is in the foreground of the terminal.
bool InForeground();

// Columns of the terminal on standard error; 0 if unknown.
std::size_t TerminalColumns();

}  // namespace strew::cli

#endif  // STREW_CLI_PLATFORM_H_
