# SPDX-License-Identifier: Apache-2.0
"""Functions with the signatures and the meaning of torch_scatter's; public in strew.torch.

    out[..., index[i], ...] = the sum, product, mean, least or greatest of all src[..., i, ...]

src       any shape
index     int64, with the shape of src or one that is broadcast to it: a single dim lies along
          `dim`; several dims are the first ones of src
dim       the axis of src that is reduced
out       the tensor for the result, updated in place: its values are the first terms
dim_size  the size of the result on `dim` if out is not given; the default is index.max() + 1

Elements that no index names are 0, or 1 in products. Unlike in torch_scatter, minima and maxima of
NaN are NaN, means are rounded once, and negative indices count from the end.
"""

from __future__ import annotations

import torch
from torch import Tensor

from strew.torch._calls import are_recorded, are_transformed
from strew.torch._places import Elements, Places, Rows
from strew.torch.operators import scatter_elements, scatter_update


def scatter(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
    reduce: str = "sum",
) -> Tensor:
    """The reduction of that name: "sum" or "add", "mul", "mean", "min", "max"."""
    if reduce in ("sum", "add"):
        return scatter_sum(src, index, dim, out, dim_size)
    if reduce == "mul":
        return scatter_mul(src, index, dim, out, dim_size)
    if reduce == "mean":
        return scatter_mean(src, index, dim, out, dim_size)
    if reduce in ("min", "max") and _records(src, out):
        return _extremum(src, index, dim, out, dim_size, reduce)[0]
    if reduce in ("min", "max"):
        base = _filled(src, index, dim, dim_size, 0) if out is None else out
        return _reduced(base, src, index, dim, reduce, out is not None, out is None)
    raise ValueError(f"reduce {reduce!r} is not one of: sum, add, mul, mean, min, max")


