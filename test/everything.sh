# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need besides what test/run.sh installs, so that none is skipped, on Debian
# 12: compilers for other languages and CPUs, tools that analyse and pack, and the systems that strew
# works inside of. Names what cannot be had; the tests that need it are skipped, with the reason. To
# be sourced as root in the root of a clone: it may change PKG_CONFIG_PATH.
export DEBIAN_FRONTEND=noninteractive

# A mirror in the middle of a sync has indexes that contradict each other, for minutes.
update() {
  for turn in 1 2 3 4; do
    [ "$turn" -eq 1 ] || sleep 30
    apt-get -qq update && return 0
  done
  return 1
}

install() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

# Other CPUs: without their packages the tests that need them are skipped, with the reason.
install_cross() {
  machines='aarch64 s390x x86_64-windows wasm32' architectures='arm64 s390x'
  for architecture in $architectures; do dpkg --add-architecture "$architecture"; done
  # shellcheck disable=SC2046,SC2086 # several words
  update && install $(python3 test/cross/run.py --packages $machines) && return 0
  for architecture in $architectures; do dpkg --remove-architecture "$architecture"; done
  return 1
}

update && install clang-16 libclang-rt-16-dev llvm-16 clang-tidy-16 libc++-16-dev libc++abi-16-dev \
  python3 python3-venv cmake fish golang-go default-jdk-headless libjna-java luajit rustc \
  musl-tools doxygen mandoc chromium fonts-dejavu-core debhelper dh-python fakeroot lintian python3-numpy
# A Node.js from elsewhere brings npm, and conflicts with Debian's.
[ -x "$(command -v npm)" ] || install nodejs npm
install node-typescript || echo 'no TypeScript for the npm package'
timeout 300 npm install --silent --no-save --prefix .venv koffi || echo 'no koffi for Node.js'
install_cross || echo 'no packages for other CPUs'
# Tests of builds that have Highway inside, those for Windows among them, are skipped without it.
python3 packaging/highway.py || echo 'no sources of Highway'
# Without them the tests of strew inside ONNX Runtime are skipped, with the reason.
if headers=$(python3 test/inside/onnxruntime_headers.py build-onnxruntime-headers); then
  export PKG_CONFIG_PATH="$headers${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
else
  echo 'no headers of ONNX Runtime'
fi
# The large ones among the systems that strew works inside of; the others are in requirements.txt.
python3 -m venv .venv && .venv/bin/pip install -q torch==2.13.0 jax expecttest || echo 'no PyTorch or no JAX'
# Validates the list of a release's contents.
.venv/bin/pip install -q spdx-tools || echo 'no spdx-tools'
