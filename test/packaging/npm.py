# SPDX-License-Identifier: Apache-2.0
"""The npm package, made by emscripten, gives the right results in Node.js, in its own README, and
in its page in a browser. Its types fit a program in TypeScript where tsc is installed.

usage: npm.py <source root> <version>
"""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import house

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "cross"), str(HERE.parent / "doc")]
import browser  # noqa: E402
import building  # noqa: E402

WORD = "scatter by strew"
COUNTS = {letter: WORD.count(letter) for letter in map(chr, range(ord("a"), ord("z") + 1))}
# The page counts letters as soon as the module is compiled.
WHEN_LOADED = """new Promise((resolve) => {
  const look = () => (counts.textContent ? resolve() : setTimeout(look, 20));
  look();
})"""


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def in_node(folder: Path, version: str) -> list[str]:
    (folder / "package.json").write_text('{"type": "module"}\n')
    shutil.copy(HERE / "npm.mjs", folder)
    readme = (folder / "node_modules/strew/README.md").read_text()
    example = re.search(r"```js\n(.*?)```", readme, re.DOTALL)[1]
    (folder / "example.mjs").write_text(example)
    problems = []
    for program, expected in (
        ("npm.mjs", version),
        ("example.mjs", re.search(r"// ([\d ]+)$", example, re.MULTILINE)[1]),
    ):
        done = subprocess.run(["node", program], cwd=folder, text=True, stdout=subprocess.PIPE)
        if done.returncode != 0 or done.stdout.strip() != expected:
            problems.append(f"{program}: exit {done.returncode}, {done.stdout!r}")
    return problems


def in_typescript(folder: Path) -> list[str]:
    """Modules are those of Node.js, where the file package.json of the package names its types."""
    tsc = shutil.which("tsc")
    if tsc is None:
        print("not checked: strew.d.ts, without tsc (Debian package node-typescript)")
        return []
    shutil.copy(HERE / "npm.ts", folder)
    command = [tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "npm.ts"]
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE)
    return [] if done.returncode == 0 else [f"tsc: exit {done.returncode}", done.stdout]


def in_browser(package: Path) -> list[str]:
    handler = functools.partial(Server, directory=str(package))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with browser.Browser() as shown:
            shown.open(f"http://127.0.0.1:{server.server_port}/example.html")
            shown.evaluate(WHEN_LOADED)
            shown.evaluate(f"text.value = '{WORD}'; text.dispatchEvent(new Event('input'))")
            found = shown.evaluate("counts.textContent")
        server.shutdown()
    expected = "\n".join(f"{letter} {'*' * count}" for letter, count in COUNTS.items())
    return [] if found == expected else [f"example.html shows {found!r}"]


def main(root: str, version: str) -> None:
    house.require("em++")
    house.require("node")
    browser.program()
    if not building.has_highway_sources():
        house.skip(building.NO_HIGHWAY)
    with tempfile.TemporaryDirectory() as name:
        package = Path(name, "node_modules", "strew")
        script = str(Path(root, "packaging/npm/build.py"))
        building.quietly([sys.executable, script, str(package)])
        print(f"strew.wasm: {(package / 'strew.wasm').stat().st_size} bytes")
        problems = [*in_node(Path(name), version), *in_typescript(Path(name))]
        house.finish([*problems, *in_browser(package)])


main(*sys.argv[1:])
