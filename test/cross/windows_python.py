# SPDX-License-Identifier: Apache-2.0
"""Lets GCC for Windows read the sources of the Python package and of nanobind with the headers that
CPython has there, with and without the stable ABI. Nothing is linked.

usage: windows_python.py <source root> <folder to keep the headers in> <folder of nanobind>

The headers are those of the sources of CPython in a newer Debian. That of Debian 12 takes pointers of
MinGW for 4 bytes long.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building import ROOT, SKIPPED

sys.path.append(str(ROOT / "packaging"))
import newer_debian  # noqa: E402

COMPILER = "x86_64-w64-mingw32-g++-posix"
PYTHON = "python3.13"  # of newer_debian.SUITE
# The build of CPython for Windows copies this file, and changes only that of free-threaded builds.
SETTINGS = "PC/pyconfig.h.in"
OPTIONS = ["-fsyntax-only", "-std=c++17", "-DSTREW_STATIC", "-DNB_DOMAIN=strew"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
ABIS = {"the ABI of one version": [], "the stable ABI": ["-DPy_LIMITED_API=0x030C0000"]}


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks the headers alone, without the folder that all files of the archive are in."""
    with tarfile.open(archive) as files:
        for member in files:
            name = member.name.partition("/")[2]
            if member.isfile() and (name.startswith("Include/") or name == SETTINGS):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(files.extractfile(member).read())
    (folder / SETTINGS).rename(folder / "PC/pyconfig.h")


def headers_in(kept: Path) -> Path:
    """The folder of the headers, which are downloaded if they are not there."""
    headers = kept / PYTHON
    if headers.exists():
        return headers
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept) as name:
        folder = Path(name)
        newer_debian.download(folder, "deb-src", "source", "--download-only", PYTHON)
        unpack(next(folder.glob(f"{PYTHON}_*.orig.tar.xz")), folder / PYTHON)
        (folder / PYTHON).rename(headers)
    return headers


def readings(root: Path, headers: Path, nanobind: Path) -> Iterator[list[str]]:
    folders = [nanobind / "include", nanobind / "ext/robin_map/include"]
    folders += [headers / "Include", headers / "PC"]
    includes = [f"-I{root / 'include'}", f"-I{root / 'src'}"]
    includes += [word for folder in folders for word in ("-isystem", str(folder))]
    sources = {source: WARNINGS for source in sorted((root / "src/python").glob("*.cc"))}
    assert sources, f"no source below {root}"
    sources[nanobind / "src/nb_combined.cpp"] = ["-w"]
    for abi in ABIS.values():
        for source, warnings in sources.items():
            yield [COMPILER, *OPTIONS, *abi, *warnings, *includes, str(source)]


def main(root: str, kept: str, nanobind: str) -> int:
    if shutil.which(COMPILER) is None:
        print(f"skipped: {COMPILER} is not installed (Debian package g++-mingw-w64-x86-64-posix)")
        return SKIPPED
    try:
        headers = headers_in(Path(kept).resolve())
    except (OSError, SystemExit, subprocess.CalledProcessError) as error:
        reason = error
        if isinstance(error, subprocess.CalledProcessError):
            reason = f"{error.cmd[0]} ended with exit {error.returncode}"
        print(f"skipped: no sources of {PYTHON} from Debian {newer_debian.SUITE}: {reason}")
        return SKIPPED
    commands = list(readings(Path(root), headers, Path(nanobind)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda command: subprocess.run(command).returncode, commands))
    failed = sum(code != 0 for code in done)
    print(f"{failed} of {len(done)} failed, for {' and '.join(ABIS)}")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
