// SPDX-License-Identifier: Apache-2.0
#include "cli/npy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/file.h"
#include "cli/npy_header.h"
#include "cli/npz.h"
#include "cli/platform.h"

namespace strew::cli {
namespace {

// The file: magic, version (major, minor), length of the header in 2 bytes (version 1) or 4, little
// endian, the header, the elements.
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = kMagic.size() + 2;
constexpr std::size_t kAlignedTo = 64;  // where the elements begin

// Arrays that strew can hold need less than 1 KiB; more is a structured dtype or an attack.
constexpr std::size_t kMaxHeader = 1 << 16;

// Elements are read and written in pieces of this size, and progress is counted in megabytes.
constexpr std::int64_t kPiece = 1 << 24;
constexpr std::int64_t kMegabyte = 1'000'000;

// Calls move(bytes, count) for one piece of the elements after the other.
template <typename Move>
void MoveElements(const Array& array, Progress& progress, const Move& move) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < array.byte_count; i += count) {
    count = std::min(array.byte_count - i, kPiece);
    move(array.bytes.get() + i, static_cast<std::size_t>(count));
    progress.Advance(count);
  }
}

std::size_t ReadLittleEndian(InputFile& file, std::size_t size) {
  std::array<unsigned char, 4> bytes{};
  file.Read(bytes.data(), size);
  std::size_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

struct Head {
  std::string text;
  std::uintmax_t length;  // of everything before the elements
};

Head ReadHead(InputFile& file) {
  std::array<char, kVersionEnd> start{};
  file.Read(start.data(),
            std::min<std::uintmax_t>(start.size(), file.size().value_or(start.size())));
  if (std::string_view(start.data(), kMagic.size()) != kMagic) {
    throw std::runtime_error("it is not a .npy file");
  }
  const int major = static_cast<unsigned char>(start[kMagic.size()]);
  const int minor = static_cast<unsigned char>(start[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw std::runtime_error("version " + std::to_string(major) + "." + std::to_string(minor) +
                             " of the .npy format is not supported");
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t length = ReadLittleEndian(file, length_size);
  if (length > kMaxHeader) throw std::runtime_error("its header has more than 65536 bytes");
  std::string text(length, '\0');
  file.Read(text.data(), length);
  return {std::move(text), kVersionEnd + length_size + length};
}

Array Allocated(NpyHeader& header, std::uintmax_t byte_count) {
  try {
    return MakeArray(header.type, std::move(header.shape), header.fortran_order);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for its " + std::to_string(byte_count) + " bytes");
  }
}

// The bytes of the elements, if the file has as many.
std::uintmax_t CheckedByteCount(const NpyHeader& header, const Head& head, const InputFile& file) {
  const auto byte_count = static_cast<std::uintmax_t>(ByteCount(header.type, header.shape));
  const std::uintmax_t length = file.size().value_or(head.length + byte_count);
  // The directory of an archive may tell another size than that of what was read.
  if (length < head.length) throw std::runtime_error("its header is longer than the file");
  if (length - head.length == byte_count) return byte_count;
  throw std::runtime_error("its header promises " + std::to_string(byte_count) +
                           " bytes of elements, the file has " +
                           std::to_string(length - head.length));
}

Array MapArray(const std::string& path) {
  if (path == "-" || NpzMember(path)) {
    throw std::runtime_error("only a .npy file can be changed in place");
  }
  const std::unique_ptr<InputFile> file = OpenInput(path);
  const Head head = ReadHead(*file);
  NpyHeader header = ParseNpyHeader(head.text);
  const std::uintmax_t byte_count = CheckedByteCount(header, head, *file);
  if (header.swapped) throw std::runtime_error("its byte order is not that of this machine");
  if (head.length % static_cast<std::uintmax_t>(AlignmentOf(header.type)) != 0) {
    throw std::runtime_error("its elements begin at byte " + std::to_string(head.length) +
                             ", which is not a multiple of " +
                             std::to_string(AlignmentOf(header.type)));
  }
  const Bytes mapped = MapFile(PathOf(path), head.length + byte_count);
  Bytes elements(mapped, mapped.get() + head.length);
  return {header.type, std::move(header.shape), header.fortran_order,
          static_cast<std::int64_t>(byte_count), std::move(elements)};
}

}  // namespace

Array MapNpy(const std::string& path) {
  try {
    return MapArray(path);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot change '" + path + "' in place: " + error.what());
  }
}

Array ReadNpy(InputFile& file, Progress& progress) {
  const Head head = ReadHead(file);
  NpyHeader header = ParseNpyHeader(head.text);
  // Before memory is allocated, so that a header with a false shape allocates none.
  const std::uintmax_t byte_count = CheckedByteCount(header, head, file);
  Array array = Allocated(header, byte_count);
  progress.Begin("MB read", array.byte_count, kMegabyte);
  MoveElements(array, progress,
               [&](std::byte* bytes, std::size_t count) { file.Read(bytes, count); });
  file.Finish();
  if (header.swapped) SwapByteOrder(array);
  return array;
}

Array ReadNpy(const std::string& path, Progress& progress) {
  try {
    const std::optional<NpzName> npz = NpzMember(path);
    const std::unique_ptr<InputFile> file = npz ? OpenMember(*npz) : OpenInput(path);
    return ReadNpy(*file, progress);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot read '" + path + "': " + error.what());
  }
}

std::string NpyHead(const Array& array) {
  const std::string text = FormatNpyHeader(array);
  const std::size_t used = kVersionEnd + 2 + text.size() + 1;
  const std::size_t padding = (kAlignedTo - used % kAlignedTo) % kAlignedTo;
  const std::size_t length = text.size() + padding + 1;
  const std::string size{static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return std::string(kMagic) + '\1' + '\0' + size + text + std::string(padding, ' ') + '\n';
}

void WriteNpy(const std::string& path, const Array& array, Progress& progress) {
  const std::string head = NpyHead(array);
  try {
    OutputFile file(path);
    file.Write(head.data(), head.size());
    // Any other file may be the terminal that would show the bar.
    if (file.is_regular()) progress.Begin("MB written", array.byte_count, kMegabyte);
    MoveElements(array, progress,
                 [&](const std::byte* bytes, std::size_t count) { file.Write(bytes, count); });
    file.Commit();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot write '" + path + "': " + error.what());
  }
}

}  // namespace strew::cli
