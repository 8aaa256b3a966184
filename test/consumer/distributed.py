# SPDX-License-Identifier: Apache-2.0
"""`meson dist` packs every file that the repository has, and nothing else.

usage: distributed.py <meson> <build> <source root>
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import house


def main(meson: str, build: str, root: str) -> None:
    wanted = house.tracked(Path(root)) or house.skip("the sources are not a checkout of git")
    command = [meson, "dist", "-C", build, "--no-tests", "--formats", "gztar", "--allow-dirty"]
    subprocess.run(command, check=True)
    (archive,) = Path(build, "meson-dist").glob("strew-*.tar.gz")
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(archive) as packed:
            packed.extractall(temporary)
        (source,) = Path(temporary).iterdir()
        found = {str(file.relative_to(source)) for file in source.rglob("*") if file.is_file()}
        house.finish([f"{name} is not in both" for name in sorted(found ^ wanted)])


main(*sys.argv[1:])
