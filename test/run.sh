#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need on Debian 12, builds them in build-test/, runs them, and says in a
# table what passed, and what was skipped and why. It runs the suite quick: tests of seconds, and a
# sample of those that take minutes. --most leaves out only the suite slow: sanitizers, fuzzers,
# other CPUs, static analysis, wheels. --all leaves out nothing.
set -eu
cd "$(dirname "$0")/.."
steps_folder=build-test
. ./src/cli/steps.sh

case "${1:-}" in
  '') choice='--suite quick' duration='two to three minutes' ;;
  --most) choice='--no-suite slow' duration='ten to fifteen minutes' ;;
  --all) choice='' duration='about forty minutes' ;;
  *) echo 'usage: sh test/run.sh [--most | --all]' && exit 2 ;;
esac

step 'Installing compilers, Meson, libraries and tools (Debian packages)'
packages g++ dpkg-dev clang clang-format git meson pkg-config libhwy-dev libcli11-dev libzip-dev \
  libgtest-dev libbenchmark-dev libtbb-dev libpthreadpool-dev binutils abigail-tools cppcheck valgrind \
  python3-dev python3-venv
step 'Installing Python packages into .venv'
[ -x .venv/bin/pip ] || quietly python3 -m venv .venv
quietly .venv/bin/pip install -q -r test/python/requirements.txt
PATH="$PWD/.venv/bin:$PATH"
if [ ! -f build-test/build.ninja ]; then
  step 'Configuring build-test/'
  quietly meson setup build-test -Dwerror=true -Dpython=auto
fi
step 'Building the library, the command, the package and the tests: about five minutes'
quietly meson compile -C build-test
step "Running the tests: $duration on two CPUs"
status=0
# shellcheck disable=SC2086 # the choice is several words or none
meson test -C build-test --no-rebuild $choice >>"$steps_log" 2>&1 </dev/null || status=$?
python3 test/summary.py build-test/meson-logs/testlog.json
[ "$status" -eq 0 ] || echo "All that was printed: build-test/meson-logs/testlog.txt"
exit "$status"
