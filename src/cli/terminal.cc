// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <cstdio>
#include <cstdlib>

#include "cli/platform.h"

namespace strew::cli {
namespace {

constexpr std::size_t kDefaultColumns = 80;

std::string Styled(const std::string& text, const char* style, std::FILE* stream) {
  const char* const unwanted = std::getenv("NO_COLOR");
  const bool wanted = unwanted == nullptr || *unwanted == '\0';
  if (!wanted || !IsTerminal(stream) || !ObeysEscapes(stream)) return text;
  return "\033[" + std::string(style) + "m" + text + "\033[0m";
}

}  // namespace

std::string Bold(const std::string& text) { return Styled(text, "1", stdout); }
std::string Red(const std::string& text) { return Styled(text, "31", stderr); }

std::size_t Columns() {
  const std::size_t columns = TerminalColumns();
  return columns > 0 ? columns : kDefaultColumns;
}

}  // namespace strew::cli
