# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists beside arrays, updates that are repeated, and results of the kind of data."""

from __future__ import annotations

import numpy as np
import pytest

import strew

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
DTYPES += "float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_take_the_dtype_of_data(dtype) -> None:
    data = np.zeros(4, dtype)
    numbers = [True, False] if dtype == "bool" else [3, 5]
    for updates in (numbers, tuple(numbers), np.array(numbers, dtype)):
        new = strew.scatter_update(data, [1, 3], updates)
        assert new.dtype == data.dtype and new.tolist() == [0, numbers[0], 0, numbers[1]]
    for number in (numbers[0], np.array(numbers, dtype)[0], np.array(numbers[0], dtype)):
        assert strew.scatter_update(data, [1, 3], number).tolist() == [0, numbers[0]] * 2


def test_negative_numbers_are_not_made_unsigned() -> None:
    for number in (-1, np.int64(-1), [-1]):
        with pytest.raises(OverflowError, match="-1"):
            strew.scatter_update(np.zeros(4, np.uint8), [1, 3], number)


@pytest.mark.parametrize("dtype, number", [("i4", 1.5), ("f4", 1j), ("?", 1), ("i8", np.float32(1))])
def test_numbers_of_a_greater_kind_are_refused(dtype, number) -> None:
    for updates in (number, [number, number]):
        with pytest.raises(strew.Error, match="updates has dtype .*, but data has dtype") as error:
            strew.scatter_update(np.zeros(4, dtype), [1, 3], updates)
        assert error.value.status == "STREW_INVALID_DTYPE"


def test_numbers_that_the_dtype_does_not_have() -> None:
    for updates in (300, [1, 300]):
        with pytest.raises(OverflowError, match="300"):
            strew.scatter_update(np.zeros(4, np.int8), [1, 3], updates)


