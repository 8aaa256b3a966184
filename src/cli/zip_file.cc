// SPDX-License-Identifier: Apache-2.0
#include <zip.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/npz.h"

namespace strew::cli {
namespace {

constexpr char kNpy[] = ".npy";

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

struct CloseZipFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using ZipFile = std::unique_ptr<zip_file_t, CloseZipFile>;

[[noreturn]] void Throw(zip_error_t* error) {
  const std::string reason = zip_error_strerror(error);
  zip_error_fini(error);
  throw std::runtime_error(reason);
}

Archive OpenArchive(const std::string& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive != nullptr) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  Throw(&error);
}

// Control characters become question marks, so that no file can write them to a terminal. Names are
// UTF-8, which has U+0080 to U+009F as C2 80 to C2 9F.
std::string WithoutControls(std::string name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    if (byte < 0x20 || byte == 0x7f) name[i] = '?';
    const bool is_c1 =
        byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (is_c1) name.replace(i, 2, "?");
  }
  return name;
}

// "a, b, c": the arrays without ".npy".
std::string Listed(zip_t* archive) {
  std::string names;
  const auto count = static_cast<std::uint64_t>(zip_get_num_entries(archive, 0));
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* const entry = zip_get_name(archive, i, 0);
    std::string name = entry == nullptr ? "" : entry;
    if (name.size() > 4 && name.substr(name.size() - 4) == kNpy) name.resize(name.size() - 4);
    names += (i == 0 ? "" : ", ") + WithoutControls(name);
  }
  return names.empty() ? "no arrays" : names;
}

std::uint64_t Locate(zip_t* archive, const NpzName& name) {
  if (name.member.empty()) {
    if (zip_get_num_entries(archive, 0) == 1) return 0;
    throw std::runtime_error("one of its arrays must be named, as in '" + name.archive +
                             ":NAME'; it has " + Listed(archive));
  }
  std::int64_t at = zip_name_locate(archive, (name.member + kNpy).c_str(), 0);
  if (at < 0) at = zip_name_locate(archive, name.member.c_str(), 0);
  if (at >= 0) return static_cast<std::uint64_t>(at);
  throw std::runtime_error("it has no such array; it has " + Listed(archive));
}

class MemberFile final : public InputFile {
 public:
  explicit MemberFile(const NpzName& name) : archive_(OpenArchive(name.archive)) {
    const std::uint64_t at = Locate(archive_.get(), name);
    zip_stat_t stat;
    zip_stat_init(&stat);
    file_.reset(zip_fopen_index(archive_.get(), at, 0));
    if (file_ == nullptr || zip_stat_index(archive_.get(), at, 0, &stat) != 0) {
      Throw(zip_get_error(archive_.get()));
    }
    if ((stat.valid & ZIP_STAT_SIZE) != 0) size_ = stat.size;
  }

  std::optional<std::uintmax_t> size() const override { return size_; }

  void Read(void* bytes, std::size_t count) override {
    const std::int64_t read = zip_fread(file_.get(), bytes, count);
    if (read < 0) Throw(zip_file_get_error(file_.get()));
    if (static_cast<std::size_t>(read) != count) {
      throw std::runtime_error("the file ends too early");
    }
  }

  // The library compares the checksum when it finds the end, which a file of another size than that
  // in the directory of the archive has elsewhere.
  void Finish() override {
    char more;
    const std::int64_t read = zip_fread(file_.get(), &more, 1);
    if (read < 0) Throw(zip_file_get_error(file_.get()));
    if (read > 0) throw std::runtime_error("the file is longer than the archive says");
  }

 private:
  Archive archive_;
  ZipFile file_;  // closed before the archive
  std::optional<std::uintmax_t> size_;
};

}  // namespace

std::unique_ptr<InputFile> OpenMember(const NpzName& name) {
  return std::make_unique<MemberFile>(name);
}

}  // namespace strew::cli
