# SPDX-License-Identifier: Apache-2.0
"""strew in PyTorch: operators on CPU tensors, with gradients, vmap and torch.compile.

    import strew.torch

    sums = strew.torch.scatter_update(data, indices, updates, reduction="add")

    to_nodes = strew.torch.plan_scatter_update(target, len(x))
    from_nodes = strew.torch.plan_scatter_update(source, len(x))
    sums = strew.torch.gather_scatter(from_nodes, x, to_nodes, torch.zeros_like(x), weights)

After enable(), calls of PyTorch's own operators go to strew if the results are the same:

    with strew.torch.enable():
        sums = torch.zeros_like(x).index_add_(0, target, messages)

Results are tensors. Large calls run on PyTorch's threads.
"""

from strew.torch import _autograd, _batching  # they register what they define  # noqa: F401
from strew.torch._calls import IndexOutOfRange
from strew.torch.aten import Enabled, disable, enable, is_enabled
from strew.torch.operators import scatter_elements, scatter_nd, scatter_update, slice_scatter
from strew.torch.plans import (
    Plan,
    gather_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    plan_scatter_update,
)
from strew.torch.scatters import (
    scatter,
    scatter_add,
    scatter_max,
    scatter_mean,
    scatter_min,
    scatter_mul,
    scatter_sum,
)
from strew.torch.segments import (
    segment_add_coo,
    segment_add_csr,
    segment_coo,
    segment_csr,
    segment_max_coo,
    segment_max_csr,
    segment_mean_coo,
    segment_mean_csr,
    segment_min_coo,
    segment_min_csr,
    segment_sum_coo,
    segment_sum_csr,
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
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_sum",
    "scatter_update",
    "segment_add_coo",
    "segment_add_csr",
    "segment_coo",
    "segment_csr",
    "segment_max_coo",
    "segment_max_csr",
    "segment_mean_coo",
    "segment_mean_csr",
    "segment_min_coo",
    "segment_min_csr",
    "segment_sum_coo",
    "segment_sum_csr",
    "slice_scatter",
]
