# SPDX-License-Identifier: Apache-2.0
"""A library in the place of strew's that hands every call on and writes down which were made.

The function that an environment variable names fails instead.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import declarations

FAILING = "STREW_RECORDER_FAILING"
HEAD = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strew/strew.h>

static int fails(const char *name) {
  const char *failing = getenv("%s");
  return failing != NULL && strcmp(failing, name) == 0;
}

static void *first_call(const char *name) {
  void *library = dlopen("%s", RTLD_NOW | RTLD_LOCAL);
  FILE *record = fopen("%s", "a");
  if (library == NULL || record == NULL) abort();
  fprintf(record, "%%s\\n", name);
  fclose(record);
  return dlsym(library, name);
}
"""
FAILURE = """
  if (fails("%s")) return STREW_OUT_OF_MEMORY;"""
FUNCTION = """
%s {%s
  static __typeof__(&%s) next;
  if (next == NULL) next = (__typeof__(next))first_call("%s");
  return next(%s);
}
"""


def arguments_of(declaration: str) -> str:
    inside = declaration[declaration.index("(") + 1 : declaration.rindex(")")]
    return "" if inside == "void" else ", ".join(re.findall(r"(\w+)(?:,|$)", inside))


class Recorder:
    """Builds `folder`/libstrew.so."""

    def __init__(self, folder: Path, library: Path, header: Path, compiler: list[str]):
        folder.mkdir()
        self.folder = folder
        self._functions = declarations.functions(header.read_text())
        self._record = folder / "calls"
        self._record.touch()
        source = folder / "recorder.c"
        bodies = "".join(map(self._body, self._functions))
        source.write_text(HEAD % (FAILING, library, self._record) + bodies)
        options = ["-shared", "-fPIC", f"-I{header.parents[1]}", "-o", str(folder / "libstrew.so")]
        subprocess.run([*compiler, *options, str(source), "-ldl"], check=True)

    def _body(self, name: str) -> str:
        declaration = self._functions[name]
        can_fail = declaration.startswith("strew_status ")
        failure = FAILURE % name if can_fail else ""
        return FUNCTION % (declaration, failure, name, name, arguments_of(declaration))

    def missing(self) -> list[str]:
        called = self._record.read_text().split()
        return [name for name in self._functions if name not in called]
