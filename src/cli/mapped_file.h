// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_MAPPED_FILE_H_
#define STREW_CLI_MAPPED_FILE_H_

#include <cstdint>
#include <string>

#include "cli/array.h"

namespace strew::cli {

// The first `size` bytes of a regular file, mapped into memory: what is written there is written to
// the file. The file must have that many. Throws std::runtime_error with the system's reason.
Bytes MapFile(const std::string& path, std::uintmax_t size);

}  // namespace strew::cli

#endif  // STREW_CLI_MAPPED_FILE_H_
