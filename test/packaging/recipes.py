# SPDX-License-Identifier: Apache-2.0
"""The recipes for vcpkg and conda-forge agree with the project: systems, version, licence,
dependencies, options and installed files.

usage: recipes.py <source root> <build> <prefix> <libdir> <version>
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import house

# Names in meson.build, and those of both recipes.
NEEDED = {"libhwy": "highway", "CLI11": "cli11", "libzip": "libzip"}
# Recipes build without these: systems have threads, and the others are optional.
NOT_NEEDED = {"threads", "libonnxruntime", "gtest", "benchmark"}
# The recipe for conda-forge leaves these out: its packages have shared libraries, and its options
# disable the adapter.
NOT_LISTED = ("lib/libstrew.a", "lib/libstrew_onnxruntime.so")


def differences(what: str, found: object, expected: object) -> Iterator[str]:
    if found != expected:
        yield f"{what} is {found}, not {expected}"


def names(requirements: Iterable[str | dict]) -> set[str]:
    """Without tools of vcpkg's own."""
    entries = [entry if isinstance(entry, dict) else {"name": entry} for entry in requirements]
    return {entry["name"] for entry in entries if not entry.get("host")}


def requirements(listed: Iterable[str]) -> set[str]:
    """As in pyproject.toml, without those for older Pythons than conda-forge has."""
    return {entry.partition(";")[0].replace(" ", "") for entry in listed if "version<" not in entry}


def dependency_problems(root: Path) -> Iterator[str]:
    files = [root / "meson.build", *(root / "src").rglob("meson.build")]
    text = "\n".join(file.read_text() for file in files)
    asked = set(re.findall(r"\bdependency\(\s*'(\w+)'", text))
    yield from differences("the list of dependencies here", {*NEEDED, *NOT_NEEDED}, asked)


def option_problems(root: Path, file: str) -> Iterator[str]:
    known = re.findall(r"^option\('(\w+)'", (root / "meson_options.txt").read_text(), re.MULTILINE)
    for name in re.findall(r"-D(\w+)=", (root / file).read_text()):
        if name not in known:
            yield f"{file}: there is no option {name}"


def installed(build: Path, prefix: str, libraries: str) -> set[str]:
    """Paths below the prefix, with libraries in lib. Those of the Python package are not among
    them: the build system of Python installs it."""
    places = json.loads((build / "meson-info/intro-installed.json").read_text()).values()
    below = {place.removeprefix(f"{prefix}/") for place in places if "-packages/" not in place}
    return {re.sub(f"^{re.escape(libraries)}/", "lib/", place) for place in below}


def unmatched(patterns: list[str], files: set[str]) -> Iterator[str]:
    for pattern in patterns:
        if not any(fnmatch(file, pattern) for file in files):
            yield f"no installed file is {pattern}"


def vcpkg_problems(root: Path, files: set[str], project: dict, version: str) -> Iterator[str]:
    port = json.loads((root / "packaging/vcpkg/vcpkg.json").read_text())
    yield from differences("supports", port["supports"], "linux")
    yield from differences("version", port["version"], version)
    yield from differences("license", port["license"], project["license"])
    yield from differences("dependencies", names(port["dependencies"]), {NEEDED["libhwy"]})
    tool = port["features"]["tool"]["dependencies"]
    of_tool = {NEEDED["CLI11"], NEEDED["libzip"]}
    yield from differences("dependencies of the tool", names(tool), of_tool)
    script = (root / "packaging/vcpkg/portfile.cmake").read_text()
    patterns = re.findall(r"OTHER_KIND (libstrew\S+)\)", script)
    folder = re.search(r"CONFIG_PATH ([^\s)]+)", script)[1]
    yield from unmatched([f"{folder}/*", *(f"lib/{pattern}" for pattern in patterns)], files)


def conda_problems(root: Path, files: set[str], parsed: dict, version: str) -> Iterator[str]:
    import yaml

    recipe = yaml.safe_load((root / "packaging/conda-forge/recipe.yaml").read_text())
    library, package = recipe["outputs"]
    yield from differences("skip", recipe["build"]["skip"], "not linux")
    yield from differences("version", recipe["context"]["version"], version)
    project = parsed["project"]
    yield from differences("license", recipe["about"]["license"], project["license"])
    for stage, name in (("build", NEEDED["CLI11"]), ("host", NEEDED["libzip"])):
        if name not in library["requirements"][stage]:
            yield f"{name} is not among the requirements to {stage}"
    host = requirements(package["requirements"]["host"]) - {"python", "pip"}
    yield from differences("host", host, requirements(parsed["build-system"]["requires"]))
    run = requirements(package["requirements"]["run"]) - {"python"}
    yield from differences("run", run, requirements(project["dependencies"]))
    include = library["build"]["files"]["include"]
    patterns = [f"{name}*" if name.endswith("/") else name for name in include]
    yield from unmatched(patterns, files)
    for file in sorted(files - set(NOT_LISTED)):
        if not any(fnmatch(file, pattern) for pattern in patterns):
            yield f"files: {file} is not listed"


def main(root_name: str, build: str, prefix: str, libraries: str, version: str) -> None:
    if find_spec("yaml") is None or find_spec("tomllib") is None:
        house.skip("PyYAML is not installed, or Python is older than 3.11")
    import tomllib

    root = Path(root_name)
    parsed = tomllib.loads((root / "pyproject.toml").read_text())
    files = installed(Path(build), prefix, libraries)
    vcpkg, conda = "packaging/vcpkg/portfile.cmake", "packaging/conda-forge/recipe.yaml"
    port_problems = vcpkg_problems(root, files, parsed["project"], version)
    house.finish(
        [
            *dependency_problems(root),
            *option_problems(root, vcpkg),
            *option_problems(root, conda),
            *(f"packaging/vcpkg: {problem}" for problem in port_problems),
            *(f"{conda}: {problem}" for problem in conda_problems(root, files, parsed, version)),
        ]
    )


main(*sys.argv[1:])
