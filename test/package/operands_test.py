# SPDX-License-Identifier: Apache-2.0
"""Objects that the package takes for a tensor, and objects that it refuses."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pytest

import strew

DATA = np.arange(5, dtype=np.float32)
UPDATES = np.array([8, 9], np.float32)
EXPECTED = [0, 8, 2, 3, 9]


class WithArray:
    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return UPDATES


class WithDlpack:
    def __init__(self, array: np.ndarray = UPDATES):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def misaligned(values: np.ndarray) -> np.ndarray:
    memory = np.zeros(values.nbytes + 1, np.int8)[1:].view(values.dtype)
    memory[:] = values
    return memory


def read_only(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    "updates",
    [
        UPDATES,
        WithArray(),
        WithDlpack(),
        read_only(UPDATES),
        memoryview(UPDATES),
        array.array("f", [8, 9]),
        (ctypes.c_float * 2)(8, 9),
        misaligned(UPDATES),
        UPDATES[::-1].copy()[::-1],
        np.repeat(UPDATES, 3)[::3],
        np.rec.array([(8.0, 1), (9.0, 2)], dtype=[("x", "f4"), ("y", "i1")]).x,
    ],
    ids=lambda updates: type(updates).__name__,
)
def test_updates(updates) -> None:
    assert strew.scatter_update(DATA, [1, -1], updates).tolist() == EXPECTED


@pytest.mark.parametrize("dtype", "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
def test_indices(dtype) -> None:
    assert strew.scatter_update(DATA, np.array([1, 4], dtype), UPDATES).tolist() == EXPECTED


FORMATS = [prefix + letter for prefix in ("", "@") for letter in "cbB?hHiIlLqQnNfd"]
NUMBERS = "bool char byte ubyte short ushort int uint long ulong longlong ulonglong float double"
BUFFERS = [memoryview(bytes(8)).cast(format) for format in FORMATS]
BUFFERS += [(getattr(ctypes, f"c_{name}") * 2)() for name in NUMBERS.split()]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda buffer: memoryview(buffer).format)
def test_buffers_are_to_strew_as_to_numpy(buffer) -> None:
    told = np.asarray(buffer)
    updates = np.zeros(told.shape, np.float32)
    if told.dtype.kind in "iu":
        assert strew.scatter_update(DATA, buffer, updates)[0] == 0
    else:
        with pytest.raises(strew.Error) as error:
            strew.scatter_update(DATA, buffer, updates)
        assert error.value.status == "STREW_INVALID_DTYPE"
    new = strew.scatter_update(buffer, [0], told[:1].copy())
    assert new.dtype == told.dtype and new.tobytes() == told.tobytes()
    assert strew.scatter_update(told, range(len(told)), buffer).dtype == told.dtype


@pytest.mark.parametrize(
    "characters",
    [memoryview(b"ab").cast("c"), (ctypes.c_char * 2)(b"a", b"b")],
    ids=["memoryview", "ctypes"],
)
def test_characters_are_no_integers(characters) -> None:
    texts = np.array([b"x", b"y"])
    assert strew.scatter_update(texts, [1, 0], characters).tolist() == [b"b", b"a"]
    for call in (
        lambda: strew.scatter_elements(DATA, characters, UPDATES),
        lambda: strew.scatter_nd(DATA, characters, UPDATES),
        lambda: strew.slice_scatter(DATA, UPDATES, characters, [2]),
        lambda: strew.tensor_scatter(DATA[None], DATA[None], characters, axis=1),
        lambda: strew.scatter_update(np.zeros(9, np.int8), [0, 1], characters),
        lambda: strew.scatter_update(characters, [0], np.zeros(1, np.int8)),
    ):
        with pytest.raises(strew.Error) as error:
            call()
        assert error.value.status == "STREW_INVALID_DTYPE"
    with pytest.raises(TypeError, match="out must be an array"):
        strew.scatter_update(texts, [0], [b"z"], out=characters)
    assert strew.scatter_update(np.array([b"x"]), 0, ctypes.c_char(b"a")).tolist() == [b"a"]
    with pytest.raises(strew.Error, match="not an integer dtype"):
        strew.scatter_update(DATA, ctypes.c_char(b"a"), DATA[0])


def test_numbers_of_slices() -> None:
    for one, four in [(1, 4), ([1], (4,)), (np.int64(1), np.array([4], np.uint8))]:
        assert strew.slice_scatter(DATA, UPDATES, one, four, 2).tolist() == [0, 8, 2, 9, 4]
    assert strew.slice_scatter(DATA, DATA[::-1], [0], [2**80]).tolist() == [4, 3, 2, 1, 0]
    with pytest.raises(TypeError):
        strew.slice_scatter(DATA, UPDATES, 1.5, 4)
    with pytest.raises(strew.Error, match="start") as error:
        strew.slice_scatter(DATA, UPDATES, np.array([1.5]), [4])
    assert error.value.status == "STREW_INVALID_DTYPE"


def test_empty() -> None:
    assert strew.scatter_update(DATA, [], UPDATES[:0]).tolist() == DATA.tolist()
    assert strew.scatter_update([0.5], [], []).tolist() == [0.5]
    assert strew.scatter_update(np.empty((2, 0)), [1], np.empty((1, 0))).shape == (2, 0)
    assert strew.slice_scatter(DATA, UPDATES[:0], 5, 5).tolist() == DATA.tolist()
    # No entry: the slice is the whole.
    assert strew.slice_scatter(DATA, DATA[::-1], [], []).tolist() == DATA[::-1].tolist()


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_ml_dtypes(dtype) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = DATA.astype(getattr(ml_dtypes, dtype))
    new = strew.scatter_update(data, [1, 1], data[2:4], reduction="add")
    assert new.dtype == data.dtype and new.astype(float).tolist() == [0, 6, 2, 3, 4]
    backwards = strew.scatter_update(data[::-1], [0], data[2:3])
    assert backwards.astype(float).tolist() == [2, 3, 2, 1, 0]
    assert strew.scatter_update(data, [0], data[2:3].copy(), out=data) is data
    assert data.astype(float).tolist() == [2, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["S3", "U2", "M8[s]", "m8[ms]", "V5", "f4,i1", "longdouble"])
def test_elements_that_are_only_moved(dtype) -> None:
    data = np.array([b"a", b"b", b"c"]) if dtype == "S3" else np.arange(1, 4)
    data = data.astype(np.int32).view("V4") if dtype == "V5" else data
    data = data.astype(dtype)
    new = strew.scatter_update(data[::-1], [0, -1], data[:2].copy())
    assert new.dtype == data.dtype
    assert new.tobytes() == np.concatenate([data[:1], data[1:2], data[1:2]]).tobytes()
    with pytest.raises(strew.Error) as error:
        strew.scatter_update(data, [0], data[:1].copy(), reduction="add")
    assert error.value.status == "STREW_INVALID_DTYPE"


def test_opaque_dtypes_of_one_size_do_not_meet() -> None:
    seconds, days = np.zeros(2, "M8[s]"), np.zeros(1, "M8[D]")
    with pytest.raises(strew.Error, match=r"updates is of dtype datetime64\[D\], data of datetime"):
        strew.scatter_update(seconds, [0], days)
    with pytest.raises(strew.Error, match="out is of dtype"):
        strew.scatter_update(seconds, [0], seconds[:1], out=np.zeros(2, "m8[s]"))


@pytest.mark.parametrize(
    "updates, sentence",
    [
        (UPDATES.astype(">f4"), "byte order"),
        (UPDATES.astype(object), "objects"),
        ([None, "x"], "objects"),
        (np.zeros(2, "V5000"), "4096"),
        (np.zeros(2, "f4,O"), "objects"),
    ],
)
def test_refused(updates, sentence) -> None:
    with pytest.raises(TypeError, match=sentence):
        strew.scatter_update(DATA, [1, -1], updates)


@pytest.mark.parametrize("dtype", ["f4", "m8[s]"])
def test_masks_are_refused(dtype) -> None:
    plain = np.zeros(2, dtype)
    masked = np.ma.masked_array(plain, [False, True])
    for data, updates, out in (masked, plain, None), (plain, masked, None), (plain, plain, masked):
        with pytest.raises(TypeError, match="masked arrays"):
            strew.scatter_update(data, [1, -1], updates, out=out)
    with pytest.raises(TypeError, match="masked arrays"):
        strew.scatter_update(plain, np.ma.masked_array([1, -1]), plain)

    class Hidden:
        def __array__(self, dtype=None, copy=None):
            return masked

    with pytest.raises(TypeError, match="masked arrays"):
        strew.scatter_update(plain, [1, -1], Hidden())


def test_subclasses_are_arrays(tmp_path) -> None:
    out = np.memmap(tmp_path / "data", np.float32, "w+", shape=5)
    out[:] = DATA
    assert strew.scatter_update(out, [1, -1], UPDATES, out=out) is out
    assert out.tolist() == EXPECTED


class WithDlpackInPython(np.ndarray):
    refusal: Exception | None = None

    def __dlpack__(self, **options):
        if self.refusal is not None:
            raise self.refusal
        return super().__dlpack__(**options)


@pytest.mark.parametrize("refusal", [None, BufferError("no"), TypeError("no"), RuntimeError("no")])
def test_subclasses_with_a_dlpack_of_their_own(refusal, monkeypatch) -> None:
    """A buffer tells of the elements too."""
    monkeypatch.setattr(WithDlpackInPython, "refusal", refusal)
    out = DATA.copy().view(WithDlpackInPython)
    updates = read_only(UPDATES).view(WithDlpackInPython)
    assert strew.scatter_update(out, [1, -1], updates, out=out) is out
    assert out.tolist() == EXPECTED
    with pytest.raises(ValueError, match="read-only"):
        strew.scatter_update(updates, [0], UPDATES[:1], out=updates)


def test_out_must_be_regular() -> None:
    packed = np.zeros(5, np.dtype([("x", "i1"), ("y", "f4")]))["y"]
    for out in (packed, misaligned(DATA), misaligned(np.zeros(5, "m8[s]"))):
        with pytest.raises(ValueError, match="aligned"):
            strew.scatter_update(out.copy(), [1, -1], out[:2].copy(), out=out)
        with pytest.raises(ValueError, match="aligned"):
            strew.scatter_update(out, [1, -1], out[:2].copy(), out=out)


def test_out_must_be_writable_memory() -> None:
    with pytest.raises(ValueError, match="read-only"):
        strew.scatter_update(DATA, [1, -1], UPDATES, out=read_only(DATA))
    frozen = read_only(DATA)
    with pytest.raises(ValueError, match="read-only"):
        strew.scatter_update(frozen, [1, -1], UPDATES, out=frozen)
    for out in ([0.0] * 5, b"12345", WithArray()):
        with pytest.raises(TypeError, match="out must be an array"):
            strew.scatter_update(DATA, [1, -1], UPDATES, out=out)
    assert frozen.tolist() == DATA.tolist()


def test_out_and_memory_of_others() -> None:
    data = DATA.copy()
    # Another name of the same memory is in place too, a part of it overlaps.
    assert strew.scatter_update(data, [1, -1], UPDATES, out=data[:]).tolist() == EXPECTED
    assert data.tolist() == EXPECTED
    with pytest.raises(strew.Error) as error:
        strew.scatter_update(data[:4], [0], UPDATES[:1], out=data[1:])
    assert error.value.status == "STREW_OVERLAPPING_MEMORY"
    with pytest.raises(strew.Error) as error:
        strew.scatter_update(data, [0], data[:1], out=data)
    assert error.value.status == "STREW_OVERLAPPING_MEMORY"
    backwards = np.zeros(5, np.float32)
    strew.scatter_update(DATA, [1, -1], UPDATES, out=backwards[::-1])
    assert backwards.tolist() == EXPECTED[::-1]


def test_what_an_export_raises_is_told() -> None:
    class Refusing:
        def __dlpack__(self, **options):
            raise BufferError("requires a gradient")

    with pytest.raises(BufferError, match="gradient"):
        strew.scatter_update(DATA, [1, -1], Refusing())
    with pytest.raises(BufferError, match="gradient"):
        strew.scatter_update(DATA, [1, -1], UPDATES, out=Refusing())


def test_out_of_ctypes() -> None:
    out = (ctypes.c_float * 5)(*DATA)
    assert strew.scatter_update(out, [1, -1], UPDATES, out=out) is out
    assert list(out) == EXPECTED


def test_out_by_dlpack() -> None:
    memory = np.zeros(5, np.float32)
    out = WithDlpack(memory)
    assert strew.scatter_update(DATA, [1, -1], UPDATES, out=out) is out
    assert memory.tolist() == EXPECTED


def test_nothing_keeps_the_arrays() -> None:
    import sys

    data, new = DATA.copy(), np.empty_like(DATA)
    before = sys.getrefcount(data), sys.getrefcount(UPDATES), sys.getrefcount(new)
    for _ in range(10):
        strew.scatter_update(data, [1, -1], UPDATES, out=new)
        with pytest.raises(strew.Error):
            strew.scatter_update(data, [7, -1], UPDATES, out=new)
    assert before == (sys.getrefcount(data), sys.getrefcount(UPDATES), sys.getrefcount(new))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_jax(dtype) -> None:
    jax = pytest.importorskip("jax")
    data = jax.numpy.arange(5).astype(dtype)
    before, updates = np.asarray(data).copy(), data[:2]
    new = strew.scatter_update(data, jax.numpy.array([1, -1]), updates)
    assert isinstance(new, jax.Array) and new.dtype == data.dtype
    assert new.tolist() == [0, 0, 2, 3, 1]
    for given in (data, before):
        with pytest.raises(TypeError, match="out must be an array that can be written"):
            strew.scatter_update(given, [1, -1], updates, out=data)
    assert np.asarray(data).tobytes() == before.tobytes()


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]", "S2", "U2", "f4,i4", "f2", "V3"])
def test_scalars_of_numpy(dtype) -> None:
    data = np.arange(10, 14).astype("S3" if dtype == "V3" else "i8").astype(dtype)
    assert strew.scatter_update(data, 0, data[3])[0] == data[3]
    with pytest.raises(TypeError, match="out must be an array"):
        strew.scatter_update(data[3:], 0, data[0], out=data[3])


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    data = torch.arange(5, dtype=torch.float32)
    indices, updates = torch.tensor([1, -1]), torch.tensor([8.0, 9.0])
    new = strew.scatter_update(data, indices, updates)
    assert isinstance(new, torch.Tensor) and new.tolist() == EXPECTED
    assert strew.scatter_update(data, indices, updates, out=data) is data
    assert data.tolist() == EXPECTED
    short = data.to(torch.bfloat16)
    strew.scatter_update(short, indices, updates.to(torch.bfloat16), reduction="add", out=short)
    assert short.float().tolist() == [0, 16, 2, 3, 18]
    assert strew.scatter_update(short, indices, short[:2]).dtype == torch.bfloat16


def test_torch_refuses_what_its_memory_does_not_say() -> None:
    torch = pytest.importorskip("torch")
    data, updates = torch.tensor([1 + 2j, 3 + 4j]), torch.conj(torch.tensor([7 + 8j]))
    with pytest.raises(BufferError):
        strew.scatter_update(data, [1], updates)
    with pytest.raises(BufferError, match="resolve_neg"):
        strew.scatter_update(data.real, [1], updates.imag)
    assert strew.scatter_update(data.real, [1], updates.imag.resolve_neg()).tolist() == [1, -8]
    recorded = torch.ones(2, dtype=torch.complex64, requires_grad=True) * 2
    with pytest.raises(BufferError):
        strew.scatter_update(data, [1], updates.resolve_conj(), out=recorded)
    assert strew.scatter_update(data, [1], updates.resolve_conj()).tolist() == [1 + 2j, 7 - 8j]
