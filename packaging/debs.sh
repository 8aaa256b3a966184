#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the packages for Debian from an archive of the sources, and checks them with lintian.
#
# usage: sh packaging/debs.sh <strew-VERSION.tar.gz> <folder>
#
# Debian 12 has no nanobind of 2.15 or newer. PYTHONPATH may name a folder with that of PyPI:
# pip install --target FOLDER nanobind
#
# Exits with status 77 where packages to build with are missing, and names them.
set -eu
archive=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
version=$(basename "$archive" .tar.gz)
version=${version#strew-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Packages are for the Python of the system.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
cp "$archive" "$work/strew_$version.orig.tar.gz"
tar -xf "$archive" -C "$work"
source="$work/strew-$version"
cp -r "$here/debian" "$source/debian"
cd "$source"
missing=$(dpkg-checkbuilddeps 2>&1 | sed 's/.*: //') || true
case "$missing" in
  '') checked= ;;
  'python3-nanobind (>= 2.15)')
    python3 -c 'import nanobind' || exit 1
    checked=-d
    ;;
  *) printf 'apt-get install %s\n' "$missing" && exit 77 ;;
esac
# shellcheck disable=SC2086 # an option or none
dpkg-buildpackage --no-sign --build=full $checked
cd "$work"
lintian --fail-on error,warning --profile debian ./*.changes
cp ./*.deb ./*.dsc ./*.tar.* ./*.changes ./*.buildinfo "$folder"
