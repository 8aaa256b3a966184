# SPDX-License-Identifier: Apache-2.0
"""Tensors that NumPy, PyTorch and JAX hand over by DLPack; the latter two where installed."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strew_ctypes as strew
from strew_ctypes import Dtype, Status, StrewError, library

PLAIN = b"dltensor"
VERSIONED = b"dltensor_versioned"
GENERATIONS = [PLAIN, VERSIONED]

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype = ctypes.c_char_p
capsule_name.argtypes = [ctypes.py_object]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


def capsule_of(producer: Any, name: bytes) -> Any:
    """The producer's capsule of that generation; skips the test where it has none."""
    try:
        capsule = producer.__dlpack__(**({} if name == PLAIN else {"max_version": (1, 0)}))
    except TypeError:
        pytest.skip(f"{type(producer)} knows nothing of versions of DLPack")
    except BufferError as error:
        pytest.skip(f"{type(producer)} does not hand this over: {error}")
    if capsule_name(capsule) != name:
        pytest.skip(f"{type(producer)} hands over {capsule_name(capsule).decode()} only")
    return capsule


class Borrowed(strew.Tensor):
    """A descriptor of what a producer hands over; its capsule calls the deleter in the end.

    `respell` may change the DLTensor before strew sees it, in a copy that no deleter frees.
    """

    def __init__(
        self,
        producer: Any,
        name: bytes = PLAIN,
        respell: Callable[[DLTensor], None] = lambda tensor: None,
    ):
        self.array = producer
        self.capsule = capsule_of(producer, name)
        address = capsule_pointer(self.capsule, name)
        if name == PLAIN:
            structure = tensor = DLTensor.from_buffer_copy(DLTensor.from_address(address))
            function = library.strew_tensor_from_dlpack
        else:
            managed = DLManagedTensorVersioned.from_address(address)
            structure = DLManagedTensorVersioned.from_buffer_copy(managed)
            tensor = structure.tensor
            function = library.strew_tensor_from_dlpack_versioned
        respell(tensor)
        self.handle = ctypes.c_void_p()
        status = function(ctypes.byref(structure), ctypes.byref(self.handle))
        if status != Status.OK:
            raise StrewError(status, "")
        self.dtype = library.strew_tensor_dtype(self.handle)
        weakref.finalize(self, library.strew_tensor_destroy, self.handle)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._dims(library.strew_tensor_shape)

    @property
    def strides(self) -> tuple[int, ...]:
        return self._dims(library.strew_tensor_strides)

    @property
    def data(self) -> int:
        return library.strew_tensor_data(self.handle)

    def _dims(self, getter: Callable) -> tuple[int, ...]:
        return tuple(getter(self.handle)[: library.strew_tensor_rank(self.handle)])


def without_strides(tensor: DLTensor) -> None:
    tensor.strides = None


def with_offset(tensor: DLTensor) -> None:
    tensor.data -= 4096
    tensor.byte_offset += 4096


RESPELLINGS = [lambda tensor: None, without_strides, with_offset]
respellings = pytest.mark.parametrize("respell", RESPELLINGS, ids=["as is", "strides", "offset"])
generations = pytest.mark.parametrize("name", GENERATIONS, ids=lambda name: name.decode())


dtypes = pytest.mark.parametrize(
    "dtype", [dtype for dtype in Dtype if dtype != Dtype.STRING], ids=lambda dtype: dtype.name
)


def check_scatter(data: Any, indices: Any, updates: Any, name: bytes, respell: Callable) -> None:
    """Writes into the memory of `data`; reads all three through DLPack."""
    output = Borrowed(data, name, respell)
    operands = [output, Borrowed(indices, name, respell), Borrowed(updates, name, respell)]
    strew.scatter_elements(*operands, 1, out=output)


# ---- NumPy -----------------------------------------------------------------------------------


@generations
@dtypes
def test_numpy_dtypes(dtype: Dtype, name: bytes) -> None:
    spelling = dtype.name.lower()
    try:
        array = np.zeros(3, spelling)
    except TypeError:
        pytest.skip(f"{spelling} is no dtype of NumPy's own")
    tensor = Borrowed(array, name)
    assert tensor.dtype == dtype
    assert tensor.shape == (3,)
    assert tensor.data == array.ctypes.data


