# SPDX-License-Identifier: Apache-2.0
"""Gradients of a scatter for data and updates, for all operators and plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from strew.torch._places import Places, numbers

# The reductions whose gradients depend on values, so that tensors must be kept for them.
NEEDS_VALUES = ("mul", "min", "max")

Pair = tuple[Tensor | None, Tensor | None]


@dataclass
class Scattered:
    """A call that was made. data, updates and result are None where no gradient needs them."""

    places: Places
    shape: torch.Size  # of updates
    reduction: str
    exclude_self: bool
    data: Tensor | None
    updates: Tensor | None
    result: Tensor | None

    def gradients(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        """For data and for updates, in the shape that gather() returns."""
        formula = {
            "none": self._of_none,
            "add": self._of_sums,
            "sub": self._of_sums,
            "mean": self._of_mean,
            "mul": self._of_products,
            "min": self._of_extrema,
            "max": self._of_extrema,
        }[self.reduction]
        return formula(grad, needs_data, needs_updates)

    def _cleared(self, grad: Tensor) -> Tensor:
        """Zeros at the places."""
        nothing = torch.zeros((), dtype=grad.dtype, device=grad.device).expand(self.shape)
        return self.places.scatter(grad, nothing, "none")

    def _of_data(self, share: Tensor) -> Tensor:
        return self._cleared(share) if self.exclude_self else share

    def _of_none(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        of_data = self._cleared(grad) if needs_data else None
        if not needs_updates:
            return of_data, None
        gathered = self.places.gather(grad)
        with torch.no_grad():
            names = numbers(gathered.shape, grad.device)
            last = torch.full(grad.shape, -1, dtype=names.dtype, device=grad.device)
            is_last = self.places.gather(self.places.scatter(last, names, "none")) == names
        return of_data, torch.where(is_last, gathered, 0)

    def _of_sums(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        gathered = self.places.gather(grad) if needs_updates else None
        if gathered is not None and self.reduction == "sub":
            gathered = -gathered
        return self._of_data(grad) if needs_data else None, gathered

    def share_of_mean(self, grad: Tensor) -> Tensor:
        """The gradient divided by the number of terms of each element."""
        with torch.no_grad():
            ones = torch.ones(grad.shape, dtype=torch.float64, device=grad.device)
            terms = self.places.scatter(ones, self.places.gather(ones), "add", self.exclude_self)
        return grad / terms.to(grad.real.dtype if grad.is_complex() else grad.dtype)

    def _of_mean(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        share = self.share_of_mean(grad)
        of_data = self._of_data(share) if needs_data else None
        return of_data, self.places.gather(share) if needs_updates else None

    def _of_extrema(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        """All terms that equal the result share the gradient equally, as in PyTorch."""
        assert self.data is not None and self.updates is not None and self.result is not None
        with torch.no_grad():
            of_data = (self.data == self.result).to(grad.dtype)
            of_updates = (self.updates == self.places.gather(self.result)).to(grad.dtype)
            terms = self.places.scatter(of_data, of_updates, "add", self.exclude_self, wide=True)
        share = grad / terms
        return (
            self._of_data(share * of_data) if needs_data else None,
            self.places.gather(share) * of_updates if needs_updates else None,
        )

    def _of_products(self, grad: Tensor, needs_data: bool, needs_updates: bool) -> Pair:
        """The product of the other terms. A term that is zero is left out instead of divided by.

        If one of the others is zero, so is their product, but its derivative for that one is not.
        Third derivatives are right where no term is zero.
        """
        assert self.data is not None and self.updates is not None
        data, updates = self.data, self.updates
        data_zero, updates_zero = data == 0, updates == 0
        data_factor = torch.where(data_zero, 1, data)
        updates_factor = torch.where(updates_zero, 1, updates)
        product = self.places.scatter(data_factor, updates_factor, "mul", self.exclude_self)
        zeros = self.places.scatter(
            data_zero.int(), updates_zero.int(), "add", exclude_self=self.exclude_self
        )
        # The sum of the terms that are zero, for second derivatives.
        null = None
        if torch.is_grad_enabled():
            of_zeros = torch.where(data_zero, data, 0), torch.where(updates_zero, updates, 0)
            null = self.places.scatter(*of_zeros, "add", self.exclude_self)

        def others(of: Callable[[Tensor], Tensor], term: Tensor, is_zero: Tensor) -> Tensor:
            factor = torch.where(is_zero, 1, term)
            rest = torch.where(is_zero, of(product), of(product) / factor)
            zeros_of_others = of(zeros) - is_zero.int()
            if null is not None:
                null_of_others = of(null) - torch.where(is_zero, term, 0)
                rest = torch.where(zeros_of_others == 1, rest * null_of_others, rest)
                return torch.where(zeros_of_others > 1, 0, rest).conj()
            return torch.where(zeros_of_others == 0, rest, 0).conj()

        of_data = of_updates = None
        if needs_data:
            of_data = self._of_data(grad * others(lambda total: total, data, data_zero))
        if needs_updates:
            gather = self.places.gather
            of_updates = gather(grad) * others(gather, updates, updates_zero)
        return of_data, of_updates


def to_shape(gradient: Tensor | None, shape: torch.Size) -> Tensor | None:
    """Sums over dims that were broadcast. scatter_nd also accepts one element for rank 0."""
    if gradient is None or gradient.shape == shape:
        return gradient
    if gradient.numel() == 1 and shape.numel() == 1:
        return gradient.reshape(shape)
    return gradient.sum_to_size(shape)
