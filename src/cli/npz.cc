// SPDX-License-Identifier: Apache-2.0
#include "cli/npz.h"

#include <string_view>

namespace strew::cli {
namespace {

constexpr std::string_view kSuffix = ".npz";

}  // namespace

std::optional<NpzName> NpzMember(const std::string& path) {
  const std::size_t colon = path.find(std::string(kSuffix) + ":");
  if (colon != std::string::npos) {
    const std::size_t end = colon + kSuffix.size();
    return NpzName{path.substr(0, end), path.substr(end + 1)};
  }
  const bool is_archive =
      path.size() > kSuffix.size() && path.substr(path.size() - kSuffix.size()) == kSuffix;
  return is_archive ? std::optional<NpzName>({path, ""}) : std::nullopt;
}

}  // namespace strew::cli
