# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig

_PRIVATE = ("_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
_MODULES = ("__init__.py", *_PRIVATE, "onnxruntime.py", "py.typed", "sharding.py")


def package_files() -> set[str]:
    """Paths below the folder of packages."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES)}
