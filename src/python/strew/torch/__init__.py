# SPDX-License-Identifier: Apache-2.0
"""strew in PyTorch: operators on tensors of the CPU, with gradients, vmap and torch.compile.

    import strew.torch

    sums = strew.torch.scatter_update(data, indices, updates, reduction="add")

    to_nodes = strew.torch.plan_scatter_update(target, len(x))
    from_nodes = strew.torch.plan_scatter_update(source, len(x))
    sums = strew.torch.gather_scatter(from_nodes, x, to_nodes, torch.zeros_like(x), weights)

Calls of PyTorch's own operators go to strew where the results are the same, after enable():

    with strew.torch.enable():
        sums = torch.zeros_like(x).index_add_(0, target, messages)

Results are tensors. Large calls run on the threads of PyTorch.
"""

from strew.torch._calls import IndexOutOfRange
from strew.torch import _autograd, _batching  # they register what they define  # noqa: F401
from strew.torch.aten import Enabled, disable, enable, is_enabled
from strew.torch.operators import scatter_elements, scatter_nd, scatter_update, slice_scatter
from strew.torch.plans import (
    Plan,
    gather_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    plan_scatter_update,
)

__all__ = [
    "Enabled",
    "IndexOutOfRange",
    "Plan",
    "disable",
    "enable",
    "gather_scatter",
    "is_enabled",
    "plan_scatter_elements",
    "plan_scatter_nd",
    "plan_scatter_update",
    "scatter_elements",
    "scatter_nd",
    "scatter_update",
    "slice_scatter",
]
