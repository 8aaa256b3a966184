# SPDX-License-Identifier: Apache-2.0
"""The functions that a foreign-function interface calls: names, tensors, contexts, errors."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

import strew_ctypes as strew
from strew_ctypes import Context, Dtype, Reduction, Status, StrewError, Tensor, library

DATA = np.arange(5, dtype=np.float32)
UPDATES = np.array([8, 9], np.float32)


def test_every_function_of_the_header_is_bound() -> None:
    text = re.sub(r"/\*.*?\*/", "", strew.HEADER.read_text(), flags=re.S)
    declared = re.findall(r"^STREW_API [^;(]*?(strew_\w+)\(([^)]*)\);", text, re.M)
    counts = {name: 0 if args == "void" else args.count(",") + 1 for name, args in declared}
    bound = {name: len(arguments) for name, (_, arguments) in strew.FUNCTIONS.items()}
    assert bound == counts


def test_version() -> None:
    text = strew.HEADER.read_text()
    parts = [re.search(rf"STREW_VERSION_{p} (\d+)", text)[1] for p in ("MAJOR", "MINOR", "PATCH")]
    assert library.strew_version().decode() == ".".join(parts)
    major, minor, patch = map(int, parts)
    assert library.strew_version_number() == major * 10000 + minor * 100 + patch


@pytest.mark.parametrize("status", Status, ids=lambda status: status.name)
def test_status(status) -> None:
    assert library.strew_status_name(status).decode() == f"STREW_{status.name}"
    assert library.strew_status_description(status)


@pytest.mark.parametrize("dtype", Dtype, ids=lambda dtype: dtype.name)
def test_dtype(dtype) -> None:
    assert library.strew_dtype_name(dtype).decode() == dtype.name.lower()
    if dtype == Dtype.STRING:
        assert library.strew_dtype_size(dtype) == ctypes.sizeof(ctypes.c_char_p)
        return
    try:
        size = np.dtype(dtype.name.lower()).itemsize
    except TypeError:
        ml_dtypes = pytest.importorskip("ml_dtypes")
        size = np.dtype(getattr(ml_dtypes, dtype.name.lower())).itemsize
    assert library.strew_dtype_size(dtype) == size


def test_codes_of_nothing() -> None:
    assert library.strew_status_name(-1) == b"unknown"
    assert library.strew_dtype_name(0) == b"unknown"
    assert library.strew_dtype_size(0) == 0
    assert library.strew_dtype_name(strew.opaque(12)) == b"opaque"
    assert library.strew_dtype_size(strew.opaque(12)) == 12


def test_a_tensor_tells_what_it_describes() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-2].T
    tensor = Tensor(array)
    assert library.strew_tensor_dtype(tensor.handle) == Dtype.INT16
    assert library.strew_tensor_rank(tensor.handle) == 3
    assert library.strew_tensor_size(tensor.handle) == 16
    assert library.strew_tensor_shape(tensor.handle)[:3] == [4, 2, 2]
    assert library.strew_tensor_strides(tensor.handle)[:3] == [1, -8, 12]
    assert library.strew_tensor_data(tensor.handle) == array.ctypes.data


def test_arrays_without_a_counterpart() -> None:
    for dtype in (object, ">i4", "datetime64[s]"):
        with pytest.raises(TypeError):
            Tensor(np.zeros(3, dtype))
    with pytest.raises(ValueError):
        Tensor(np.zeros(3, [("a", "u1"), ("b", "<u2")])["b"])


def test_strings_move_as_pointers() -> None:
    data, _data_buffers = strew.string_pointers([b"a", b"b", b"c"])
    updates, _updates_buffers = strew.string_pointers([b"x", b"y"])
    output = strew.scatter_elements(data, np.array([2, 0]), updates, 0)
    assert [ctypes.string_at(address) for address in output.tolist()] == [b"y", b"b", b"x"]


def test_fixed_width_texts_move_as_opaque() -> None:
    data = np.array(["zero", "one", "two"])
    output = strew.scatter_nd(data, np.array([[1]]), np.array(["1"], data.dtype))
    assert output.tolist() == ["zero", "1", "two"]


@pytest.mark.parametrize("with_context", [False, True])
def test_an_error_names_its_status(with_context) -> None:
    context = Context() if with_context else None
    output = DATA.copy()
    indices = np.array([1, 5])
    with pytest.raises(StrewError, match="^STREW_INDEX_OUT_OF_RANGE: .") as failure:
        strew.scatter_elements(DATA, indices, UPDATES, 0, out=output, context=context)
    assert failure.value.status == Status.INDEX_OUT_OF_RANGE
    assert output.tolist() == DATA.tolist()
    if context:
        assert "indices[1] = 5" in failure.value.sentence
        assert context.error_position == 1
        assert context.applied == 0
        strew.scatter_elements(DATA, np.array([1, -1]), UPDATES, 0, context=context)
        assert context.error == ""
        assert context.error_position == -1
        assert context.applied == 2


def test_context_settings() -> None:
    context = Context()
    context.set("negative_indices", 0)
    with pytest.raises(StrewError) as failure:
        strew.scatter_elements(DATA, np.array([0, -1]), UPDATES, 0, context=context)
    assert failure.value.status == Status.INDEX_OUT_OF_RANGE
    with pytest.raises(StrewError) as failure:
        context.set("index_policy", 99)
    assert failure.value.status == Status.INVALID_ARGUMENT


def test_a_plan_outlives_its_indices() -> None:
    indices, output = np.array([1, 4, 1]), DATA.copy()
    plan = strew.Plan("scatter_update", indices, 0, 5)
    indices[:] = -99
    assert (plan.entries, plan.dropped) == (3, 0)
    plan.scatter(output, np.ones(3, np.float32), Reduction.ADD, output)
    assert output.tolist() == [0, 3, 2, 3, 5]
    assert plan.gather(DATA, np.zeros(3, np.float32)).tolist() == [1, 4, 1]
    context = Context()
    with pytest.raises(StrewError, match="indices.0. = -99"):
        strew.Plan("scatter_update", indices, 0, 5, context=context)
    assert context.error_position == 0


def test_simd_targets() -> None:
    names: list[bytes] = []
    while (name := library.strew_simd_target_at(len(names))) is not None:
        names.append(name)
    assert names[0] == library.strew_simd_target()
    for name in names:
        context = Context()
        context.set("simd_target", name)
        updates = np.ones(1000, np.float32)
        indices = np.arange(1000) % 5
        output = strew.scatter_elements(DATA, indices, updates, 0, Reduction.ADD, None, context)
        assert output.tolist() == [200, 201, 202, 203, 204]
    with pytest.raises(StrewError) as failure:
        Context().set("simd_target", b"no such target")
    assert failure.value.status == Status.UNSUPPORTED


def test_callbacks_are_called_through_the_binding() -> None:
    """An allocator that has nothing: the call works without scratch or fails, and frees nothing."""
    freed = []
    context = Context()
    refuse = strew.Alloc(lambda opaque, size, alignment: None)
    free = strew.Free(lambda opaque, memory, size: freed.append(memory))
    context.set("allocator", refuse, free, None)
    indices = np.zeros(100_000, np.int8)
    updates = np.ones(100_000, np.float32)
    output = DATA.copy()
    try:
        strew.scatter_elements(DATA, indices, updates, 0, Reduction.ADD, output, context)
    except StrewError as failure:
        assert failure.status == Status.OUT_OF_MEMORY
        assert output.tolist() == DATA.tolist()
    else:
        assert output.tolist() == [100_000, 1, 2, 3, 4]
    assert not freed
