# SPDX-License-Identifier: Apache-2.0
"""The SPDX document of a release describes each file and names what is linked into it.

usage: spdx.py <source root>

The files here are empty. Versions are those of this system where its packages are installed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import house

sys.path.append(str(Path(__file__).parents[2] / "packaging"))
import sbom  # noqa: E402

HIGHWAY = sbom.wrap()["directory"].replace("-", " ")
# Components of each file.
EXPECTED = {
    "strew-1.2.3.tar.gz": {HIGHWAY},
    "strew-1.2.3-cp39-cp39-manylinux_2_34_x86_64.whl": {HIGHWAY, "nanobind 2", "robin-map 2"},
    "strew-1.2.3-cp314-cp314-manylinux_2_34_x86_64.whl": {
        *(HIGHWAY, "nanobind 3", "robin-map 3", "jaxlib 8"),
    },
    "strew-1.2.3.tgz": {HIGHWAY, "musl 4", "emscripten 5"},
    "debian/libstrew0_1.2.3-1_amd64.deb": {"highway 6"},
    "debian/libstrew-dev_1.2.3-1_amd64.deb": {"highway 6"},
    "debian/strew_1.2.3-1_amd64.deb": {"highway 6", "CLI11 7"},
    "debian/python3-strew_1.2.3-1_amd64.deb": {"highway 6", "nanobind 3", "robin-map 3"},
}
NOT_DESCRIBED = ("debian/libstrew0-dbgsym_1.2.3-1_amd64.deb", "SHA256SUMS")
NEW = {"nanobind": "3", "robin-map": "3"}
VERSIONS = {**NEW, "musl": "4", "emscripten": "5", "libhwy": "6", "CLI11": "7"}
OF_WHEELS = {"cp39": {"nanobind": "2", "robin-map": "2"}, "cp314": {**NEW, "jaxlib": "8"}}
VALIDATOR = "from spdx_tools.spdx.clitools.pyspdxtools import main; main()"


def document(folder: Path) -> dict:
    (folder / "debian").mkdir()
    for name in (*EXPECTED, *NOT_DESCRIBED):
        (folder / name).touch()
    return sbom.Document(folder, VERSIONS, OF_WHEELS).entries()


def content_problems(entries: dict) -> Iterator[str]:
    packages = {each["SPDXID"]: each for each in entries["packages"]}
    if len(packages) != len(entries["packages"]):
        yield "two packages have the same SPDXID"
    known = {"SPDXRef-DOCUMENT", *packages}
    for each in entries["relationships"]:
        for end in (each["spdxElementId"], each["relatedSpdxElement"]):
            if end not in known:
                yield f"a relationship names {end}, which does not exist"
    described = related(entries, "SPDXRef-DOCUMENT", "DESCRIBES")
    files = {packages[each].get("packageFileName"): each for each in described}
    if set(files) != set(EXPECTED):
        yield f"described are {sorted(files)}"
    for file, expected in EXPECTED.items():
        kind = "CONTAINS" if file.endswith(".tar.gz") else "STATIC_LINK"
        inside = [packages[each] for each in related(entries, files.get(file, ""), kind)]
        found = {f"{each['name']} {each['versionInfo']}" for each in inside}
        if found != expected:
            yield f"{file}: {kind} {sorted(found)}, not {sorted(expected)}"


def related(entries: dict, of: str, kind: str) -> list[str]:
    found = [each for each in entries["relationships"] if each["spdxElementId"] == of]
    return [each["relatedSpdxElement"] for each in found if each["relationshipType"] == kind]


def license_problems(root: Path) -> Iterator[str]:
    """Licences of other projects are inside the packages of PyPI and npm."""
    texts = {file.stem for file in (root / "packaging/licenses").glob("*.txt")}
    # The licence of jaxlib is strew's own.
    if texts != set(sbom.WHEEL) - {"jaxlib"}:
        yield f"packaging/licenses has {sorted(texts)}, and wheels {sorted(sbom.WHEEL)}"


def version_problems() -> Iterator[str]:
    found = {}
    if find_spec("nanobind"):
        found |= sbom.of_python(sys.executable)[1]
    if shutil.which("em++"):
        found |= sbom.of_emscripten()
    if shutil.which("pkg-config"):
        exist = ["pkg-config", "--exists", "CLI11", "libhwy"]
        found |= sbom.of_system() if subprocess.run(exist).returncode == 0 else {}
    for name, version in found.items():
        if not re.fullmatch(r"\d+(\.\d+)+", version):
            yield f"the version of {name} is {version!r}"
    for name in sorted(set(VERSIONS) - set(found)):
        print(f"not checked: the version of {name}, which is not installed")


def format_problems(file: Path) -> Iterator[str]:
    """As a release checks it."""
    if find_spec("spdx_tools") is None:
        print("not checked: spdx-tools is not installed")
        return
    if subprocess.run([sys.executable, "-c", VALIDATOR, "--infile", str(file)]).returncode != 0:
        yield "the document is not valid"


def main(root: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        entries = document(Path(name))
        file = Path(name, "strew.spdx.json")
        file.write_text(json.dumps(entries))
        house.finish(
            [
                *content_problems(entries),
                *license_problems(Path(root)),
                *version_problems(),
                *format_problems(file),
            ]
        )


main(*sys.argv[1:])
