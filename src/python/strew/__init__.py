# SPDX-License-Identifier: Apache-2.0
"""Scatter updates into tensors: checked, deterministic and fast.

Operators take NumPy arrays and whatever else has __dlpack__, __array__ or a buffer. They leave
`data` alone and return a new NumPy array, or write to `out`, in place where that is `data`:

    strew.scatter_nd(data, [[4], [3], [1], [-1]], updates, out=data)

Calls release the GIL. A daemon thread within a call stops there when the interpreter shuts down.
The contract is that of the C API, in include/strew/strew.h.
"""

from strew._strew import (
    Context,
    scatter_elements,
    scatter_nd,
    scatter_update,
    simd_targets,
    slice_scatter,
    tensor_scatter,
    version,
)
from strew._support import Error

__version__ = version()

__all__ = [
    "Context",
    "Error",
    "__version__",
    "scatter_elements",
    "scatter_nd",
    "scatter_update",
    "simd_targets",
    "slice_scatter",
    "tensor_scatter",
    "version",
]
