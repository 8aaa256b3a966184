# SPDX-License-Identifier: Apache-2.0
"""`ninja uninstall` leaves nothing of what `meson install` put down.

usage: uninstalled.py <meson> <build> <prefix> <libdir>
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import house
import staging


def main(meson: str, build: str, prefix: str, folder: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        staged = staging.install(meson, build, Path(root), prefix, folder, moves=False)
        if not staged.libraries.exists():
            house.finish(["nothing was installed"])
        command = [house.require("ninja"), "-C", build, "uninstall"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        left = [str(file) for file in staged.root.rglob("*") if not file.is_dir()]
        house.finish(f"not removed: {file}" for file in left)


main(*sys.argv[1:])
