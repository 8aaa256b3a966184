# SPDX-License-Identifier: Apache-2.0
"""The wrap for WrapDB brings strew into a project of Meson, without a download.

usage: wrap.py <meson> <source root>

The archive lies where Meson looks before it downloads, and its checksum is written into the wrap,
which a release does. Nothing is compiled: that is for the tests of strew as a subproject. Made
twice, in two folders, the archive has the same bytes.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import archive
import house

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "python"), str(HERE.parents[1] / "packaging")]
import run  # noqa: E402
import wheels  # noqa: E402

CONSUMER = HERE.parent / "consumer"


def main(meson: str, root: str) -> None:
    lack = run.lack("meson-python")
    if lack:
        house.skip(lack)
    with tempfile.TemporaryDirectory() as folder:
        packed = archive.sdist(Path(root), Path(folder))
        again = Path(folder, "again")
        again.mkdir()
        if archive.sdist(Path(root), again).read_bytes() != packed.read_bytes():
            house.finish(["the archive has other bytes when it is made again"])
        project = Path(folder, "project")
        cache = project / "subprojects" / "packagecache"
        cache.mkdir(parents=True)
        shutil.copy(packed, cache)
        shutil.copy(CONSUMER / "consumer.c", project)
        shutil.copy(CONSUMER / "subproject" / "meson.build", project)
        wrap = Path(root, "packaging/wrapdb/strew.wrap").read_text()
        digest = hashlib.sha256(packed.read_bytes()).hexdigest()
        wrap = re.sub(r"^source_hash = .*$", f"source_hash = {digest}", wrap, flags=re.MULTILINE)
        (project / "subprojects" / "strew.wrap").write_text(wrap)
        setup = [meson, "setup", "--wrap-mode=forcefallback", "build"]
        subprocess.run([*wheels.without_network(), *setup], check=True, cwd=project)


main(*sys.argv[1:])
