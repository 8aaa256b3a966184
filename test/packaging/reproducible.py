# SPDX-License-Identifier: Apache-2.0
"""The libraries have the same bytes when they are built again later, in another folder.

usage: reproducible.py <meson> <build> <source root> <reason to skip, or nothing> <library>...

The first build is that of the test itself. The second has the same options, and no cache of
compilers.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house

SOURCES = "include src subprojects packaging meson.build meson_options.txt".split()
# Options for what is built beside the libraries.
PARTS = ("tests", "benchmarks", "cli", "docs", "python")
# Options that change their bytes, or where their dependencies are found.
KEPT = ("buildtype", "optimization", "debug", "b_ndebug", "b_lto", "cpp_args", "cpp_link_args")
KEPT += ("force_fallback_for", "threads", "onnxruntime", "onnxruntime_headers", "werror")


def options(meson: str, build: str) -> Iterator[str]:
    listed = house.output_of([meson, "introspect", "--buildoptions", build])
    for option in json.loads(listed):
        if option["name"] in KEPT:
            value = option["value"]
            value = ",".join(value) if isinstance(value, list) else str(value).lower()
            yield f"-D{option['name']}={value}"
    yield from (f"-D{part}=disabled" for part in PARTS)


def again(meson: str, build: str, root: Path, folder: Path, libraries: list[str]) -> Path:
    source = folder / "another folder" / "with these sources"
    source.mkdir(parents=True)
    for name in SOURCES:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, source / name)
    made = folder / "second"
    setup = [meson, "setup", str(made), str(source), "--wrap-mode=nodownload"]
    subprocess.run([*setup, *options(meson, build)], check=True)
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    ninja = [house.require("ninja"), "-C", str(made), *libraries]
    subprocess.run(ninja, check=True, env=environment)
    return made


def main(meson: str, build: str, root: str, reason: str, *libraries: str) -> None:
    if reason:
        house.skip(reason)
    names = [os.path.relpath(library, build) for library in libraries]
    with tempfile.TemporaryDirectory() as folder:
        made = again(meson, build, Path(root), Path(folder), names)
        house.finish(
            f"other bytes: {name}"
            for name in names
            if Path(build, name).read_bytes() != (made / name).read_bytes()
        )


main(*sys.argv[1:])
