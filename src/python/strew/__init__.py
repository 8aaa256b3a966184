# SPDX-License-Identifier: Apache-2.0
"""Scatter updates into tensors: checked, deterministic and fast.

Operators take NumPy arrays and other objects with __dlpack__, __array__ or a buffer. They leave
`data` unchanged and return a new array of its kind, or write to `out`, in place if that is `data`:

    strew.scatter_nd(data, [[4], [3], [1], [-1]], updates, out=data)

A plan checks indices and puts them in order once, for any number of calls:

    plan = strew.plan_scatter_update(indices, len(data))
    plan.scatter(data, updates, reduction="add", out=data)
    rows = plan.gather(data)

add_at(a, indices, values) is a faster numpy.add.at(); subtract_at(), multiply_at(), minimum_at()
and maximum_at() likewise.

Calls release the GIL. When the interpreter shuts down, a daemon thread within a call stops there.
The contract is that of the C API, in include/strew/strew.h.
"""

from strew._strew import (
    Context,
    Plan,
    gather_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    plan_scatter_update,
    scatter_elements,
    scatter_nd,
    scatter_update,
    simd_targets,
    slice_scatter,
    tensor_scatter,
    version,
)
from strew._at import add_at, maximum_at, minimum_at, multiply_at, set_at, subtract_at
from strew._support import Error, IndexRangeError

__version__ = version()

__all__ = [
    "Context",
    "Error",
    "IndexRangeError",
    "Plan",
    "__version__",
    "add_at",
    "gather_scatter",
    "maximum_at",
    "minimum_at",
    "multiply_at",
    "plan_scatter_elements",
    "plan_scatter_nd",
    "plan_scatter_update",
    "scatter_elements",
    "scatter_nd",
    "scatter_update",
    "set_at",
    "simd_targets",
    "slice_scatter",
    "subtract_at",
    "tensor_scatter",
    "version",
]
