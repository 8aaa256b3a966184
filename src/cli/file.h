// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_FILE_H_
#define STREW_CLI_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/platform.h"

namespace strew::cli {

// Everything here throws std::runtime_error with the system's reason, without the path.

// A file that is read from its beginning.
class InputFile {
 public:
  virtual ~InputFile() = default;

  // None for a stream, whose end nobody knows.
  virtual std::optional<std::uintmax_t> size() const = 0;
  virtual void Read(void* bytes, std::size_t count) = 0;
  // To be called when all is read: compares a checksum, where there is one.
  virtual void Finish() {}
};

// A regular file or a stream. "-" is standard input.
std::unique_ptr<InputFile> OpenInput(const std::string& path);

// A file that comes into being whole or not at all: it is written under a temporary name in the
// directory of `path`, and Commit() renames it. What stands at `path` until then, an input perhaps,
// is not touched. Neither errors nor signals that can be caught leave the temporary file behind.
// Symbolic links are followed, and what is no regular file, a pipe say, is written to directly. "-" is
// standard output.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Either a regular file, or one that is written to directly.
  bool is_regular() const { return !temporary_.empty(); }

  void Write(const void* bytes, std::size_t count);
  void Commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty while there is nothing to remove
  std::optional<RemovedBySignals> removed_by_signals_;
  File file_;
};

}  // namespace strew::cli

#endif  // STREW_CLI_FILE_H_
