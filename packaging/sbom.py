# SPDX-License-Identifier: Apache-2.0
"""Prints what a release has inside, as a document of SPDX 2.3.

usage: sbom.py <strew-VERSION.tar.gz> <version of nanobind>

The time is that of SOURCE_DATE_EPOCH, so that the same release has the same document.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Entry = "dict[str, Any]"


def package(name: str, version: str, licence: str, location: str, **more: Any) -> Entry:
    return {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "versionInfo": version,
        "supplier": "NOASSERTION",
        "downloadLocation": location,
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        **more,
    }


def checksum(value: str) -> list[Entry]:
    return [{"algorithm": "SHA256", "checksumValue": value}]


def purl(locator: str) -> list[Entry]:
    kind = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
    return [{**kind, "referenceLocator": locator}]


def packages(archive: Path, nanobind: str) -> list[Entry]:
    version = archive.name.removesuffix(".tar.gz").removeprefix("strew-")
    wrap_file = ROOT / "subprojects" / "highway.wrap"
    wrap = dict(re.findall(r"^(\w+) = (.+)$", wrap_file.read_text(), re.M))
    highway = wrap["directory"].removeprefix("highway-")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return [
        package(
            "strew",
            version,
            "Apache-2.0",
            "NOASSERTION",
            packageFileName=archive.name,
            checksums=checksum(digest),
            primaryPackagePurpose="LIBRARY",
            externalRefs=purl(f"pkg:pypi/strew@{version}"),
        ),
        package(
            "highway",
            highway,
            "Apache-2.0 OR BSD-3-Clause",
            wrap["source_url"],
            checksums=checksum(wrap["source_hash"]),
            externalRefs=purl(f"pkg:github/google/highway@{highway}"),
            comment="Inside the archive, and linked into the wheels.",
        ),
        package(
            "nanobind",
            nanobind,
            "BSD-3-Clause",
            "NOASSERTION",
            externalRefs=purl(f"pkg:pypi/nanobind@{nanobind}"),
            comment="Linked into the wheels, with robin-map (MIT), which it has inside.",
        ),
    ]


def relation(kind: str, other: str, of: str = "SPDXRef-strew") -> Entry:
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": other}


def document(archive: Path, nanobind: str) -> Entry:
    parts = packages(archive, nanobind)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    name = archive.name.removesuffix(".tar.gz")
    digest = parts[0]["checksums"][0]["checksumValue"]
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
        "packages": parts,
        "relationships": [
            relation("DESCRIBES", "SPDXRef-strew", of="SPDXRef-DOCUMENT"),
            relation("STATIC_LINK", "SPDXRef-highway"),
            relation("STATIC_LINK", "SPDXRef-nanobind"),
        ],
    }


def main(archive: str, nanobind: str) -> None:
    print(json.dumps(document(Path(archive), nanobind), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
