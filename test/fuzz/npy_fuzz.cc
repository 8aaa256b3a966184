// SPDX-License-Identifier: Apache-2.0
//
// The first byte chooses: the others are a .npy file, or the text of the header of one with as many
// elements as the text promises, or nearly. An array that is read has the elements of the file, is
// the same from a stream and where the file is mapped, and can be printed and cast.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "cli/array.h"
#include "cli/cast.h"
#include "cli/npy.h"
#include "cli/npy_header.h"
#include "cli/print.h"
#include "npy_check.h"

namespace strew_test {
namespace {

using strew::cli::Array;
using strew::cli::ElementType;

// ---- Files -----------------------------------------------------------------------------------

// Printing and casting more would take most of the time.
constexpr std::int64_t kMostElements = 1024;

// A tilde stands for so many letters: a header is nearly as long as headers may be.
constexpr std::size_t kLetters = 64400;

// The bytes that the header promises; 0 if it promises none or too many.
std::int64_t Promised(std::string_view text) {
  try {
    const strew::cli::NpyHeader header = strew::cli::ParseNpyHeader(text);
    const std::int64_t count = strew::cli::ByteCount(header.type, header.shape);
    return count <= kMostElements ? count : 0;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

std::string FileOf(std::string_view input) {
  if (input.empty()) return "";
  const auto choice = static_cast<unsigned char>(input[0]);
  std::string text(input.substr(1));
  const std::size_t tilde = text.find('~');
  if (tilde != std::string::npos) text.replace(tilde, 1, kLetters, 'a');
  const char major = static_cast<char>(choice % 4);
  if (major == 0) return text;
  std::string file = std::string("\x93NUMPY") + major + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  }
  file += text;
  std::int64_t count = Promised(text);
  if (choice >> 4 == 1) ++count;
  if (choice >> 4 == 2 && count > 0) --count;
  for (std::int64_t i = 0; i < count; ++i) file += static_cast<char>(7 * i + choice);
  return file;
}

// ---- Properties ------------------------------------------------------------------------------

// A file of the other byte order has them reversed.
void CheckElements(const Array& array, std::string_view file) {
  Require(Elements(array).size() <= file.size(), "the elements are in the file");
  const std::string_view tail = file.substr(file.size() - Elements(array).size());
  if (Elements(array) == tail) return;
  Array swapped = MakeArray(array.type, array.shape, array.fortran_order);
  std::copy_n(array.bytes.get(), array.byte_count, swapped.bytes.get());
  SwapByteOrder(swapped);
  Require(Elements(swapped) == tail, "the elements are those of the file");
}

// A stream has no size that would tell its end: it may be longer, and no shorter.
void CheckStreams(const Array& array, const std::string& file) {
  const Outcome stream = ReadFile(file + "more", MemoryFile::kStream);
  Require(stream.array && AreSame(*stream.array, array), "a stream gives the same array");
  const Outcome cut =
      ReadFile(std::string_view(file).substr(0, file.size() - 1), MemoryFile::kStream);
  Require(!cut.array, "a stream that is cut off gives no array");
}

void CheckMapped(const Array& array, std::string_view file) {
  static const PathFile copy;
  copy.Fill(file);
  const Outcome mapped = OutcomeOf([&] { return strew::cli::MapNpy(copy.path()); });
  const bool swapped = mapped.reason.find("byte order") != std::string::npos;
  const bool unaligned = mapped.reason.find("not a multiple") != std::string::npos;
  Require(swapped || unaligned || (mapped.array && AreSame(*mapped.array, array)),
          "the mapped file gives the same array");
}

// The types of numbers that files have.
std::vector<ElementType> Types() {
  std::vector<ElementType> types;
  for (strew_dtype dtype = 1; dtype < strew::kDtypesEnd; ++dtype) {
    const strew::DtypeInfo& row = strew::kDtypes[dtype];
    if (row.npy_kind != 'V') types.push_back(*strew::cli::MakeElementType(row.npy_kind, row.size));
  }
  return types;
}

bool IsInteger(const ElementType& type) { return type.kind == 'i' || type.kind == 'u'; }

// Every integer of 32 bits is a float64 as well.
void CheckCasts(const Array& array) {
  static const std::vector<ElementType> types = Types();
  for (const ElementType& type : types) {
    const Outcome cast = OutcomeOf([&] { return strew::cli::Cast(array, type); });
    if (!cast.array) continue;
    Require(cast.array->shape == array.shape, "a cast keeps the shape");
    Require(cast.array->byte_count / type.size == array.byte_count / array.type.size,
            "a cast keeps the elements");
    if (!IsInteger(array.type) || array.type.size > 4 || type.dtype != STREW_FLOAT64) continue;
    Require(AreSame(strew::cli::Cast(*cast.array, array.type), array), "integers stay the same");
  }
}

void CheckFile(const std::string& file) {
  const Outcome outcome = ReadFile(file, MemoryFile::kFile);
  if (!outcome.array) {
    ReadFile(file, MemoryFile::kStream);
    return;
  }
  const Array& array = *outcome.array;
  CheckArray(array);
  CheckElements(array, file);
  CheckStreams(array, file);
  CheckMapped(array, file);
  RequireShowable(strew::cli::FormatArray(array), /*lines=*/true);
  CheckCasts(array);
}

}  // namespace
}  // namespace strew_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  strew_test::CheckFile(strew_test::FileOf({reinterpret_cast<const char*>(bytes), size}));
  return 0;
}
