// SPDX-License-Identifier: Apache-2.0
//
// Shared by the fuzzers of files: files in memory, and the properties of arrays that are read from
// them. An allocation of an array of more than 1 MiB fails, as if memory were short.
#ifndef STREW_TEST_FUZZ_NPY_CHECK_H_
#define STREW_TEST_FUZZ_NPY_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/array.h"
#include "cli/file.h"
#include "cli/progress.h"

namespace strew_test {

// Ends the program, which tells the fuzzer of a finding, unless `good`.
void Require(bool good, const char* what);

// The bytes must outlive it.
class MemoryFile final : public strew::cli::InputFile {
 public:
  enum Kind { kFile, kStream };

  MemoryFile(std::string_view bytes, Kind kind);

  std::optional<std::uintmax_t> size() const override { return size_; }
  void Read(void* bytes, std::size_t count) override;

 private:
  std::string_view rest_;
  const std::optional<std::uintmax_t> size_;
};

// A file that has a path and no place on a disk, so that a finding leaves nothing behind.
class PathFile {
 public:
  PathFile();

  void Fill(std::string_view bytes) const;
  const std::string& path() const { return path_; }

 private:
  const int descriptor_;
  const std::string path_;
};

// Draws nothing.
strew::cli::Progress& NoProgress();

// An array, or the reason why it cannot be read.
struct Outcome {
  std::optional<strew::cli::Array> array;
  std::string reason;

  bool operator==(const Outcome& other) const;
};

// Calls read(), which returns an array. The reason of a failure must be a sentence for a terminal.
template <typename Read>
Outcome OutcomeOf(const Read& read);

Outcome ReadFile(std::string_view bytes, MemoryFile::Kind kind);

std::string_view Elements(const strew::cli::Array& array);

// The same dtype, as files spell it, shape, order and elements.
bool AreSame(const strew::cli::Array& one, const strew::cli::Array& other);

// The array has as many bytes as its shape and its dtype say, and is the same after it was written
// and read again.
void CheckArray(const strew::cli::Array& array);

// No byte of the text makes a terminal do anything but show it, apart from new lines if `lines`.
void RequireShowable(std::string_view text, bool lines);

// ---- Inline functions ----

template <typename Read>
Outcome OutcomeOf(const Read& read) {
  try {
    return {read(), ""};
  } catch (const std::runtime_error& error) {
    Require(*error.what() != '\0', "a failure has a reason");
    RequireShowable(error.what(), /*lines=*/false);
    return {std::nullopt, error.what()};
  }
}

}  // namespace strew_test

#endif  // STREW_TEST_FUZZ_NPY_CHECK_H_
