# SPDX-License-Identifier: Apache-2.0
"""A Meson project that takes strew as a subproject builds it, offline, and runs.

usage: subproject.py <meson> <source root>
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
OPTIONS = [
    "--force-fallback-for=strew",
    "--wrap-mode=nodownload",
    "-Dbuildtype=plain",
    "-Dstrew:tests=disabled",
    "-Dstrew:benchmarks=disabled",
]


def main(meson: str, root: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        shutil.copy(HERE / "consumer.c", project)
        shutil.copy(HERE / "subproject" / "meson.build", project)
        (project / "subprojects").mkdir()
        (project / "subprojects" / "strew").symlink_to(root)
        build = str(project / "build")
        subprocess.run([meson, "setup", build, folder, *OPTIONS], check=True)
        subprocess.run([meson, "test", "-C", build, "--verbose"], check=True)


main(*sys.argv[1:])
