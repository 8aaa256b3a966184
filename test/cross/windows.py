# SPDX-License-Identifier: Apache-2.0
"""What a build for Windows needs, and its own tests: the command, programs that link an installation,
and how vectors are moved."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "cli"))
import npy

CONSUMER = HERE.parent / "consumer"
COMMAND = "src/cli/strew"
LIBRARIES = ("src/strew:shared_library", "src/strew:static_library")
# Tests of the command that need neither POSIX nor a terminal that Wine draws on.
QUICK = ("inputs.py", "printing.py")
FULL = (
    *QUICK,
    "explain.py",
    "operators.py",
    "threads.py",
    "usage.py",
    "files.py Malformed.test_sizes Malformed.test_shapes Malformed.test_dtypes Writing.test_round_trip"
    " Writing.test_an_input_may_be_overwritten Writing.test_a_failure_changes_nothing",
    "machine.py Verifying Timing",
)

# Threads and memory, which Windows has in its own ways; with so many random calls where a test has
# a choice.
TESTS = {
    "test_far": 0,
    "test_first_use": 0,
    "test_guarded_buffer": 0,
    "test_memory": 0,
    "test_parallel_scratch": 0,
    "test_runner": 0,
    "test_scratch": 0,
    "test_threads": 0,
    "hostile/test_hostile_plans": 20000,
    "museum/test_museum_memory": 0,
    "museum/test_museum_operators": 0,
}


def options(folder: Path) -> list[str]:
    """Headers of GoogleTest and CLI11 in a folder with them alone: those of the C library beside
    them are not for Windows."""
    headers = folder / "include"
    headers.mkdir(parents=True, exist_ok=True)
    for name in ("gtest", "CLI"):
        if not (headers / name).is_symlink():
            (headers / name).symlink_to(f"/usr/include/{name}")
    module = "Name: CLI11\nDescription: command lines in C++\nVersion: 2\n"
    (headers / "CLI11.pc").write_text(module)
    return [
        f"-Dcpp_args=-isystem{headers}",
        f"-Dpkg_config_path={headers}",
        "-Dcli=" + ("enabled" if Path("/usr/include/CLI").exists() else "disabled"),
    ]


def path_of(folder: Path) -> str:
    return "Z:" + str(folder.resolve()).replace("/", "\\")


def environment(build: Path) -> dict[str, str]:
    """Variables of programs under Wine, which find the DLL by them."""
    return {
        "WINEPATH": path_of(build / "src"),
        "WINEPREFIX": str((build / "wine").resolve()),
        "WINEDEBUG": "-all",
    }


@contextlib.contextmanager
def wine_running(build: Path) -> Iterator[None]:
    """Services of Wine begin with the first program and end with the last. They keep its streams
    open for seconds, in which a test waits. Programs that begin at the same time each make a folder
    for the services, and one of them fails: others wait until the first has printed something."""
    command = ["wine", "cmd"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, **environment(build)}, **streams) as first:
        first.stdout.readline()
        yield


# Moves that need aligned memory, of more bytes than the stacks of Windows are aligned to.
ALIGNED_MOVE = re.compile(r"\bvmov(?:ap[sd]|dqa(?:32|64)?)\b[^\n]*%[yz]mm")


def aligned_moves(library: Path, objdump: str) -> list[str]:
    """Wide aligned moves to or from memory. Tests may pass where these would fault: by
    chance a stack can be aligned."""
    command = [objdump, "-d", "--no-show-raw-insn", str(library)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as program:
        return [
            line.strip() for line in program.stdout if ALIGNED_MOVE.search(line) and "(" in line
        ]


def command_problems(build: Path, quick: bool) -> Iterator[str]:
    program = build / f"{COMMAND}.exe"
    if not program.exists():
        print("not tested: the command, which needs Debian's libcli11-dev")
        return
    variables = {
        **os.environ,
        **environment(build),
        "STREW_COMMAND": f"wine {program}",
        "STREW_HAS_LIBZIP": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }
    for test in QUICK if quick else FULL:
        name, *cases = test.split()
        command = [sys.executable, str(HERE.parent / "cli" / name), *cases]
        said = subprocess.run(command, env=variables, text=True, capture_output=True)
        if said.returncode != 0:
            yield f"cli/{name}: {said.stderr[-4000:]}"


def interrupt_problems(build: Path) -> Iterator[str]:
    """Ctrl+C while a file is written leaves no part of it."""
    program = build / f"{COMMAND}.exe"
    if not program.exists():
        return
    size = 1 << 26
    arrays = {
        "data.npy": npy.file_with_header(npy.header("|u1", (size,)), bytes(size)),
        "indices.npy": npy.encode(npy.Array("<i8", (1, 1), [1])),
        "updates.npy": npy.encode(npy.Array("|u1", (1,), [9])),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in arrays.items():
            Path(folder, name).write_bytes(content)
        command = ["wine", str(program), "scatter-nd", *arrays, "-o", "data.npy"]
        variables = {**os.environ, **environment(build)}
        with subprocess.Popen(command, cwd=folder, env=variables) as running:
            while running.poll() is None and not any(Path(folder).glob(".strew-*")):
                time.sleep(0.001)
            running.send_signal(signal.SIGINT)
        left = {file.name for file in Path(folder).iterdir()} - set(arrays)
        if left:
            yield f"Ctrl+C leaves {', '.join(left)}"


def linked_by_pkg_config(prefix: Path, program: Path, triplet: str, *static: str) -> None:
    """Warnings are errors. -static takes libstrew.a and not the import library."""
    module = prefix / "lib/pkgconfig/strew.pc"
    command = ["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", *static]
    said = subprocess.run([*command, str(module)], check=True, text=True, stdout=subprocess.PIPE)
    command = [f"{triplet}-gcc-posix", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command += [str(CONSUMER / "consumer.c"), *said.stdout.split(), *(["-static"] if static else [])]
    subprocess.run([*command, "-o", str(program)], check=True)


def linked_by_cmake(prefix: Path, program: Path, triplet: str, target: str) -> None:
    """-static for the runtime of GCC, which is no part of Windows."""
    source, build = program.with_suffix(".source"), program.with_suffix(".build")
    shutil.copytree(CONSUMER / "cmake", source)
    shutil.copy(CONSUMER / "consumer.c", source)
    command = ["cmake", "-S", str(source), "-B", str(build), "-DCMAKE_SYSTEM_NAME=Windows"]
    command += [f"-DCMAKE_C_COMPILER={triplet}-gcc-posix", f"-Dstrew_DIR={prefix}/lib/cmake/strew"]
    command += [f"-DLIBRARY={target}", "-DWANTED=0.1", "-DCMAKE_EXE_LINKER_FLAGS=-static"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(build)], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(build / "consumer.exe", program)


def consumer_problems(build: Path, triplet: str) -> Iterator[str]:
    """Programs in C that link the DLL and the static library run against an installation, which is
    not where it was told to be."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        command = ["meson", "install", "-C", str(build), "--no-rebuild", "--quiet"]
        subprocess.run([*command, "--destdir", str(root / "first")], check=True)
        (module,) = (root / "first").rglob("strew.pc")
        prefix = module.parents[2].rename(root / "moved")
        linked_by_pkg_config(prefix, root / "shared.exe", triplet)
        linked_by_pkg_config(prefix, root / "static.exe", triplet, "--static")
        programs = ["shared", "static"]
        if shutil.which("cmake"):
            linked_by_cmake(prefix, root / "cmake shared.exe", triplet, "strew::strew")
            linked_by_cmake(prefix, root / "cmake static.exe", triplet, "strew::static")
            programs += ["cmake shared", "cmake static"]
        for name in programs:
            variables = {**os.environ, **environment(build), "WINEPATH": path_of(prefix / "bin")}
            if name.endswith("static"):
                del variables["WINEPATH"]
            command = ["wine", str(root / f"{name}.exe")]
            said = subprocess.run(command, env=variables, text=True, capture_output=True)
            if said.returncode != 0:
                yield f"consumer, {name}: exit {said.returncode}\n{said.stdout}{said.stderr}"


def problems(build: Path, triplet: str, quick: bool) -> Iterator[str]:
    for move in aligned_moves(build / "src/libstrew-0.dll", f"{triplet}-objdump")[:10]:
        yield f"the stack may not be aligned for: {move}"
    yield from command_problems(build, quick)
    yield from interrupt_problems(build)
    yield from consumer_problems(build, triplet)
