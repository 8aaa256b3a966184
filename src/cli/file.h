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

  // None for a stream, whose length is not known.
  virtual std::optional<std::uintmax_t> size() const = 0;
  virtual void Read(void* bytes, std::size_t count) = 0;
  // Call it after the last read: compares a checksum, if there is one.
  virtual void Finish() {}
};

// A regular file or a stream. "-" is standard input.
std::unique_ptr<InputFile> OpenInput(const std::string& path);

// A file that is written completely or not at all: under a temporary name in the directory of
// `path`, until Commit() renames it. An older file at `path`, perhaps an input, is not touched
// before. Errors and signals that can be caught leave no temporary file behind. Symbolic links are
// followed. If `path` is not a regular file, such as a pipe, it is written directly. "-" is
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