@generations
@pytest.mark.parametrize(
    "view",
    [
        lambda cube: cube,
        lambda cube: cube.T,
        lambda cube: cube[::-1, 1:, ::-2],
        lambda cube: cube[1, 2, 3],
        lambda cube: np.broadcast_to(cube[:, :1], cube.shape).view(),
        lambda cube: cube[:0],
    ],
    ids=["whole", "transposed", "stepped", "scalar", "broadcast", "empty"],
)
def test_numpy_layouts(view: Callable, name: bytes) -> None:
    array = np.asarray(view(np.zeros((2, 3, 4), np.int16)))
    tensor = Borrowed(array, name)
    assert tensor.shape == array.shape
    assert library.strew_tensor_size(tensor.handle) == array.size
    if array.size:
        assert tensor.data == array.ctypes.data
        assert tensor.strides == tuple(stride // 2 for stride in array.strides)


@generations
@respellings
def test_numpy_scatters(respell: Callable, name: bytes) -> None:
    data = np.zeros((2, 3), np.float32)
    check_scatter(data, np.array([[2], [-3]]), np.ones((2, 1), np.float32), name, respell)
    assert data.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_numpy_read_only_arrays_are_inputs() -> None:
    data = np.zeros(3, np.float32)
    data.flags.writeable = False
    tensor = Borrowed(data, VERSIONED)
    indices, updates = np.array([1]), np.array([5], np.float32)
    for output in (tensor, Borrowed(data, VERSIONED)):
        with pytest.raises(StrewError) as failure:
            strew.scatter_elements(tensor, indices, updates, 0, out=output)
        assert failure.value.status == Status.INVALID_ARGUMENT
    assert data.tolist() == [0, 0, 0]
    result = np.empty(3, np.float32)
    strew.scatter_elements(tensor, indices, updates, 0, out=result)
    assert result.tolist() == [0, 5, 0]


def test_a_descriptor_may_outlive_what_it_borrowed() -> None:
    array = np.zeros(3)
    tensor = Borrowed(array)
    dies = weakref.ref(array)
    del array
    tensor.array = None
    assert dies() is not None
    tensor.capsule = None  # calls the deleter
    assert dies() is None
    assert tensor.shape == (3,)


# ---- PyTorch ---------------------------------------------------------------------------------


@generations
@dtypes
def test_torch_dtypes(dtype: Dtype, name: bytes) -> None:
    spelling = dtype.name.lower()
    torch = pytest.importorskip("torch")
    if not hasattr(torch, spelling):
        pytest.skip(f"PyTorch has no {spelling}")
    tensor = torch.zeros(3, dtype=getattr(torch, spelling))
    borrowed = Borrowed(tensor, name)
    assert borrowed.dtype == dtype
    assert borrowed.data == tensor.data_ptr()


@generations
def test_torch_layouts(name: bytes) -> None:
    torch = pytest.importorskip("torch")
    cube = torch.zeros(2, 3, 4)
    for view in (cube, cube.permute(2, 0, 1), cube[1:, ::2, 1:], cube[:, :1].expand(2, 3, 4)):
        borrowed = Borrowed(view, name)
        assert borrowed.shape == tuple(view.shape)
        assert borrowed.data == view.data_ptr()
        for dim, mine, theirs in zip(view.shape, borrowed.strides, view.stride()):
            assert dim == 1 or mine == theirs


@generations
@respellings
def test_torch_scatters(respell: Callable, name: bytes) -> None:
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.bool):
        data = torch.zeros(2, 3, dtype=dtype)
        updates = torch.ones(2, 1, dtype=dtype)
        check_scatter(data, torch.tensor([[2], [-3]]), updates, name, respell)
        assert data.real.tolist() == [[0, 0, 1], [1, 0, 0]]


# ---- JAX -------------------------------------------------------------------------------------


@generations
@dtypes
def test_jax_dtypes(dtype: Dtype, name: bytes) -> None:
    spelling = dtype.name.lower()
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    array = jax.numpy.zeros((2, 3), spelling)
    borrowed = Borrowed(array, name)
    assert borrowed.dtype == dtype
    assert borrowed.shape == (2, 3)
    assert borrowed.strides == (3, 1)
    assert borrowed.data == array.unsafe_buffer_pointer()


@generations
@respellings
def test_jax_arrays_are_read(respell: Callable, name: bytes) -> None:
    jax = pytest.importorskip("jax")
    data = jax.numpy.arange(3, dtype="bfloat16")
    indices = jax.numpy.array([2, -3], "int32")
    updates = jax.numpy.array([7, 8], "bfloat16")
    operands = [Borrowed(array, name, respell) for array in (data, indices, updates)]
    result = np.empty(3, np.uint16)
    strew.scatter_elements(*operands, 0, out=strew.Tensor(result, Dtype.BFLOAT16))
    assert result.tolist() == np.asarray(data.at[indices].set(updates)).view(np.uint16).tolist()
