# SPDX-License-Identifier: Apache-2.0
"""strew from Python: every function once, through test/python/strew_ctypes.py, which is the binding
of the tests. Arrays are NumPy's, or what speaks DLPack, as PyTorch's do where it is installed.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count, takewhile
from typing import Any

import numpy as np
import strew_ctypes as strew
from strew_ctypes import CacheMode, Dtype, DuplicatePolicy, IndexPolicy, Reduction, library

try:
    import torch
except ImportError:
    torch = None

COUNT = 1 << 18
OPEN = np.iinfo(np.int64)

Floats = np.ndarray


def floats(*values: Any) -> Floats:
    return np.array(values, np.float32)


def show(name: str, values: Floats) -> None:
    print(f"{name}:", *(f"{value:g}" for value in values.ravel()))


def names() -> None:
    print(f"version: {library.strew_version().decode()} is {library.strew_version_number()}")
    targets = takewhile(bool, map(library.strew_simd_target_at, count()))
    print("targets:", *(name.decode() for name in targets), end=", ")
    print(f"the best is {library.strew_simd_target().decode()}")
    status = strew.Status.INDEX_OUT_OF_RANGE
    description = library.strew_status_description(status)
    print(f"status: {library.strew_status_name(status).decode()}: {description.decode()}")
    dtype = Dtype.COMPLEX64
    print(f"dtype: {library.strew_dtype_name(dtype).decode()}", end=" ")
    print(f"of {library.strew_dtype_size(dtype)} bytes")


def describe(name: str, tensor: strew.Tensor) -> None:
    handle = tensor.handle
    rank = library.strew_tensor_rank(handle)
    dtype = library.strew_dtype_name(library.strew_tensor_dtype(handle)).decode()
    print(f"{name}: {dtype}, {library.strew_tensor_size(handle)} elements, shape", end=" ")
    print(*library.strew_tensor_shape(handle)[:rank], end=", strides ")
    print(*library.strew_tensor_strides(handle)[:rank], end=", first ")
    print(f"{ctypes.c_float.from_address(library.strew_tensor_data(handle)).value:g}")


def descriptors() -> None:
    rising, falling = floats(1, 2, 3, 4, 5, 6), floats(6, 5, 4, 3, 2, 1)
    tensor = strew.Tensor(rising.reshape(2, 3))
    describe("create", tensor)
    dims = ctypes.c_int64 * 2
    reset = (Dtype.FLOAT32, 2, dims(3, 2), dims(1, 3), rising.ctypes.data)
    assert library.strew_tensor_reset(tensor.handle, *reset) == strew.Status.OK
    describe("transposed", tensor)
    assert library.strew_tensor_set_data(tensor.handle, falling.ctypes.data) == strew.Status.OK
    describe("elsewhere", tensor)


def scatter_elements() -> None:
    data, updates = np.zeros((3, 3), np.float32), floats([1, 1.1, 1.2], [2, 2.1, 2.2])
    indices = np.array([[1, 0, 2], [0, 2, 1]])
    show("scatter_elements", strew.scatter_elements(data, indices, updates, 0))
    data, updates = floats([1, 2, 3, 4, 5]), floats([1.1, 2.1])
    for name, places, reduction in [
        ("axis 1", [1, 3], Reduction.NONE),
        ("negative", [1, -3], Reduction.NONE),
        ("add", [1, 1], Reduction.ADD),
        ("max", [1, 1], Reduction.MAX),
        ("min", [1, 1], Reduction.MIN),
    ]:
        output = strew.scatter_elements(data, np.array([places]), updates, 1, reduction)
        show(f"scatter_elements {name}", output)


def scatter_nd() -> None:
    data, indices = floats(1, 2, 3, 4, 5, 6, 7, 8), np.array([[4], [3], [1], [7]])
    strew.scatter_nd(data, indices, floats(9, 10, 11, 12), out=data)  # in place
    show("scatter_nd", data)
    up = np.arange(1, 9).reshape(2, 4)
    rising, falling = [*up, *up[::-1, ::-1]], [*up[::-1, ::-1], *up]
    updates = np.repeat(floats([5, 6, 7, 8], [1, 2, 3, 4])[:, :, None], 4, axis=2)
    boxes = floats(rising, rising, falling, falling)
    show("scatter_nd slices", strew.scatter_nd(boxes, np.array([[0], [2]]), updates))


def slice_scatter() -> None:
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    zero, one = np.array([0]), np.array([1])
    tens = floats([10, 20, 30, 40, 50])
    show("slice_scatter", strew.slice_scatter(data, tens, zero, one, one, zero))
    tens = floats([10, 20, 30], [40, 50, 60])
    output = strew.slice_scatter_int64(data, tens, [-25], [25], [2], [1])
    show("slice_scatter clamped", output)
    data = np.arange(15, dtype=np.float32).reshape(3, 5)
    output = strew.slice_scatter_int64(data, floats([50, 60], [70, 80]), [0, 1], [3, 5], [2, 2])
    show("slice_scatter both axes", output)
    row, updates = data[:1], floats([10, 20, 30])
    output = strew.slice_scatter_int64(row, updates, [OPEN.max], [OPEN.min], [-2], [-1])
    show("slice_scatter open ends", output)


def caches() -> None:
    context = strew.Context()
    context.set("index_policy", IndexPolicy.INDEX_DROP)
    context.set("negative_indices", 0)  # -1: no slot
    pages, tokens = np.zeros((3, 2), np.float32), floats([1, 2], [3, 4], [5, 6])
    slots = np.array([2, -1, 0])
    strew.scatter_update(pages, slots, tokens, 0, out=pages, context=context)
    show("scatter_update", pages)
    print(f"applied: {context.applied} of {tokens.size}")

    cache, update, places = np.zeros((2, 4), np.float32), floats([1, 2], [3, 4]), np.array([3, 1])
    strew.tensor_scatter(cache, update, places, 1, CacheMode.CACHE_CIRCULAR, cache, context)
    show("tensor_scatter", cache)


class Scratch:
    """An allocator, of buffers of ctypes.

    No callback may raise: ctypes then returns to C whatever it happens to find.
    """

    def __init__(self) -> None:
        self.taken = self.returned = 0
        self._buffers: dict[int, Any] = {}

    def allocate(self, _opaque: int | None, size: int, alignment: int) -> int | None:
        try:
            buffer = ctypes.create_string_buffer(size + alignment)
        except MemoryError:
            return None
        address = -(-ctypes.addressof(buffer) // alignment) * alignment
        self._buffers[address] = buffer
        self.taken += size
        return address

    def free(self, _opaque: int | None, memory: int, size: int) -> None:
        del self._buffers[memory]
        self.returned += size


def callbacks() -> None:
    scratch, asked = Scratch(), []

    def run_in_pool(_opaque: int | None, count: int, run: Any, task: int) -> int:
        asked.append(count)
        list(pool.map(lambda i: run(task, i), range(count)))
        return 0

    sums, ones = np.zeros(COUNT, np.float32), np.ones(COUNT, np.float32)
    indices = np.arange(COUNT)[::-1]
    context = strew.Context()  # keeps the callbacks, which ctypes does not
    context.set("allocator", strew.Alloc(scratch.allocate), strew.Free(scratch.free), None)
    context.set("duplicate_policy", DuplicatePolicy.DUPLICATE_ERROR)
    context.set("simd_target", library.strew_simd_target())
    with ThreadPoolExecutor(4) as pool:
        context.set("parallel_for", strew.ParallelFor(run_in_pool), None, 4)
        strew.scatter_update(sums, indices, ones, 0, Reduction.ADD, sums, context)
    context.set("num_threads", 1)  # 0: as many as there are CPUs
    strew.scatter_update(sums, indices, ones, 0, Reduction.ADD, sums, context)
    print("runner:", "asked" if asked else "not asked")
    balanced = 0 < scratch.taken == scratch.returned
    print("allocator:", "all returned" if balanced else "not balanced")
    print(f"sums: {sums[0]:g} to {sums[-1]:g}")


def pointer_of(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


@contextmanager
def borrowed(capsule: Any, name: bytes, function: Any) -> Iterator[ctypes.c_void_p]:
    """A descriptor. The capsule calls the deleter when it dies, so it has to live as long."""
    handle = ctypes.c_void_p()
    status = function(pointer_of(capsule, name), ctypes.byref(handle))
    assert status == strew.Status.OK, library.strew_status_description(status)
    try:
        yield handle
    finally:
        library.strew_tensor_destroy(handle)


def dlpack() -> None:
    row = floats(1, 2, 3, 4, 5, 6, 7, 8)
    weakref.finalize(row, print, "dlpack: deleted")
    producer = row if torch is None else torch.from_numpy(row)
    plain, versioned = producer.__dlpack__(), producer.__dlpack__(max_version=(1, 0))
    indices = strew.Tensor(np.array([[4], [3], [1], [7]]))
    updates = strew.Tensor(floats(9, 10, 11, 12))
    with borrowed(plain, b"dltensor", library.strew_tensor_from_dlpack) as data, borrowed(
        versioned, b"dltensor_versioned", library.strew_tensor_from_dlpack_versioned
    ) as output:  # the memory of data: in place
        operands = (data, indices.handle, updates.handle, Reduction.NONE, output)
        assert library.strew_scatter_nd(None, *operands) == strew.Status.OK
    show("dlpack", row)


def expect_plan(plan: strew.Plan, entries: int, dropped: int) -> None:
    assert (plan.entries, plan.dropped) == (entries, dropped)
    assert plan.memory > 0


def plan_elements() -> None:
    row = floats([1, 2, 3, 4, 5])
    plan = strew.Plan("scatter_elements", np.array([[1, 1]]), 1, 5)
    expect_plan(plan, 2, 0)
    plan.scatter(row, floats([1.5, 2.5]), Reduction.ADD, out=row)
    assert row.tolist() == [[1, 6, 3, 4, 5]]


def plan_nd() -> None:
    row, taken = floats(1, 2, 3, 4, 5, 6, 7, 8), np.zeros(4, np.float32)
    plan = strew.Plan("scatter_nd", np.array([[4], [3], [1], [7]]), row.shape)
    expect_plan(plan, 4, 0)
    assert plan.gather(row, taken).tolist() == [5, 4, 2, 8]
    plan.scatter(row, floats(9, 10, 11, 12), Reduction.NONE, out=row)
    assert row.tolist() == [1, 11, 3, 10, 9, 6, 7, 12]


def plan_graph() -> None:
    """Each edge of a graph hands the row of its first node, times a weight, to its second one.

    A plan has a copy of what it needs, so that the indices may go.
    """
    context = strew.Context()
    context.set("index_policy", IndexPolicy.INDEX_DROP)
    context.set("negative_indices", 0)  # -1: no node
    from_plan = strew.Plan("scatter_update", np.array([0, 0, 2, 1]), 0, 3, context=context)
    to_plan = strew.Plan("scatter_update", np.array([1, 2, 1, -1]), 0, 3, context=context)
    expect_plan(from_plan, 4, 0)
    expect_plan(to_plan, 4, 1)
    nodes, sums = floats([1, 2], [3, 4], [5, 6]), np.zeros((3, 2), np.float32)
    weights = floats([1], [2], [0.5], [7])
    strew.gather_scatter(from_plan, nodes, weights, to_plan, sums, Reduction.ADD, sums, context)
    assert sums.tolist() == [[0, 0], [3.5, 5], [2, 4]]


def plans() -> None:
    plan_elements()
    plan_nd()
    plan_graph()


def failure() -> None:
    context = strew.Context()
    data, indices = np.zeros(8, np.float32), np.array([[4], [3], [9], [7]])
    try:
        strew.scatter_nd(data, indices, floats(9, 10, 11, 12), out=data, context=context)
    except strew.StrewError as error:
        name = library.strew_status_name(error.status).decode()
        print(f"error: {name} at {context.error_position}: {error.sentence}")
    assert library.strew_context_set_negative_indices(context.handle, 2) != 0
    print(f"last error: {library.strew_last_error().decode()}")


def main() -> None:
    names()
    descriptors()
    scatter_elements()
    scatter_nd()
    slice_scatter()
    caches()
    callbacks()
    dlpack()
    plans()
    failure()


if __name__ == "__main__":
    main()
