# SPDX-License-Identifier: Apache-2.0
"""Builds the shared library with one file changed: only what includes that file is compiled."""

import json
import shlex
import subprocess
from pathlib import Path

import house

# Tests run a moment each: what is compiled for them need not be fast.
FLAGS = ["-O0", "-w"]


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


class Builder:
    def __init__(self, build: Path, library: Path) -> None:
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
        ninja = ["ninja", "-C", str(build), "-t"]
        self.link = shlex.split(house.output_of([*ninja, "commands", self.name]).splitlines()[-1])
        self.users = self.users_of_files(house.output_of([*ninja, "deps"]))

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

    def make(self, file: Path, include: Path, text: str, folder: Path) -> Path | None:
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
            if subprocess.run(command, cwd=self.build, stderr=subprocess.DEVNULL).returncode != 0:
                return None
            objects[self.object[source]] = str(made)
        library = folder / Path(self.name).name
        command = [objects.get(part, part) for part in replaced(self.link, "-o", str(library))]
        subprocess.run(command, cwd=self.build, check=True)
        return library
