// SPDX-License-Identifier: Apache-2.0
//
// Bytes are choices of an archive, some of its bytes damaged, and of a name in it. A whole archive
// gives the same array or the same sentence as the .npy file inside; a damaged one gives an array
// that is consistent, or a sentence.
#include <zip.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/array.h"
#include "cli/npy.h"
#include "cli/npz.h"
#include "npy_check.h"
#include "reference/random.h"

namespace strew_test {
namespace {

using strew::cli::Array;
using strew::cli::ElementType;
using strew::reference::Random;

// ---- Archives --------------------------------------------------------------------------------

struct Member {
  std::string name;
  std::string file;
  bool deflated;
};

std::string AnyName(Random& random) {
  static const std::vector<std::string> names = {"a.npy", "b.npy", "a", "b", "a.npy.npy"};
  if (!random.OneIn(4)) return random.Pick(names);
  std::string name;
  for (std::int64_t i = random.Between(1, 6); i > 0; --i) {
    name += static_cast<char>(random.Between(1, 255));
  }
  return name;
}

Array AnyArray(Random& random) {
  static const std::vector<ElementType> types = {
      *strew::cli::MakeElementType('f', 4),
      *strew::cli::MakeElementType('b', 1),
      *strew::cli::MakeElementType('U', 2),
      *strew::cli::MakeElementType('V', 300),
  };
  std::vector<std::int64_t> shape(static_cast<std::size_t>(random.Between(0, 2)));
  for (std::int64_t& dim : shape) dim = random.Between(0, 3);
  Array array = strew::cli::MakeArray(random.Pick(types), shape, random.OneIn(2));
  const auto first = static_cast<std::uint8_t>(random.Between(0, 255));
  for (std::int64_t i = 0; i < array.byte_count; ++i) {
    array.bytes.get()[i] = static_cast<std::byte>(first + i / 4);
  }
  return array;
}

// Damages a few bytes at places that the fuzzer chooses.
void Damage(Random& random, std::string& bytes) {
  if (bytes.empty()) return;
  const auto last = static_cast<std::int64_t>(bytes.size()) - 1;
  for (std::int64_t i = random.Between(1, 8); i > 0; --i) {
    const auto at = static_cast<std::size_t>(random.Between(0, last));
    bytes[at] = static_cast<char>(random.Between(0, 255));
  }
  if (random.OneIn(4)) bytes.resize(static_cast<std::size_t>(random.Between(0, last)));
}

std::vector<Member> AnyMembers(Random& random) {
  std::vector<Member> members;
  for (std::int64_t i = random.Between(0, 3); i > 0; --i) {
    const Array array = AnyArray(random);
    Member member{AnyName(random), strew::cli::NpyHead(array), random.OneIn(2)};
    member.file += Elements(array);
    if (random.OneIn(4)) Damage(random, member.file);
    if (random.OneIn(4)) member.file += "more";
    members.push_back(std::move(member));
  }
  return members;
}

// Adds those of the members that an archive can have: no name is that of two. Returns them.
std::vector<Member> Add(zip_t* archive, const std::vector<Member>& members) {
  std::vector<Member> added;
  for (const Member& member : members) {
    const auto added_already = static_cast<zip_uint64_t>(added.size());
    zip_source_t* const source =
        zip_source_buffer(archive, member.file.data(), member.file.size(), /*freep=*/0);
    Require(source != nullptr, "there is a source");
    if (zip_file_add(archive, member.name.c_str(), source, 0) < 0) {
      zip_source_free(source);
      continue;
    }
    zip_set_file_compression(archive, added_already,
                             member.deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive, added_already, 1'000'000'000, 0);  // and not that of this run
    added.push_back(member);
  }
  return added;
}

// Leaves the members that the archive has.
std::string Packed(std::vector<Member>& members) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(nullptr, 0, /*freep=*/0, &error);
  zip_t* const archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  Require(archive != nullptr, "there is an archive");
  zip_source_keep(source);
  const std::vector<Member> all = std::move(members);
  members = Add(archive, all);
  Require(zip_close(archive) == 0, "the archive is written");
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::string bytes;
  // An archive without members is an empty file, which is none.
  if (!members.empty() && zip_source_stat(source, &stat) == 0) {
    bytes.resize(static_cast<std::size_t>(stat.size));
    const bool read =
        zip_source_open(source) == 0 && zip_source_read(source, bytes.data(), bytes.size()) ==
                                            static_cast<zip_int64_t>(bytes.size());
    Require(read, "the archive is read");
    zip_source_close(source);
  }
  zip_source_free(source);
  return bytes;
}

// Changes the size of the first member in the directory of the archive. Files of 4 more bytes than
// their headers promise are common, so that the directory often tells the size that was promised.
void ChangeSize(Random& random, std::string& archive) {
  constexpr std::size_t kEnd = 22;    // the bytes of the record at the end
  constexpr std::size_t kPlace = 16;  // in that record: the place of the directory
  constexpr std::size_t kSize = 24;   // in an entry of the directory
  std::size_t place = 0;
  for (std::size_t i = 4; i-- > 0;) {
    place = place << 8 | static_cast<unsigned char>(archive[archive.size() - kEnd + kPlace + i]);
  }
  char& byte = archive[place + kSize];
  byte = static_cast<char>(byte - (random.OneIn(2) ? 4 : random.Between(1, 255)));
}

// ---- Properties ------------------------------------------------------------------------------

Outcome ReadMember(const std::string& archive, const std::string& name) {
  static const PathFile file;
  file.Fill(archive);
  return OutcomeOf([&] {
    return strew::cli::ReadNpy(*strew::cli::OpenMember({file.path(), name}), NoProgress());
  });
}

bool IsAscii(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// The member that a name stands for.
const Member* Find(const std::vector<Member>& members, const std::string& name) {
  if (name.empty()) return members.size() == 1 ? &members[0] : nullptr;
  for (const std::string& full : {name + ".npy", name}) {
    for (const Member& member : members) {
      if (member.name == full) return &member;
    }
  }
  return nullptr;
}

void CheckAny(Random& random) {
  std::vector<Member> members = AnyMembers(random);
  const std::string name = random.OneIn(4) ? "" : random.OneIn(2) ? "a" : AnyName(random);
  std::string archive = Packed(members);
  const std::int64_t choice = random.Between(0, 3);
  const bool damaged = choice == 1;
  const bool resized = choice == 2 && members.size() == 1;
  if (damaged) Damage(random, archive);
  if (resized) ChangeSize(random, archive);
  const Outcome outcome = ReadMember(archive, name);
  if (outcome.array) CheckArray(*outcome.array);
  if (resized) Require(!outcome.array, "a member of another size is not read");
  // libzip takes names of other bytes for those of an old code page.
  if (damaged || resized || !IsAscii(name)) return;
  const Member* const member = Find(members, name);
  if (member == nullptr) {
    Require(!outcome.array, "no other array is read");
    return;
  }
  const Outcome expected = ReadFile(member->file, MemoryFile::kFile);
  if (!(outcome == expected)) {
    std::fprintf(stderr, "in an archive: %s\nas a file: %s\n", outcome.reason.c_str(),
                 expected.reason.c_str());
  }
  Require(outcome == expected, "an archive makes no difference");
}

}  // namespace
}  // namespace strew_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  strew_test::Random random(bytes, size);
  strew_test::CheckAny(random);
  return 0;
}
