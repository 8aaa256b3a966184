// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <cstdlib>
#include <cstring>

#if __has_include(<sys/ioctl.h>) && __has_include(<unistd.h>)
#include <sys/ioctl.h>
#include <unistd.h>
#define STREW_HAS_POSIX_TERMINALS 1
#else
#define STREW_HAS_POSIX_TERMINALS 0
#endif

namespace strew::cli {
namespace {

constexpr std::size_t kDefaultColumns = 80;

bool HasColours() {
  const char* const unwanted = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return !dumb && (unwanted == nullptr || *unwanted == '\0');
}

std::string Styled(const std::string& text, const char* style, bool is_terminal) {
  return is_terminal && HasColours() ? "\033[" + std::string(style) + "m" + text + "\033[0m" : text;
}

}  // namespace

std::string Bold(const std::string& text) { return Styled(text, "1", OutputIsTerminal()); }
std::string Red(const std::string& text) { return Styled(text, "31", ErrorIsTerminal()); }

#if STREW_HAS_POSIX_TERMINALS

bool OutputIsTerminal() { return isatty(STDOUT_FILENO) == 1; }
bool ErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

bool InForeground() {
  // -1 where the terminal does not control this process, and nothing is known.
  const pid_t foreground = tcgetpgrp(STDERR_FILENO);
  return foreground == -1 || foreground == getpgrp();
}

std::size_t Columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kDefaultColumns;
}

#else

bool OutputIsTerminal() { return false; }
bool ErrorIsTerminal() { return false; }
bool InForeground() { return false; }
std::size_t Columns() { return kDefaultColumns; }

#endif

}  // namespace strew::cli
