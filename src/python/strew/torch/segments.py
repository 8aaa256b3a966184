# SPDX-License-Identifier: Apache-2.0
"""torch_scatter's functions for segments, given by sorted indices or by their bounds.

    segment_coo(src, index)     segments along dim index.dim() - 1; index names that of each element
    segment_csr(src, indptr)    segment m has the elements indptr[..., m] to indptr[..., m + 1]

Results are those of scatter(); segment_coo() does not require sorted indices.
"""

from __future__ import annotations

import torch
from torch import Tensor

from strew.torch._calls import IndexOutOfRange
from strew.torch.scatters import scatter, scatter_max, scatter_min


def segment_coo(
    src: Tensor,
    index: Tensor,
    out: Tensor | None = None,
    dim_size: int | None = None,
    reduce: str = "sum",
) -> Tensor:
    """scatter() along the last dim of index, whose dims are the first ones of src."""
    return scatter(src, _of_first_dims(src, index), index.dim() - 1, out, dim_size, reduce)


def segment_sum_coo(
    src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
) -> Tensor:
    """Sums of segments."""
    return segment_coo(src, index, out, dim_size, "sum")


def segment_add_coo(
    src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
) -> Tensor:
    """segment_sum_coo()."""
    return segment_coo(src, index, out, dim_size, "sum")


def segment_mean_coo(
    src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
) -> Tensor:
    """Means of segments."""
    return segment_coo(src, index, out, dim_size, "mean")


def segment_min_coo(
    src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
) -> tuple[Tensor, Tensor]:
    """The least of each segment, and where it stands."""
    return scatter_min(src, _of_first_dims(src, index), index.dim() - 1, out, dim_size)


def segment_max_coo(
    src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None
) -> tuple[Tensor, Tensor]:
    """The greatest of each segment, and where it stands."""
    return scatter_max(src, _of_first_dims(src, index), index.dim() - 1, out, dim_size)


def segment_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None = None, reduce: str = "sum"
) -> Tensor:
    """Segments by their bounds, in ascending order. Old values of out are lost."""
    elements, index, dim, size = _of_bounds(src, indptr)
    reduced = scatter(elements, index, dim, None, size, reduce).narrow(dim, 0, size - 1)
    return _given_or(out, reduced)


def segment_sum_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """Sums of segments."""
    return segment_csr(src, indptr, out, "sum")


def segment_add_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """segment_sum_csr()."""
    return segment_csr(src, indptr, out, "sum")


def segment_mean_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """Means of segments."""
    return segment_csr(src, indptr, out, "mean")


def segment_min_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The least of each segment, and where it stands."""
    return _extremum_csr(src, indptr, out, is_least=True)


def segment_max_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The greatest of each segment, and where it stands."""
    return _extremum_csr(src, indptr, out, is_least=False)


def _extremum_csr(
    src: Tensor, indptr: Tensor, out: Tensor | None, is_least: bool
) -> tuple[Tensor, Tensor]:
    elements, index, dim, size = _of_bounds(src, indptr)
    function = scatter_min if is_least else scatter_max
    both = function(elements, index, dim, None, size)
    reduced, places = (tensor.narrow(dim, 0, size - 1) for tensor in both)
    return _given_or(out, reduced), places


def _given_or(out: Tensor | None, reduced: Tensor) -> Tensor:
    if out is None:
        return reduced
    if out.shape != reduced.shape or out.dtype != reduced.dtype:
        raise ValueError(
            f"out has shape {list(out.shape)} and dtype {out.dtype}, but the segments have shape "
            f"{list(reduced.shape)} and dtype {reduced.dtype}"
        )
    return out.copy_(reduced)


def _of_first_dims(src: Tensor, index: Tensor) -> Tensor:
    return index if index.dim() == 1 else index.expand(src.shape[: index.dim()])


def _of_bounds(src: Tensor, indptr: Tensor) -> tuple[Tensor, Tensor, int, int]:
    """Arguments of scatter(), with one more segment for elements that are in none."""
    dim = indptr.dim() - 1
    if dim < 0 or indptr.shape[-1] == 0:
        raise ValueError("indptr needs a dim with at least one bound")
    if indptr.is_floating_point() or indptr.is_complex() or indptr.dtype is torch.bool:
        raise TypeError(f"indptr has dtype {indptr.dtype}, which is not an integer dtype")
    if src.dim() <= dim:
        raise ValueError(f"indptr has rank {dim + 1}, but src has rank {src.dim()}")
    bounds = indptr.long().expand(*src.shape[:dim], indptr.shape[-1]).contiguous()
    n, segments = src.shape[dim], indptr.shape[-1] - 1
    _require_bounds(bounds, n)
    numbers = torch.arange(n, device=src.device).expand(*src.shape[:dim], n)
    index = torch.searchsorted(bounds, numbers.contiguous(), right=True) - 1
    return src, torch.where(index < 0, segments, index), dim, segments + 1


def _require_bounds(bounds: Tensor, n: int) -> None:
    wrong = (bounds < 0) | (bounds > n)
    if bool(wrong.any()):
        position = int(wrong.flatten().nonzero()[0])
        value = int(bounds.flatten()[position])
        sentence = f"indptr has {value} at {position}, which is out of range [0, {n}]"
        raise IndexOutOfRange(sentence, "STREW_INDEX_OUT_OF_RANGE", position)
    if bool((bounds.diff(dim=-1) < 0).any()):
        raise ValueError("indptr does not ascend")
