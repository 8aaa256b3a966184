# SPDX-License-Identifier: Apache-2.0
"""The packages for Debian are built, please lintian, and work when they are unpacked.

usage: debian.py <source root>
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import archive
import house

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "python"), str(HERE.parents[1] / "packaging")]
import run  # noqa: E402
import wheels  # noqa: E402

SCRIPT = HERE.parents[1] / "packaging" / "debs.sh"
PACKAGES = ("libstrew0", "libstrew-dev", "strew", "python3-strew")
PYTHON = "/usr/bin/python3"  # that of the system
IMPORTED = "import numpy, strew; print(strew.scatter_update(numpy.zeros(3), [1], 5.0).tolist())"


def nanobind(folder: Path) -> Path:
    """A folder with it alone, since other packages here are not those of the system's Python."""
    (found,) = find_spec("nanobind").submodule_search_locations
    shutil.copytree(found, folder / "nanobind")
    return folder


def built(sdist: Path, folder: Path) -> Path:
    packages = folder / "packages"
    environment = {**os.environ, "PYTHONPATH": str(nanobind(folder / "modules"))}
    command = [*wheels.without_network(), "sh", str(SCRIPT), str(sdist), str(packages)]
    build = subprocess.run(command, env=environment)
    if build.returncode == house.SKIPPED:
        house.skip("packages to build with are missing: packaging/debs.sh names them")
    build.check_returncode()
    return packages


def problems(packages: Path, folder: Path) -> Iterator[str]:
    root = folder / "root"
    for name in PACKAGES:
        found = list(packages.glob(f"{name}_*.deb"))
        if len(found) != 1:
            yield f"there is no package {name}"
            return
        subprocess.run(["dpkg-deb", "-x", str(found[0]), str(root)], check=True)
    (libraries,) = (root / "usr/lib").glob("*/libstrew.so.0")
    there = {
        "PATH": os.environ["PATH"],
        "LD_LIBRARY_PATH": str(libraries.parent),
        "PYTHONPATH": str(root / "usr/lib/python3/dist-packages"),
    }
    subprocess.run([str(root / "usr/bin/strew"), "info"], check=True, env=there)
    printed = subprocess.check_output([PYTHON, "-c", IMPORTED], env=there, text=True)
    if printed.strip() != "[0.0, 5.0, 0.0]":
        yield f"the package for Python prints {printed}"


def main(root: str) -> None:
    for program in ("dpkg-buildpackage", "dh", "dh_python3", "lintian", "fakeroot"):
        house.require(program)
    lacks = [run.lack(package) for package in ("meson-python", "nanobind")]
    if any(lacks):
        house.skip(", ".join(filter(None, lacks)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = built(archive.sdist(Path(root), folder), folder)
        house.finish(problems(packages, folder))


main(*sys.argv[1:])
