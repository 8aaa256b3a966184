# SPDX-License-Identifier: Apache-2.0
"""Fetches the C headers of ONNX Runtime from a newer Debian and prints the folder for pkg-config.

usage: onnxruntime_headers.py <folder>

Packages of PyPI do not have them, and Debian 12 does not have the package. They need nothing of the
newer Debian, so that its archive is unpacked into the folder and nothing is installed.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "packaging"))
import newer_debian  # noqa: E402

PACKAGE = "libonnxruntime-dev"
MODULE = "libonnxruntime.pc"


def download(folder: Path) -> Path:
    newer_debian.download(folder, "deb", "download", PACKAGE)
    return next(folder.glob(f"{PACKAGE}_*.deb"))


def move(file: Path, folder: Path) -> None:
    """Its paths begin with the folder now."""
    file.write_text(re.sub(r"^prefix=.*$", f"prefix={folder}/usr", file.read_text(), flags=re.M))


def main(name: str) -> None:
    folder = Path(name).resolve()
    modules = f"usr/lib/*/pkgconfig/{MODULE}"
    if not any(folder.glob(modules)):
        folder.mkdir(parents=True, exist_ok=True)
        archive = download(folder)
        subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=True)
        move(next(folder.glob(modules)), folder)
    print(next(folder.glob(modules)).parent)


main(*sys.argv[1:])
