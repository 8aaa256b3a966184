// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_NPZ_H_
#define STREW_CLI_NPZ_H_

#include <memory>
#include <optional>
#include <string>

#include "cli/file.h"

namespace strew::cli {

// An array of an archive that numpy.savez() wrote.
struct NpzName {
  std::string archive;  // its path
  std::string member;   // the name of the array; empty: the only one
};

// The name that a path such as "arrays.npz:updates" or "arrays.npz" stands for. None for others.
std::optional<NpzName> NpzMember(const std::string& path);

// The .npy file in the archive. Throws std::runtime_error with the reason.
std::unique_ptr<InputFile> OpenMember(const NpzName& name);

}  // namespace strew::cli

#endif  // STREW_CLI_NPZ_H_
