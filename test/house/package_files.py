# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig
from collections.abc import Iterable

_JAX_PARTS = ("gradients", "indices", "native", "operators", "plans")
_JAX = tuple(f"_jax_{part}.py" for part in _JAX_PARTS)
_PRIVATE = ("_at.py", *_JAX, "_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
_SYSTEMS = ("jax.py", "onnxruntime.py", "openvino.py")
# Libraries for other systems, which are there where the headers of these were.
ADAPTERS = ("libstrew_jax.so", "libstrew_onnxruntime.so", "libstrew_openvino.so")
_TORCH = (
    "__init__.py",
    "_autograd.py",
    "_batching.py",
    "_calls.py",
    "_gradients.py",
    "_library.py",
    "_places.py",
    "_registry.py",
    "_routes.py",
    "aten.py",
    "operators.py",
    "plans.py",
    "scatters.py",
    "segments.py",
)
_OWN = ("__init__.py", *_PRIVATE, *_SYSTEMS, "py.typed", "sharding.py")
_MODULES = (*_OWN, *(f"torch/{name}" for name in _TORCH))


def package_files(adapters: Iterable[str]) -> set[str]:
    """Paths below the folder of packages, of a package with some of the ADAPTERS."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES, *adapters)}
