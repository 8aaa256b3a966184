# SPDX-License-Identifier: Apache-2.0
"""libFuzzer's calls of every operator, descriptors of tensors, and files have nothing to be found.

It makes a build of its own, by clang with AddressSanitizer and UndefinedBehaviorSanitizer for SSE4
and SCALAR, and begins with the files in corpus/. What a fuzzer adds to them stays in the build's
folder; --corpus takes the least of both that reaches as many edges, and makes the longest of these
the files of corpus/.

usage: fuzz.py [--corpus] <meson> <source root> <build folder> <seconds for each> <fuzzer>...
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import house

COMPILERS = ["clang++-16", "clang++"]
OPTIONS = [
    *house.instrumented("address,undefined"),
    "-Dfuzzing=enabled",
    "-Doptimization=1",  # half the time of 2 to build
]
LONGEST_INPUT = 256
MOST_FILES = 10
RUN = [
    f"-max_len={LONGEST_INPUT}",
    "-len_control=0",  # or inputs would have 8 bytes after minutes, fewer than a call has choices
    "-timeout=120",
    "-rss_limit_mb=4096",
    "-print_final_stats=1",
]
CORPUS = Path(__file__).parent / "corpus"
EXECUTIONS = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)
EDGES = re.compile(r" cov: (\d+) ")
ALL_EDGES = re.compile(r"INFO: Loaded \d+ modules\s+\((\d+) inline 8-bit counters\)")


@dataclass
class Figure:
    name: str
    executions: int
    edges: int
    all_edges: int
    finding: str  # "" for none

    def __str__(self) -> str:
        seen = f"{self.executions} executions, {self.edges} of {self.all_edges} edges"
        return f"{self.name}: {seen}, {self.finding or 'no finding'}"


def find_compiler(folder: Path) -> str:
    source = folder / "empty.cc"
    source.write_text('extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }\n')
    for compiler in COMPILERS:
        command = [compiler, "-fsanitize=fuzzer,address", str(source), "-o", str(folder / "empty")]
        if shutil.which(compiler) and subprocess.run(command).returncode == 0:
            return compiler
    house.skip("no clang with libFuzzer is installed")


def build(meson: str, root: str, folder: Path, names: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    compiler = find_compiler(folder)
    made = folder / "made"
    if not (made / "build.ninja").exists():
        environment = {**os.environ, "CXX": compiler, "CC": compiler.replace("++", "")}
        subprocess.run([meson, "setup", str(made), root, *OPTIONS], env=environment, check=True)
    targets = [f"fuzz_{name}" for name in [*names, "canary"]]
    subprocess.run([meson, "compile", "-C", str(made), *targets], check=True)
    return made / "test" / "fuzz"


def run(command: list[str]) -> tuple[int, str]:
    environment = {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"}
    done = subprocess.run(
        command, env=environment, text=True, errors="replace", capture_output=True
    )
    return done.returncode, done.stderr


def grown_corpus(folder: Path, name: str) -> Path:
    grown = folder / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    return grown


def fuzz(program: Path, name: str, folder: Path, seconds: int) -> Figure:
    artifacts = folder / "findings" / f"{name}-"
    artifacts.parent.mkdir(parents=True, exist_ok=True)
    options = [*RUN, f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}"]
    folders = [str(grown_corpus(folder, name)), str(CORPUS / name)]
    answer, text = run([str(program), *options, *folders])
    executions = EXECUTIONS.search(text)
    edges = [int(number) for number in EDGES.findall(text)]
    everything = ALL_EDGES.search(text)
    finding = ""
    if answer != 0 or not executions or not edges or not everything:
        finding = f"exit {answer}, see {artifacts}*:\n{text[-6000:]}"
    return Figure(
        name,
        int(executions[1]) if executions else 0,
        max(edges, default=0),
        int(everything[1]) if everything else 0,
        finding,
    )


def sleeps(program: Path, folder: Path) -> bool:
    """True if the canary lives where it must not."""
    answer, text = run([str(program), "-runs=1", f"-artifact_prefix={folder}/canary-"])
    return answer == 0 or "heap-buffer-overflow" not in text


def minimise(program: Path, name: str, folder: Path) -> None:
    """Edges only, not how often: the files shall be few."""
    least = folder / "least" / name
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir(parents=True)
    sources = [str(grown_corpus(folder, name)), str(CORPUS / name)]
    command = [str(program), "-set_cover_merge=1", "-use_counters=0", str(least), *sources]
    answer, text = run(command)
    if answer != 0:
        house.finish([text])
    longest = sorted(least.iterdir(), key=lambda file: file.stat().st_size, reverse=True)
    kept = CORPUS / name
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for file in longest[:MOST_FILES]:
        shutil.copy(file, kept)
    print(f"{name}: {len(list(kept.iterdir()))} files of {len(longest)}")


def main(*arguments: str) -> None:
    only_corpus = arguments[0] == "--corpus"
    meson, root, place, seconds, *names = arguments[1:] if only_corpus else arguments
    folder = Path(place)
    programs = build(meson, root, folder, names)
    if only_corpus:
        for name in names:
            minimise(programs / f"fuzz_{name}", name, folder)
        house.finish([])
    if sleeps(programs / "fuzz_canary", folder):
        house.finish(["a read behind a buffer was not found: the check would check nothing"])
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        figures = list(
            pool.map(
                lambda name: fuzz(programs / f"fuzz_{name}", name, folder, int(seconds)), names
            )
        )
    for figure in figures:
        print(figure)
    findings = [figure.finding for figure in figures if figure.finding]
    executions = sum(figure.executions for figure in figures)
    print(f"fuzzing: {executions} executions, {len(findings)} findings, {seconds} s for each")
    sys.exit(1 if findings else 0)


main(*sys.argv[1:])
