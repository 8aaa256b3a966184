# SPDX-License-Identifier: Apache-2.0
"""Prints what the files of a release have inside, as a document of SPDX 2.3.

usage: sbom.py <folder of the release> <python>...

The interpreters are those that built the wheels, each with its nanobind and jaxlib. The Python that
runs this has the nanobind of the Debian packages. Other versions are those of the Debian packages
emscripten, libcli11-dev and libhwy-dev.

The time is that of SOURCE_DATE_EPOCH, so that the same release has the same document.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Entry = "dict[str, Any]"
Versions = "dict[str, str]"


@dataclass
class Component:
    name: str
    declared: str
    purl: str  # without the version
    comment: str
    concluded: str = ""  # if that is not the declared licence


COMPONENTS = {
    "highway": Component(
        "highway",
        "Apache-2.0 OR BSD-3-Clause",
        "pkg:github/google/highway",
        "The files that the build reads are in the archive of the sources.",
    ),
    "libhwy": Component(
        "highway",
        "Apache-2.0",  # 1.0.3 of Debian 12, which has no second licence yet
        "pkg:github/google/highway",
        "The system's: its headers are compiled in, and its library is loaded.",
    ),
    "nanobind": Component("nanobind", "BSD-3-Clause", "pkg:pypi/nanobind", ""),
    "robin-map": Component("robin-map", "MIT", "pkg:github/Tessil/robin-map", "Inside nanobind."),
    "jaxlib": Component("jaxlib", "Apache-2.0", "pkg:pypi/jaxlib", "Headers alone, in strew.jax."),
    "CLI11": Component("CLI11", "BSD-3-Clause", "pkg:github/CLIUtils/CLI11", "Headers alone."),
    "musl": Component("musl", "MIT", "pkg:generic/musl", "As emscripten has changed it."),
    "emscripten": Component(
        "emscripten",
        "MIT OR NCSA",
        "pkg:github/emscripten-core/emscripten",
        "Start of the module and system calls, with dlmalloc (CC0-1.0) and compiler-rt of LLVM.",
        "(MIT OR NCSA) AND CC0-1.0 AND (Apache-2.0 WITH LLVM-exception)",
    ),
}
# Components by kind of file; Debian packages by name.
WHEEL = ("highway", "nanobind", "robin-map", "jaxlib")
NPM = ("highway", "musl", "emscripten")
DEBIAN = {
    "libstrew0": ("libhwy",),
    "libstrew-dev": ("libhwy",),
    "strew": ("libhwy", "CLI11"),
    "python3-strew": ("libhwy", "nanobind", "robin-map"),
}


# Lines about an interpreter that builds wheels; the last one is empty without jaxlib.
ABOUT_PYTHON = """
import importlib.metadata, nanobind, sys
print("cp%d%d" % sys.version_info[:2], nanobind.__version__, nanobind.__path__[0], sep="\\n")
print(*(each.version for each in importlib.metadata.distributions(name="jaxlib")))
"""


def output(*command: str) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def wrap() -> dict[str, str]:
    file = ROOT / "subprojects" / "highway.wrap"
    return dict(re.findall(r"^(\w+) = (.+)$", file.read_text(), re.MULTILINE))


def of_python(python: str) -> tuple[str, Versions]:
    """The tag of its wheels, and what they have inside."""
    tag, version, folder, *jaxlib = output(python, "-c", ABOUT_PYTHON).splitlines()
    header = Path(folder, "ext/robin_map/include/tsl/robin_growth_policy.h").read_text()
    numbers = re.findall(r"define TSL_RH_VERSION_\w+ (\d+)", header)
    found = {"nanobind": version, "robin-map": ".".join(numbers)}
    return tag, {**found, "jaxlib": jaxlib[0]} if jaxlib else found


def of_emscripten() -> Versions:
    program = shutil.which("em++")
    if program is None:
        sys.exit("em++ is not installed (Debian package emscripten)")
    folder = Path(program).resolve().parent
    musl = (folder / "system/lib/libc/musl/VERSION").read_text().strip()
    version = (folder / "emscripten-version.txt").read_text().strip(' "\n')
    return {"musl": musl, "emscripten": version}


def of_system() -> Versions:
    return {name: output("pkg-config", "--modversion", name) for name in ("CLI11", "libhwy")}


def identifier(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(ref: str, name: str, version: str, licences: tuple[str, str], **more: Any) -> Entry:
    declared, concluded = licences
    return {
        "SPDXID": ref,
        "name": name,
        "versionInfo": version,
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": concluded or declared,
        "licenseDeclared": declared,
        "copyrightText": "NOASSERTION",
        **{key: value for key, value in more.items() if value},
    }


def checksum(value: str) -> list[Entry]:
    return [{"algorithm": "SHA256", "checksumValue": value}]


def purl(locator: str) -> list[Entry]:
    kind = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
    return [{**kind, "referenceLocator": locator}]


def component(key: str, version: str) -> Entry:
    about = COMPONENTS[key]
    more = {"externalRefs": purl(f"{about.purl}@{version}"), "comment": about.comment}
    if key == "highway":
        source = wrap()
        more["downloadLocation"] = source["source_url"]
        more["checksums"] = checksum(source["source_hash"])
    licences = (about.declared, about.concluded)
    return package(identifier(f"{about.name}-{version}"), about.name, version, licences, **more)


def every_licence(licences: Iterable[str]) -> str:
    different = dict.fromkeys(licences)
    return " AND ".join(f"({each})" if " " in each else each for each in different)


def relation(of: str, kind: str, other: str) -> Entry:
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": other}


def released(folder: Path) -> list[Path]:
    """The archive of the sources first. Packages with symbols for debuggers have no code."""
    patterns = ("strew-*.tar.gz", "*.whl", "*.tgz", "debian/*.deb")
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    return [file for file in files if "-dbgsym_" not in file.name]


class Document:
    def __init__(self, folder: Path, versions: Versions, of_wheels: dict[str, Versions]):
        """Versions of components, and those in a wheel by its tag."""
        self.folder, self.versions, self.of_wheels = folder, versions, of_wheels
        self.packages: dict[str, Entry] = {}
        self.relations: list[Entry] = []
        files = released(folder)
        self.version = files[0].name.removesuffix(".tar.gz").removeprefix("strew-")
        for file in files:
            self.add(file, identifier(files[0].name))

    def about(self, file: Path) -> tuple[str, str, tuple[str, ...], str]:
        """Name, version, components and purl."""
        if file.suffix == ".deb":
            name, version = file.name.split("_")[:2]
            return name, version, DEBIAN[name], ""
        system, keys = {
            ".gz": ("pypi", ("highway",)),
            ".whl": ("pypi", WHEEL),
            ".tgz": ("npm", NPM),
        }[file.suffix]
        return "strew", self.version, keys, f"pkg:{system}/strew@{self.version}"

    def add(self, file: Path, archive: str) -> None:
        name, version, keys, locator = self.about(file)
        is_wheel = file.suffix == ".whl"
        versions = self.of_wheels[file.name.split("-")[2]] if is_wheel else self.versions
        versions = {**versions, "highway": wrap()["directory"].removeprefix("highway-")}
        # strew.jax is in the wheels of those interpreters that had jaxlib.
        there = [key for key in keys if key != "jaxlib" or key in versions]
        inside = [component(key, versions[key]) for key in there]
        declared = "Apache-2.0"
        if file.suffix == ".tgz":
            declared = json.loads((ROOT / "packaging/npm/package.json").read_text())["license"]
        concluded = every_licence(["Apache-2.0", *(each["licenseConcluded"] for each in inside)])
        more = {"checksums": checksum(hashlib.sha256(file.read_bytes()).hexdigest())}
        more["packageFileName"] = file.relative_to(self.folder).as_posix()
        more["externalRefs"] = purl(locator) if locator else []
        ref = identifier(file.name)
        self.packages[ref] = package(ref, name, version, (declared, concluded), **more)
        self.relations.append(relation("SPDXRef-DOCUMENT", "DESCRIBES", ref))
        if ref != archive:
            self.relations.append(relation(ref, "GENERATED_FROM", archive))
        for each in inside:
            self.packages.setdefault(each["SPDXID"], each)
            kind = "CONTAINS" if ref == archive else "STATIC_LINK"
            self.relations.append(relation(ref, kind, each["SPDXID"]))

    def entries(self) -> Entry:
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        name = f"strew-{self.version}"
        content = {"packages": [*self.packages.values()], "relationships": self.relations}
        digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": name,
            # Every content has its own, as the specification asks. Nothing needs to be there.
            "documentNamespace": f"https://strew.example/spdx/{name}-{digest}",
            "creationInfo": {
                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                "creators": ["Organization: The strew maintainers", "Tool: packaging/sbom.py"],
            },
            **content,
        }


def main(folder: str, *pythons: str) -> None:
    versions = {**of_system(), **of_emscripten(), **of_python(sys.executable)[1]}
    document = Document(Path(folder), versions, dict(map(of_python, pythons)))
    print(json.dumps(document.entries(), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
