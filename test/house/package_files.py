# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig

_PRIVATE = ("_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
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
_MODULES = ("__init__.py", *_PRIVATE, "py.typed", "sharding.py", *(f"torch/{n}" for n in _TORCH))


def package_files() -> set[str]:
    """Paths below the folder of packages."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES)}
