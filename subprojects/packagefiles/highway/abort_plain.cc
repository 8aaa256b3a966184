// SPDX-License-Identifier: Apache-2.0
// hwy/abort.h without std::string, so that nothing of Highway needs the C++ runtime: a program in C
// then links libstrew.a with the C compiler.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hwy/abort.h"
#include "hwy/base.h"

namespace hwy {
namespace {

AbortFunc current = nullptr;

}  // namespace

AbortFunc& GetAbortFunc() { return current; }

AbortFunc SetAbortFunc(AbortFunc func) {
  AbortFunc const previous = current;
  current = func;
  return previous;
}

void Abort(const char* file, int line, const char* format, ...) {
  char sentence[800];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  if (current != nullptr) current(file, line, sentence);
  fprintf(stderr, "%s:%d: %s\n", file, line, sentence);
  abort();
}

}  // namespace hwy
