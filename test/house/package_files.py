# SPDX-License-Identifier: Apache-2.0
"""The files of the Python package, in a wheel and where Meson installs it."""

import sysconfig
from collections.abc import Iterable

_PRIVATE = ("_shard_plans.py", "_shards.py", "_strew.pyi", "_support.py")
_MODULES = ("__init__.py", *_PRIVATE, "onnxruntime.py", "py.typed", "sharding.py")
# Libraries for other systems, which are there where the headers of these were.
ADAPTERS = ("libstrew_onnxruntime.so",)


def package_files(adapters: Iterable[str]) -> set[str]:
    """Paths below the folder of packages, of a package with some of the ADAPTERS."""
    extension = "_strew" + sysconfig.get_config_var("EXT_SUFFIX")
    return {f"strew/{name}" for name in (extension, *_MODULES, *adapters)}
