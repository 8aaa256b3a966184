// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_ELEMENT_TEXT_H_
#define STREW_CLI_ELEMENT_TEXT_H_

#include <cstddef>
#include <string>

#include "cli/array.h"

namespace strew::cli {

// One element as Python shows it: a number with the fewest digits that identify it, 'text',
// b'bytes'. `element` needs no alignment.
std::string ElementText(const ElementType& type, const std::byte* element);

}  // namespace strew::cli

#endif  // STREW_CLI_ELEMENT_TEXT_H_