def scatter_sum(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> Tensor:
    """Sums."""
    base = _filled(src, index, dim, dim_size, 0) if out is None else out
    return _reduced(base, src, index, dim, "add", out is not None)


def scatter_add(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> Tensor:
    """scatter_sum()."""
    return scatter_sum(src, index, dim, out, dim_size)


def scatter_mul(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> Tensor:
    """Products."""
    base = _filled(src, index, dim, dim_size, 1) if out is None else out
    return _reduced(base, src, index, dim, "mul", out is not None)


def scatter_mean(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> Tensor:
    """Means, of integers rounded down. With out: (out + sums) / the number of terms of src."""
    if out is None:
        base = _filled(src, index, dim, dim_size, 0)
        return _updated(base, src, index, dim, "mean", True)
    if out.dtype is torch.bool:
        raise TypeError("scatter_mean() does not divide booleans")
    sums = scatter_sum(src, index, dim, out)
    with torch.no_grad():
        terms = torch.zeros(out.shape, dtype=torch.int64, device=out.device)
        ones = torch.ones((), dtype=torch.int64, device=out.device).expand(src.shape)
        terms = _updated(terms, ones, index, dim, "add", False).clamp_(min=1)
    exact = out.is_floating_point() or out.is_complex()
    return sums.div_(terms, rounding_mode=None if exact else "floor")


def scatter_min(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The least, and its first position in src; src.size(dim) if no element of src equals it."""
    return _extremum(src, index, dim, out, dim_size, "min")


def scatter_max(
    src: Tensor,
    index: Tensor,
    dim: int = -1,
    out: Tensor | None = None,
    dim_size: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The greatest, and its first position in src; src.size(dim) if no element of src equals it."""
    return _extremum(src, index, dim, out, dim_size, "max")


# ---- Shared ----


def _lies_along(src: Tensor, index: Tensor) -> bool:
    """True if each index names a row, and not an element."""
    return index.dim() == 1 and src.dim() > 1


def _spread(src: Tensor, index: Tensor, dim: int) -> Tensor:
    """The index of every element. In repeated dims strew reads each index only once."""
    if index.dim() == 1:
        index = index.reshape([-1 if axis == dim % src.dim() else 1 for axis in range(src.dim())])
    missing = src.dim() - index.dim()
    return index.reshape(*index.shape, *[1] * missing).expand(src.shape)


def _filled(src: Tensor, index: Tensor, dim: int, dim_size: int | None, value: int) -> Tensor:
    shape, rank = list(src.shape), src.dim()
    if not -rank <= dim < rank:
        raise IndexError(f"dim = {dim} is out of range [{-rank}, {rank - 1}] for src")
    if dim_size is None:
        # PyTorch has no maximum of unsigned integers of 16 to 64 bits.
        dim_size = int(index.long().max()) + 1 if index.numel() > 0 else 0
    shape[dim] = dim_size
    return src.new_full(shape, value)


def _updated(
    base: Tensor, src: Tensor, index: Tensor, dim: int, reduction: str, exclude_self: bool
) -> Tensor:
    if _lies_along(src, index):
        scattered: Tensor = scatter_update(
            base,
            index,
            src,
            dim,
            reduction=reduction,  # type: ignore[arg-type]
            exclude_self=exclude_self,
            wide=True,
        )
        return scattered
    return scatter_elements(
        base,
        _spread(src, index, dim),
        src,
        dim,
        reduction=reduction,  # type: ignore[arg-type]
        exclude_self=exclude_self,
        wide=True,
    )


def _written(
    base: Tensor, src: Tensor, index: Tensor, dim: int, reduction: str, exclude_self: bool
) -> Tensor:
    """_updated() in place, without gradients."""
    rows = _lies_along(src, index)
    operator = scatter_update if rows else scatter_elements
    return operator(
        base,
        index if rows else _spread(src, index, dim),
        src,
        dim,
        reduction=reduction,  # type: ignore[arg-type]
        exclude_self=exclude_self,
        wide=True,
        out=base,
    )


def _records(src: Tensor, out: Tensor | None) -> bool:
    return torch.is_grad_enabled() and (src.requires_grad or out is not None and out.requires_grad)


def _reduced(
    base: Tensor,
    src: Tensor,
    index: Tensor,
    dim: int,
    reduction: str,
    in_place: bool,
    exclude_self: bool = False,
) -> Tensor:
    """In place if the caller gave the base, also when gradients are recorded."""
    if not (_records(src, base) or are_transformed()):
        return _written(base, src, index, dim, reduction, exclude_self)
    # A copy, since gradients of products need the values that the base had.
    start = base.clone() if in_place else base
    scattered = _updated(start, src, index, dim, reduction, exclude_self)
    return base.copy_(scattered) if in_place else scattered


def _extremum(
    src: Tensor,
    index: Tensor,
    dim: int,
    out: Tensor | None,
    dim_size: int | None,
    reduction: str,
) -> tuple[Tensor, Tensor]:
    base = _filled(src, index, dim, dim_size, 0) if out is None else out
    size = src.shape[dim]
    with torch.no_grad():
        values = _updated(base, src, index, dim, reduction, out is None)
        first = _first_of(values, src, index, dim)
        if out is not None:
            first.masked_fill_(values == out, size)
    if _records(src, out):
        # As in torch_scatter, the gradient goes to the element that was found, or to that of out.
        values = base
        if size > 0:
            taken = src.gather(dim, first.clamp(max=size - 1))
            values = torch.where(first < size, taken, base)
    return (values if out is None else out.copy_(values)), first


def _first_of(values: Tensor, src: Tensor, index: Tensor, dim: int) -> Tensor:
    """The first position of each value in src; src.size(dim) if it is not there."""
    size, rank = src.shape[dim], src.dim()
    rows = _lies_along(src, index)
    at: Places = Rows(index, dim) if rows else Elements(_spread(src, index, dim), dim)
    found = at.gather(values)
    is_it = src == found
    has_nan = values.is_floating_point() or values.is_complex()
    if has_nan and not (are_transformed() or are_recorded()):
        has_nan = bool((values != values).any())  # which compilers and vmap could not branch on
    if has_nan:
        is_it = is_it | (src != src) & (found != found)
    # int32 has half the bytes of int64, and the cost of this is memory traffic.
    dtype = torch.int32 if size < 2**31 else torch.int64
    steps = [-1 if axis == dim % rank else 1 for axis in range(rank)]
    numbers = torch.arange(size, dtype=dtype, device=src.device).reshape(steps)
    candidates = torch.where(is_it, numbers, size)
    none = torch.full(values.shape, size, dtype=dtype, device=src.device)
    return _updated(none, candidates, index, dim, "min", True).long()
