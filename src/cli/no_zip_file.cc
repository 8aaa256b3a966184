// SPDX-License-Identifier: Apache-2.0
// Replaces zip_file.cc in a command that is built without libzip.
#include <stdexcept>

#include "cli/npz.h"

namespace strew::cli {

std::unique_ptr<InputFile> OpenMember(const NpzName&) {
  throw std::runtime_error("this command was built without libzip, which reads .npz archives");
}

}  // namespace strew::cli
