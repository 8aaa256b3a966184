# SPDX-License-Identifier: Apache-2.0
"""Leaves of Highway, in an archive of the sources, what the build reads and its licences.

usage: strip_highway.py, which Meson runs for `meson dist --include-subprojects`

This makes 0.4 MB of 2.2, compressed.
"""

import os
import shutil
from pathlib import Path

ROOT = Path(os.environ["MESON_DIST_ROOT"])
KEPT = ("LICENSE*", "README.md", "abort_plain.cc", "meson.build", "hwy/*.h", "hwy/ops/*.h")
ADDED = ROOT / "subprojects" / "packagefiles" / "highway"
SOURCES = ("hwy/per_target.cc", "hwy/targets.cc")


def main() -> None:
    # Meson keeps files beside them that are not part of the sources.
    shutil.rmtree(ROOT / "subprojects" / "packagecache", ignore_errors=True)
    (ROOT / "subprojects" / ".wraplock").unlink(missing_ok=True)
    for folder in (ROOT / "subprojects").glob("highway-*"):
        # Meson unpacks once, and does not follow changes of what the wrap adds.
        shutil.copytree(ADDED, folder, dirs_exist_ok=True)
        kept = {file for pattern in (*KEPT, *SOURCES) for file in folder.glob(pattern)}
        for file in sorted(folder.rglob("*"), reverse=True):
            if file.is_dir():
                if not any(file.iterdir()):
                    file.rmdir()
            elif file not in kept:
                file.unlink()
        # Files that the wrap adds have the time of their copying; the archive shall not.
        time = (folder / "LICENSE").stat().st_mtime
        for file in kept:
            os.utime(file, (time, time))


main()
