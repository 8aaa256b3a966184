// SPDX-License-Identifier: Apache-2.0
#include "npy_check.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "cli/npy.h"

namespace strew_test {
namespace {

using strew::cli::Array;

constexpr std::size_t kMostMemory = 1 << 20;

// Numbers of this type stop at 2^64, so that the product of one with an int64_t fits.
__extension__ typedef unsigned __int128 Wide;
constexpr Wide kWidest = Wide{1} << 64;

Wide BytesOf(const Array& array) {
  Wide count = static_cast<Wide>(array.type.size);
  for (const std::int64_t dim : array.shape) {
    if (dim == 0) return 0;
    count *= static_cast<std::uint64_t>(dim);
    if (count > kWidest) count = kWidest;
  }
  return count;
}

}  // namespace

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// ---- Files -----------------------------------------------------------------------------------

MemoryFile::MemoryFile(std::string_view bytes, Kind kind)
    : rest_(bytes), size_(kind == kFile ? std::optional(bytes.size()) : std::nullopt) {}

// Fails in the words of a file on a disk.
void MemoryFile::Read(void* bytes, std::size_t count) {
  if (count > rest_.size()) throw std::runtime_error("the file ends too early");
  std::memcpy(bytes, rest_.data(), count);
  rest_.remove_prefix(count);
}

PathFile::PathFile()
    : descriptor_(memfd_create("fuzz", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
  Require(descriptor_ >= 0, "there is a file");
}

void PathFile::Fill(std::string_view bytes) const {
  const bool filled =
      ftruncate(descriptor_, 0) == 0 &&
      pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  Require(filled, "the file is written");
}

strew::cli::Progress& NoProgress() {
  static strew::cli::Progress progress;
  return progress;
}

// ---- Properties ------------------------------------------------------------------------------

bool Outcome::operator==(const Outcome& other) const {
  if (array && other.array) return AreSame(*array, *other.array);
  return !array && !other.array && reason == other.reason;
}

Outcome ReadFile(std::string_view bytes, MemoryFile::Kind kind) {
  MemoryFile file(bytes, kind);
  return OutcomeOf([&] { return strew::cli::ReadNpy(file, NoProgress()); });
}

std::string_view Elements(const Array& array) {
  return {reinterpret_cast<const char*>(array.bytes.get()),
          static_cast<std::size_t>(array.byte_count)};
}

bool AreSame(const Array& one, const Array& other) {
  return one.type.dtype == other.type.dtype && Descr(one.type) == Descr(other.type) &&
         one.shape == other.shape && one.fortran_order == other.fortran_order &&
         Elements(one) == Elements(other);
}

void CheckArray(const Array& array) {
  Require(array.type.size >= 1, "elements have bytes");
  Require(static_cast<Wide>(array.byte_count) == BytesOf(array), "the shape gives the bytes");
  const std::string head = strew::cli::NpyHead(array);
  Require(head.size() % 64 == 0, "elements are aligned in files");
  const Outcome again = ReadFile(head + std::string(Elements(array)), MemoryFile::kFile);
  if (!again.array) std::fprintf(stderr, "%s\n%s\n", head.c_str(), again.reason.c_str());
  Require(again.array && AreSame(*again.array, array), "it is the same, written and read again");
}

void RequireShowable(std::string_view text, bool lines) {
  bool showable = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n' && lines) continue;
    // U+0080 to U+009F are C2 80 to C2 9F in UTF-8.
    const bool is_c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    showable = showable && byte >= 0x20 && byte != 0x7f && !is_c1;
  }
  Require(showable, "a text has no control characters");
}

}  // namespace strew_test

// Memory of arrays, whose alignment nothing else asks for. It is guarded on both sides, as every
// block of AddressSanitizer.
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* block = nullptr;
  const bool fits = size <= strew_test::kMostMemory;
  if (!fits || posix_memalign(&block, static_cast<std::size_t>(alignment), size) != 0) {
    throw std::bad_alloc();
  }
  return block;
}

void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
