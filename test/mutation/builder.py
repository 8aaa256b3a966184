# SPDX-License-Identifier: Apache-2.0
"""Builds the shared library with one file changed: only what includes that file is compiled. Tests
of the inside, which have the static library, are linked with what was compiled."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import house

# Tests run a moment each: what is compiled for them need not be fast.
FLAGS = ["-O0", "-w"]
# No mutant is compiled twice.
NO_CACHE = {"CCACHE_DISABLE": "1"}


def without_dependencies(command: list[str]) -> list[str]:
    """A compiler's command that does not write the file of dependencies, which is the build's."""
    kept = []
    parts = iter(command)
    for part in parts:
        if part in ("-MF", "-MQ"):
            next(parts)
        elif part != "-MD":
            kept.append(part)
    return kept


def replaced(command: list[str], option: str, value: str) -> list[str]:
    at = command.index(option) + 1
    return [*command[:at], value, *command[at + 1 :]]


@dataclass(frozen=True)
class Made:
    """The library with a file changed, and its objects that this changes."""

    folder: Path
    library: Path
    objects: list[str]


class Builder:
    def __init__(self, build: Path, library: Path, programs: Iterable[str]) -> None:
        self.build = build
        self.name = str(library.relative_to(build))
        self.compile = {}
        self.object = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            # Kernels take long to compile, and use only types of the headers that are changed.
            # Their tables ask these headers for the kernel of a reduction.
            source = (build / entry["file"]).resolve()
            is_kernel = source.parent.name == "kernel" and source.name != "kernel.cc"
            if entry["output"].startswith(f"{self.name}.p/") and not is_kernel:
                self.compile[source] = without_dependencies(shlex.split(entry["command"]))
                self.object[source] = entry["output"]
        self.link = self.link_of(self.name)
        static = str(Path(self.name).parent / "libstrew.a")
        links = {program: self.link_of(f"test/{program}") for program in programs}
        self.inside = {program: link for program, link in links.items() if static in link}
        self.users = self.users_of_files(self.ninja("deps"))

    def ninja(self, tool: str, *arguments: str) -> str:
        return house.output_of(["ninja", "-C", str(self.build), "-t", tool, *arguments])

    def link_of(self, target: str) -> list[str]:
        return shlex.split(self.ninja("commands", "-s", target))

    def users_of_files(self, deps: str) -> dict[Path, set[Path]]:
        """For each file the sources that it is part of. The first of each list is the source."""
        users: dict[Path, set[Path]] = {}
        source = None
        for line in deps.splitlines():
            if not line.startswith("    "):
                source = None
                continue
            path = (self.build / line.strip()).resolve()
            source = source or path
            if source in self.compile:
                users.setdefault(path, set()).add(source)
        return users

    def program(self, name: str, made: Made) -> Path:
        """The program of a test, linked anew if it has the static library: the objects that come
        first are taken."""
        if name not in self.inside:
            return self.build / "test" / name
        program = made.folder / Path(name).name
        command = replaced(self.inside[name], "-o", str(program))
        at = command.index("-o") + 2
        command = [*command[:at], *made.objects, *command[at:]]
        subprocess.run(command, cwd=self.build, check=True)
        return program

    def make(self, file: Path, include: Path, text: str, folder: Path) -> Made | None:
        """The library with this text in the place of a file; None where that does not compile."""
        changed = folder / "include" / include
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        objects = {}
        for source in sorted(self.users[file]):
            made = folder / Path(self.object[source]).name
            command = replaced(self.compile[source], "-o", str(made))
            # The source is the last word.
            text_file = changed if source == file else source
            command = [*command[:-1], str(text_file), *FLAGS]
            # A compiler may have a launcher before it.
            first_option = next(i for i, part in enumerate(command) if part.startswith("-"))
            command.insert(first_option, f"-I{folder / 'include'}")
            quiet = {"stderr": subprocess.DEVNULL, "env": {**os.environ, **NO_CACHE}}
            if subprocess.run(command, cwd=self.build, **quiet).returncode != 0:
                return None
            objects[self.object[source]] = str(made)
        library = folder / Path(self.name).name
        command = [objects.get(part, part) for part in replaced(self.link, "-o", str(library))]
        subprocess.run(command, cwd=self.build, check=True)
        return Made(folder, library, list(objects.values()))