def test_dates_and_texts() -> None:
    days = np.zeros(2, "M8[D]")
    assert strew.scatter_update(days, [1], ["2026-11-22"])[1] == np.datetime64("2026-11-22")
    assert strew.scatter_update(np.zeros(2, "U4"), [0, 1], ["a", "bc"]).tolist() == ["a", "bc"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
def test_numbers_of_ml_dtypes(dtype) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = np.zeros(3, getattr(ml_dtypes, dtype))
    new = strew.scatter_update(data, [0, 2], [1.5, 2], reduction="add")
    assert new.dtype == data.dtype and new.astype(float).tolist() == [1.5, 0, 2]


def test_arrays_are_not_converted() -> None:
    with pytest.raises(strew.Error, match="updates has dtype int64, but data has dtype float64"):
        strew.scatter_update(np.zeros(3), [0], np.array([1]))


def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Updates that NumPy repeats to the shape, and these repeated."""
    kept = [1 if rng.random() < 0.4 else n for n in shape][rng.integers(0, len(shape) + 1) :]
    updates = rng.integers(-9, 9, kept).astype(np.float32)
    return updates, np.broadcast_to(updates, shape).copy()


@pytest.mark.parametrize("seed", range(40))
def test_updates_are_repeated(seed) -> None:
    rng = np.random.default_rng(seed)
    data = np.zeros((3, 4, 5), np.float32)
    axis = int(rng.integers(-3, 3))
    places = rng.integers(0, data.shape[axis], (2, 3))
    shape = (*data.shape[: axis % 3], 2, 3, *data.shape[axis % 3 + 1 :])
    some, all_of_them = draw(rng, shape)
    expected = strew.scatter_update(data, places, all_of_them, axis, reduction="add")
    assert (strew.scatter_update(data, places, some, axis, reduction="add") == expected).all()
    plan = strew.plan_scatter_update(places, data.shape[axis], axis)
    assert (plan.scatter(data, some, reduction="add") == expected).all()

    elements = rng.integers(0, data.shape[axis], (2, 3, 4))
    some, all_of_them = draw(rng, (2, 3, 4))
    expected = strew.scatter_elements(data, elements, all_of_them, axis, reduction="add")
    assert (strew.scatter_elements(data, elements, some, axis, reduction="add") == expected).all()

    tuples = rng.integers(0, 3, (6, 2))
    some, all_of_them = draw(rng, (6, 5))
    expected = strew.scatter_nd(data, tuples, all_of_them, reduction="add")
    assert (strew.scatter_nd(data, tuples, some, reduction="add") == expected).all()


@pytest.mark.parametrize("shape", [(2,), (4, 2), (1, 1, 3), (0, 3), (2, 0)])
def test_updates_that_numpy_does_not_repeat(shape) -> None:
    with pytest.raises(strew.Error, match="updates has") as error:
        strew.scatter_update(np.zeros((4, 3)), [0, 1], np.zeros(shape))
    assert error.value.status == "STREW_INVALID_SHAPE"


def test_results_are_of_the_kind_of_data() -> None:
    torch = pytest.importorskip("torch")
    data = torch.zeros(4, 2, dtype=torch.bfloat16)
    plan = strew.plan_scatter_update([1, 3], 4)
    dropped = strew.plan_scatter_update([1, 9], 4, context=strew.Context(index_policy="drop"))
    frozen = torch.nn.Parameter(data, requires_grad=False)
    for new in (
        strew.scatter_update(data, [1], [[1, 2]]),
        strew.scatter_update(frozen, [1], [[1, 2]]),
        strew.scatter_nd(data, [[1]], 1),
        strew.scatter_elements(data, np.zeros((1, 1), int), 1),
        strew.slice_scatter(data, 1, 1, 2),
        strew.tensor_scatter(data[None], data[None], axis=1),
        plan.scatter(data, 1),
        plan.gather(data),
        dropped.gather(data + 1),
        strew.gather_scatter(plan, data, plan, data, 2),
    ):
        assert isinstance(new, torch.Tensor) and new.dtype == torch.bfloat16
    assert dropped.gather(data + 1).tolist() == [[1, 1], [0, 0]]
    assert isinstance(strew.scatter_update(data.float().numpy(), [1], data[:1].float()), np.ndarray)
    with pytest.raises(BufferError, match="gradient"):
        strew.scatter_update(torch.zeros(2, requires_grad=True), [0], 1)


def test_out_may_be_of_another_library() -> None:
    torch = pytest.importorskip("torch")
    out = np.zeros(3, np.float32)
    assert strew.scatter_update(torch.zeros(3), [1], 5, out=out) is out
    assert out.tolist() == [0, 5, 0]


def test_autograd_sees_writes() -> None:
    torch = pytest.importorskip("torch")
    index, plan = torch.tensor([0, 2]), strew.plan_scatter_update([0, 2], 3)
    for write in (
        lambda x: strew.add_at(x, index, torch.ones(2)),
        lambda x: strew.scatter_update(x, index, 5, out=x),
        lambda x: strew.scatter_nd(torch.zeros(3), [[1]], 5, out=x),
        lambda x: plan.gather(torch.ones(3), out=x[1:]),
        lambda x: strew.gather_scatter(plan, torch.ones(3), plan, x, out=x),
    ):
        weights = torch.ones(3, requires_grad=True)
        x = torch.arange(3.0)
        total = (x * weights).sum()
        write(x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()
    with torch.inference_mode():
        x = torch.zeros(3)
        assert strew.scatter_update(x, [1], 5, out=x).tolist() == [0, 5, 0]


def test_errors_name_the_dtype_that_numpy_has() -> None:
    days = np.zeros(2, "M8[D]")
    with pytest.raises(strew.Error, match=r"add is not defined on datetime64\[D\]"):
        strew.scatter_update(days, [0], days[:1].copy(), reduction="add")
    with pytest.raises(strew.Error, match=r"updates has dtype float64, but data has dtype datetime"):
        strew.scatter_update(days, [0], np.zeros(1))


def test_an_index_out_of_range_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="out of range") as error:
        strew.scatter_update(np.zeros(2), [0, 7], 1)
    assert isinstance(error.value, strew.Error) and type(error.value) is strew.IndexRangeError
    assert error.value.position == 1
