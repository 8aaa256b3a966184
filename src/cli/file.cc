// SPDX-License-Identifier: Apache-2.0
#include "cli/file.h"

#include <cerrno>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace strew::cli {
namespace fs = std::filesystem;
namespace {

void Check(const std::error_code& error) {
  if (error) throw std::runtime_error(error.message());
}

[[noreturn]] void ThrowLastError() {
  throw std::runtime_error(std::generic_category().message(errno));
}

fs::path TemporaryName(const fs::path& directory) {
  std::random_device random;
  return directory / (".strew-" + std::to_string(random()) + "-" + std::to_string(random()));
}

// The name at the end of a chain of symbolic links, even if there is no such file.
fs::path EndOfLinks(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
    const fs::path target = fs::read_symlink(path, error);
    Check(error);
    path = path.parent_path() / target;  // the target alone if it is absolute
  }
  Check(std::make_error_code(std::errc::too_many_symbolic_link_levels));
  return path;
}

// None for a stream.
std::optional<std::uintmax_t> SizeOf(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_fifo(status) || fs::is_character_file(status)) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  Check(error);
  return size;
}

class FileOrStream final : public InputFile {
 public:
  FileOrStream(File file, std::optional<std::uintmax_t> size)
      : file_(std::move(file)), size_(size) {
    if (IsTerminal(file_.get())) throw std::runtime_error("it is a terminal");
  }

  std::optional<std::uintmax_t> size() const override { return size_; }

  void Read(void* bytes, std::size_t count) override {
    if (std::fread(bytes, 1, count, file_.get()) == count) return;
    if (std::ferror(file_.get())) ThrowLastError();
    throw std::runtime_error("the file ends too early");
  }

 private:
  const File file_;
  const std::optional<std::uintmax_t> size_;
};

}  // namespace

std::unique_ptr<InputFile> OpenInput(const std::string& path) {
  if (path == "-") return std::make_unique<FileOrStream>(Duplicate(stdin), std::nullopt);
  const fs::path file = PathOf(path);
  const std::optional<std::uintmax_t> size = SizeOf(file);
  return std::make_unique<FileOrStream>(OpenToRead(file), size);
}

OutputFile::OutputFile(const std::string& path) : target_(PathOf(path)) {
  if (path == "-") {
    file_ = Duplicate(stdout);
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_ = OpenToWrite(target_);
    return;
  }
  target_ = fs::exists(status) ? fs::canonical(target_, error) : EndOfLinks(target_);
  if (fs::exists(status)) Check(error);
  const fs::path temporary = TemporaryName(target_.parent_path());
  // Before the file exists, so that no signal can leave it behind.
  removed_by_signals_.emplace(temporary);
  file_ = MakeFile(temporary);
  temporary_ = temporary;
  // A file system without permissions is no reason to fail.
  if (fs::exists(status)) fs::permissions(temporary_, status.permissions(), error);
}

OutputFile::~OutputFile() {
  file_.reset();
  std::error_code ignored;
  if (temporary_.empty()) return;
  // Windows does not remove read-only files.
  fs::permissions(temporary_, fs::perms::owner_all, ignored);
  fs::remove(temporary_, ignored);
}

void OutputFile::Write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, file_.get()) != count) ThrowLastError();
}

void OutputFile::Commit() {
  if (std::fclose(file_.release()) != 0) ThrowLastError();
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, target_, error);
  Check(error);
  temporary_.clear();
}

}  // namespace strew::cli
