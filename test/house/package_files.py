# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig

_JAX = ("_jax_gradients.py", "_jax_native.py", "_jax_operators.py", "_jax_plans.py")
_PRIVATE = (*_JAX, "_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
_ADAPTERS = ("jax.py", "onnxruntime.py", "openvino.py")
_MODULES = ("__init__.py", *_PRIVATE, *_ADAPTERS, "py.typed", "sharding.py")


# Libraries that are left out where the headers of their systems are not there.
ADAPTER_LIBRARIES = {f"strew/libstrew_{name}.so" for name in ("jax", "onnxruntime", "openvino")}


def package_files() -> set[str]:
    """Paths below the folder of packages."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES)}
