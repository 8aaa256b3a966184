# SPDX-License-Identifier: Apache-2.0
"""Makes the npm package: compiles the library with emscripten, and links strew.wasm of the
functions that strew.js calls. `npm pack` in the folder makes the archive.

usage: build.py <folder>

Needs emscripten (Debian package) and the sources of Highway, as a build for other CPUs does.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LARGEST = 1_050_000
FILES = ("package.json", "strew.js", "strew.d.ts", "example.html", "README.md")
OPTIONS = [
    *("--cross-file", str(ROOT / "test/cross/wasm32.ini"), "-Dauto_features=disabled"),
    # Without EMU128, which is as large again and of no use where there is SIMD. All engines with
    # SIMD have the other two features, which make strew.wasm 4 KB smaller.
    "-Dwerror=false",
    # Compiled with -O3, strew.wasm has 170 KB more and is no faster: ten calls took 0.93 to 1.01
    # times the time with -O2.
    "-Doptimization=2",
    "-Dcpp_args=-msimd128 -msign-ext -mnontrapping-fptoint -DHWY_SKIP_NON_BEST_BASELINE",
]
LINK = [
    # -Os makes strew.wasm 6 KB smaller than -O2 and takes 1.01 times its time; -Oz makes it 57 KB
    # smaller and takes up to 1.3 times.
    *("em++", "-Os", "--no-entry", "-sSTANDALONE_WASM=1", "-sWASM_BIGINT=1"),
    *("-sALLOW_MEMORY_GROWTH=1", "-sTOTAL_STACK=262144"),
]


def exported() -> str:
    names = re.findall(r"\bstrew_\w+", (HERE / "strew.js").read_text())
    return ",".join(f"_{name}" for name in sorted({"malloc", "free", *names}))


def main(folder_name: str) -> None:
    folder = Path(folder_name)
    licenses = folder / "licenses"
    licenses.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(HERE / name, folder)
    shutil.copy(ROOT / "LICENSE", folder)
    shutil.copy(ROOT / "packaging/licenses/highway.txt", licenses)
    shutil.copy(HERE / "emscripten.txt", licenses)
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(["meson", "setup", build, str(ROOT), *OPTIONS], check=True)
        subprocess.run(["meson", "compile", "-C", build, "strew:static_library"], check=True)
        options = [f"-sEXPORTED_FUNCTIONS={exported()}", f"{build}/src/libstrew.a"]
        binary = folder / "strew.wasm"
        subprocess.run([*LINK, *options, "-o", str(binary)], check=True)
    size = binary.stat().st_size
    if size > LARGEST:
        sys.exit(f"{binary} has {size} bytes, and at most {LARGEST} are expected")


main(*sys.argv[1:])
