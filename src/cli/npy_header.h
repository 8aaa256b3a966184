// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_NPY_HEADER_H_
#define STREW_CLI_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/array.h"

namespace strew::cli {

// The contents of the Python dictionary at the head of a .npy file.
struct NpyHeader {
  ElementType type;
  bool swapped;  // the file's byte order is not the machine's
  bool fortran_order;
  std::vector<std::int64_t> shape;
};

// Throws std::runtime_error with the reason.
NpyHeader ParseNpyHeader(std::string_view text);

// The dictionary for `array`, without padding.
std::string FormatNpyHeader(const Array& array);

}  // namespace strew::cli

#endif  // STREW_CLI_NPY_HEADER_H_
