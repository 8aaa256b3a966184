#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the library and its command need on Debian 12, builds both in build/, and shows two
# examples.
set -eu
cd "$(dirname "$0")/../.."
steps_folder=build
. ./src/cli/steps.sh

step 'Installing the compiler, Meson, Highway, CLI11, libzip and NumPy (Debian packages)'
packages g++ dpkg-dev meson pkg-config libhwy-dev libcli11-dev libzip-dev python3-numpy
if [ ! -f build/build.ninja ]; then
  step 'Configuring build/'
  quietly meson setup build -Dtests=disabled -Dbenchmarks=disabled
fi
step 'Building the library and the command: a minute or two'
quietly meson compile -C build
step 'Running the examples'
/usr/bin/python3 src/cli/show_examples.py build/src/cli/strew build/examples
