# SPDX-License-Identifier: Apache-2.0
# Functions for scripts that run steps in sequence. A script sets steps_folder and sources this
# file. The output of programs goes to steps.log in that folder, and is shown if one fails.
mkdir -p "$steps_folder"
steps_log=$steps_folder/steps.log
: >"$steps_log"

step() { printf '== %s\n' "$*"; }

quietly() {
  "$@" >>"$steps_log" 2>&1 </dev/null && return
  status=$?
  tail -n 30 "$steps_log"
  printf '%s ended with %s; all that it printed: %s\n' "$1" "$status" "$steps_log"
  exit "$status"
}

# Installs Debian packages. While a mirror syncs, its indexes contradict each other for minutes:
# retry.
packages() {
  export DEBIAN_FRONTEND=noninteractive
  for turn in 1 2 3; do
    apt-get -qq update >>"$steps_log" 2>&1 &&
      apt-get -qq install -y --no-install-recommends "$@" >>"$steps_log" 2>&1 </dev/null && return
    [ "$turn" = 3 ] || sleep 30
  done
  quietly apt-get -qq install -y --no-install-recommends "$@"
}
