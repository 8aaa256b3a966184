# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig
from collections.abc import Iterable

_JAX = ("_jax_gradients.py", "_jax_native.py", "_jax_operators.py", "_jax_plans.py")
_PRIVATE = ("_at.py", *_JAX, "_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
_SYSTEMS = ("jax.py", "onnxruntime.py", "openvino.py")
_MODULES = ("__init__.py", *_PRIVATE, *_SYSTEMS, "py.typed", "sharding.py")
# Libraries for other systems, which are there where the headers of these were.
ADAPTERS = ("libstrew_jax.so", "libstrew_onnxruntime.so", "libstrew_openvino.so")


def package_files(adapters: Iterable[str]) -> set[str]:
    """Paths below the folder of packages, of a package with some of the ADAPTERS."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES, *adapters)}
