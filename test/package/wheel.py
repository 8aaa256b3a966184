# SPDX-License-Identifier: Apache-2.0
"""`pip wheel .` makes a small wheel with these files, which works in an environment of its own.

usage: wheel.py <source root> [--skip <reason>]
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import house
from package_files import ADAPTERS, package_files

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import run  # noqa: E402

LARGEST = 3 << 20
NEEDED = re.compile(r"libc(\.musl-.*)?|libm|libgcc_s|libstdc\+\+|libc\+\+(abi)?|ld-linux.*")
SOURCES = "include src subprojects meson.build meson_options.txt pyproject.toml README.md LICENSE"
TESTS = ("operators", "operands", "calls", "plans")
BUILD = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")


def copied(root: Path, folder: Path) -> Path:
    """A copy of the sources of the wheel, so that nothing is written beside them."""
    source = folder / "strew"
    source.mkdir()
    for name in SOURCES.split():
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, source / name)
    return source


def has_highway(source: Path) -> bool:
    """Tests do not download."""
    wrap = (source / "subprojects" / "highway.wrap").read_text()
    archive = re.search(r"source_filename = (.+)", wrap)[1]
    folder = re.search(r"directory = (.+)", wrap)[1]
    below = source / "subprojects"
    return (below / "packagecache" / archive).exists() or (below / folder).exists()


def build(source: Path, folder: Path) -> Path:
    options = [f"--config-settings=build-dir={folder / 'build'}"]
    if not has_highway(source):
        print("the sources of Highway are not here: that of the system is linked")
        options.append("--config-settings=setup-args=--force-fallback-for=none")
    pip = [sys.executable, "-m", "pip", "wheel", *BUILD, *options, "-w", str(folder), str(source)]
    subprocess.run(pip, check=True)
    (wheel,) = folder.glob("strew-*.whl")
    return wheel


def file_problems(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        adapters = [name for name in ADAPTERS if f"strew/{name}" in names]
        expected = package_files(adapters)
        version = wheel.name.split("-")[1]
        if f"strew-{version}.dist-info/licenses/LICENSE" not in archive.namelist():
            yield "the wheel has no licence"
    yield from (f"not in the wheel: {name}" for name in sorted(expected - names))
    yield from (f"in the wheel but not expected: {name}" for name in sorted(names - expected))
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size} bytes")
    # Each adapter has the library inside.
    largest = LARGEST * (1 + len(adapters))
    if size > largest:
        yield f"the wheel has {size} bytes, more than {largest}"


def linkage_problems(extension: Path, system_highway: bool) -> Iterator[str]:
    dynamic = house.output_of([house.require("readelf"), "-dW", str(extension)])
    needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic))
    needed -= {"libhwy"} if system_highway else set()
    yield from (f"the extension needs {name}" for name in needed if not NEEDED.fullmatch(name))
    symbols = house.output_of([house.require("nm"), "-D", "--defined-only", str(extension)])
    exported = {line.split()[-1] for line in symbols.splitlines()}
    if "PyInit__strew" not in exported:
        yield "the extension has no entry"
    for name in sorted(exported - {"PyInit__strew"}):
        if "strew" in name:
            yield f"the extension exports {name}"


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel, and behind it the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", str(wheel)]
    subprocess.run(pip, check=True)
    packages = "import sysconfig; print(sysconfig.get_path('platlib'))"
    site = Path(house.output_of([str(python), "-c", packages]).strip())
    (site / "outer.pth").write_text(sysconfig.get_path("platlib") + "\n")
    return python


def test_problems(python: Path) -> Iterator[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in TESTS:
        file = Path(__file__).with_name(f"{name}_test.py")
        command = [str(python), str(Path(run.__file__)), "--needs", "numpy", str(file)]
        if subprocess.run(command, env=environment).returncode != 0:
            yield f"{name} fails with the wheel"


def main(root: str, skip: str = "", reason: str = "") -> None:
    if skip:
        house.skip(reason)
    lacks = [run.lack(package) for package in ("meson-python", "nanobind", "numpy", "pytest")]
    if any(lacks):
        house.skip(", ".join(filter(None, lacks)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = copied(Path(root), folder)
        wheel = build(source, folder)
        python = install(wheel, folder / "environment")
        where = "import strew._strew; print(strew._strew.__file__)"
        extension = Path(house.output_of([str(python), "-I", "-c", where]).strip())
        problems = [*file_problems(wheel), *linkage_problems(extension, not has_highway(source))]
        house.finish([*problems, *test_problems(python)])


main(*sys.argv[1:])
