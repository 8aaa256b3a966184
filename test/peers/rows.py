# SPDX-License-Identifier: Apache-2.0
"""THE list of functions of other systems: what replaces each, and what differs.

It drives the tests of this folder and makes the tables of doc/replaces.md (table.py --update).
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Peer:
    """A system; its tests stand in <key>_test.py.

    prefix   what stands before the names of its functions
    package  that the tests run; "" where they go by its documentation
    version  of the package in which the differences were seen
    """

    key: str
    title: str
    prefix: str
    package: str
    version: str


@dataclasses.dataclass(frozen=True)
class Row:
    """A function of a peer.

    call     that replaces it
    differs  statements, each with the test of the peer that shows it
    """

    peer: str
    function: str
    call: str
    differs: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A difference of several functions, shown by tests of these names in every peer it names."""

    topic: str
    text: str
    tests: tuple[str, ...]


PEERS = {
    peer.key: peer
    for peer in (
        Peer("onnx", "ONNX Runtime", "", "onnxruntime", "1.31"),
        Peer("openvino", "OpenVINO", "", "openvino", "2026.4"),
        Peer("torch", "PyTorch", "Tensor.", "torch", "2.13"),
        Peer("jax", "JAX", "x.at[i].", "jax", "0.10"),
        Peer("tensorflow", "TensorFlow", "tf.", "", ""),
        Peer("numpy", "NumPy", "", "numpy", "2.4"),
    )
}

# Texts of several rows.
ELEMENTS = "`strew_scatter_elements`"
ND = "`strew_scatter_nd`"
UPDATE = "`strew_scatter_update`"
SLICE = "`strew_slice_scatter`"
LETTER = "negative indices off"
NEGATIVE = {"negative indices are errors there": "test_negative_indices_are_refused"}
WRITTEN = {"a failed call has written there": "test_out_of_range"}
UNSEEN = {"out of range is no error there": "test_out_of_range"}
NARROWED = {"numbers of 64 bits are computed in 32 there": "test_wide_dtypes_are_narrowed"}
LARGE = {"uint32 of 2^31 and more are not negative": "test_large_uint32_are_negative"}
REFUSED = {"no sums of float16 and bfloat16 there": "test_sums_of_16_bits"}
DEFAULT = {"out of range is an error by default": "test_out_of_range"}
BOOL = {"bool is no error": "test_bool_is_refused"}
COMPLEX = {"complex numbers are refused": "test_complex_numbers_have_an_order_there"}
DEVICE = {"out of range is the same on every device": "test_out_of_range_on_any_device"}
SEGMENTS = {
    "ids above the last are dropped too": "test_ids_above_the_number_of_segments_are_dropped_too"
}


def segments(name: str, start: str, reduction: str) -> Row:
    call = f"{UPDATE} with {reduction} on {start}; drop, {LETTER}"
    return Row("tensorflow", f"math.unsorted_segment_{name}", call, SEGMENTS)


def at(method: str, reduction: str, differs: dict[str, str]) -> Row:
    call = f"{UPDATE} or {ND} with {reduction}; drop, or clamp for `mode='clip'`"
    return Row("jax", method, call, {**DEFAULT, **differs})


def tuples(name: str, reduction: str) -> Row:
    return Row("tensorflow", f"tensor_scatter_nd_{name}", f"{ND} with {reduction}", DEVICE)


ROWS = (
    Row(
        "onnx",
        "ScatterElements",
        f"{ELEMENTS} with `NONE`, `ADD`, `MUL`, `MIN`, `MAX`",
        {"the last duplicate wins, by contract": "test_duplicates", **REFUSED},
    ),
    Row(
        "onnx",
        "ScatterND",
        f"{ND} with `NONE`, `ADD`, `MUL`, `MIN`, `MAX`",
        {"the last duplicate wins, by contract": "test_duplicates", **REFUSED},
    ),
    Row(
        "onnx",
        "TensorScatter",
        "`strew_tensor_scatter`",
        {"places can be dropped or clamped": "test_places_in_a_cache_can_be_dropped_or_clamped"},
    ),
    Row("openvino", "ScatterUpdate-3", UPDATE, {**UNSEEN, **NARROWED}),
    Row(
        "openvino",
        "ScatterElementsUpdate-3",
        f"{ELEMENTS}; {LETTER}",
        {
            "-1 is the last there, against its specification": (
                "test_operators_of_opset_3_wrap_negative_indices"
            ),
            **UNSEEN,
            **NARROWED,
        },
    ),
    Row(
        "openvino",
        "ScatterElementsUpdate-12",
        f"{ELEMENTS} with `NONE`, `ADD`, `MUL`, `MIN`, `MAX`, `MEAN`;"
        " `EXCLUDE_SELF` for `use_init_val=false`",
        {
            "infinities and -0 survive `EXCLUDE_SELF`": (
                "test_excluded_values_are_replaced_by_finite_ones"
            ),
            **LARGE,
            **UNSEEN,
            **NARROWED,
        },
    ),
    Row(
        "openvino",
        "ScatterNDUpdate-3",
        f"{ND}; {LETTER}",
        {
            "-1 is the last there, against its specification": (
                "test_operators_of_opset_3_wrap_negative_indices"
            ),
            **UNSEEN,
            **NARROWED,
        },
    ),
    Row(
        "openvino",
        "ScatterNDUpdate-15",
        f"{ND} with `NONE`, `ADD`, `SUB`, `MUL`, `MIN`, `MAX`",
        {"`SUB` of bool is xor": "test_differences_of_bool", **LARGE, **UNSEEN, **NARROWED},
    ),
    Row(
        "openvino",
        "SliceScatter-15",
        SLICE,
        {"updates may be broadcast": "test_updates_of_a_slice_are_broadcast_here", **NARROWED},
    ),
    Row(
        "torch",
        "scatter_",
        f"{ELEMENTS}; `reduce`: `ADD`, `MUL`",
        {
            **NEGATIVE,
            **WRITTEN,
            "updates have the shape of indices": "test_updates_may_be_larger_than_indices",
            "data has rank 1 or more": "test_a_number_has_an_axis",
        },
    ),
    Row(
        "torch",
        "scatter_add_",
        f"{ELEMENTS} with `ADD`; `WIDE` for floats of 16 bits, as there",
        NEGATIVE,
    ),
    Row(
        "torch",
        "scatter_reduce_",
        f"{ELEMENTS} with `ADD`, `MUL`, `MEAN`, `MAX`, `MIN`;"
        " `EXCLUDE_SELF` for `include_self=False`",
        NEGATIVE,
    ),
    Row("torch", "index_copy_", UPDATE, {**NEGATIVE, **WRITTEN}),
    Row(
        "torch",
        "index_add_",
        f"{UPDATE} with `ADD`; `SUB` for `alpha=-1`",
        {**NEGATIVE, **WRITTEN},
    ),
    Row(
        "torch",
        "index_reduce_",
        f"{UPDATE} with `MUL`, `MEAN`, `MAX`, `MIN`; `EXCLUDE_SELF` for `include_self=False`",
        NEGATIVE,
    ),
    Row(
        "torch",
        "index_put_",
        f"{ND}, indices stacked along a new last axis; `accumulate`: `ADD`",
        {"indices and updates are not broadcast": "test_nothing_is_broadcast"},
    ),
    Row(
        "torch",
        "slice_scatter",
        "`strew_slice_scatter_int64`",
        {"steps may be negative": "test_slices_backwards"},
    ),
    Row("torch", "select_scatter", f"{UPDATE} with an index of rank 0", {}),
    at(
        "set",
        "`NONE`",
        {
            "uint64 of 2^63 and more are out of range": "test_a_large_uint64_becomes_another_index",
            "no clamping on an axis of 0": "test_clipping_to_an_axis_without_elements",
        },
    ),
    at("add", "`ADD`", BOOL),
    at("subtract", "`SUB`", BOOL),
    at("multiply", "`MUL`", BOOL),
    at("min", "`MIN`", COMPLEX),
    at("max", "`MAX`", COMPLEX),
    tuples("update", "`NONE`"),
    tuples("add", "`ADD`"),
    tuples("sub", "`SUB`"),
    tuples("min", "`MIN`"),
    tuples("max", "`MAX`"),
    Row("tensorflow", "scatter_nd", f"{ND} with `ADD` on zeros", DEVICE),
    segments("sum", "zeros", "`ADD`"),
    segments("mean", "zeros", "`MEAN`, `EXCLUDE_SELF`"),
    segments("prod", "ones", "`MUL`"),
    segments("min", "the highest number", "`MIN`"),
    segments("max", "the lowest number", "`MAX`"),
    Row(
        "numpy",
        "put_along_axis",
        ELEMENTS,
        {"indices are not broadcast": "test_indices_are_broadcast"},
    ),
    Row(
        "numpy",
        "put",
        f"{UPDATE} on data of one axis; clamp, {LETTER}, for `mode='clip'`",
        {
            "no `mode='wrap'`, no repetition of updates": "test_put_wraps_and_repeats",
            "a failed call has written there": "test_out_of_range",
        },
    ),
    Row(
        "numpy",
        "ufunc.at",
        f"{ND} or {UPDATE} with `ADD`, `SUB`, `MUL`, `MIN`, `MAX`",
        {"bool has a difference: xor": "test_bool_has_a_difference"},
    ),
)

DIFFERENCES = (
    Difference(
        "NaN in min and max",
        "A NaN on either side gives NaN, as in PyTorch, JAX and NumPy. ONNX Runtime takes the"
        " update where one of both is a NaN; OpenVINO keeps the old value.",
        ("test_nan_in_min_and_max",),
    ),
    Difference(
        "±0 in min and max",
        "-0 < +0, as in JAX. PyTorch and OpenVINO keep the old one of two zeros, ONNX Runtime takes"
        " the update, and NumPy does one or the other, by dtype.",
        ("test_zeros_in_min_and_max",),
    ),
    Difference(
        "Duplicates",
        "Updates are applied in row-major order, so that the last one wins, and sums are rounded in"
        " that order. NumPy and, in the tests, ONNX Runtime do the same; most others do not say which update wins."
        " `STREW_DUPLICATE_ERROR` refuses them.",
        ("test_duplicates",),
    ),
    Difference(
        "Sums of float16 and bfloat16",
        "Rounded after every update, as in JAX, NumPy and `index_put_` of PyTorch. Its"
        " `scatter_add_` and `scatter_reduce_` sum as float32 and round once, as `STREW_WIDE` asks"
        " for; OpenVINO does so for float16 but not for bfloat16. ONNX Runtime refuses them.",
        ("test_sums_of_16_bits",),
    ),
    Difference(
        "Overflow of float8",
        "E4M3FN becomes NaN and E5M2 infinity, as in JAX. PyTorch stays at 448, as Cast of ONNX does"
        " by default; of PyTorch's functions only `index_put_` has such sums.",
        ("test_overflow_of_float8",),
    ),
    Difference(
        "Mean of float16 and bfloat16",
        "The sum is one of float32, and the quotient is rounded. `index_reduce_` of PyTorch rounds"
        " every sum; OpenVINO cuts quotients of bfloat16 off.",
        ("test_means_of_16_bits",),
    ),
    Difference(
        "Mean of integers",
        "Rounded down, from an exact sum. PyTorch rounds down too, OpenVINO toward zero; the sums"
        " of both wrap.",
        ("test_means_of_integers",),
    ),
    Difference(
        "Out of range",
        "An error, before a byte is written, or by choice dropped or clamped. ONNX Runtime fails"
        " too. PyTorch and `put` of NumPy have written when they fail, JAX drops by default, and"
        " OpenVINO reports nothing.",
        ("test_out_of_range",),
    ),
    Difference(
        "Slices with a step < 0 that start before the axis",
        "Empty, as in Python and in JAX. OpenVINO writes the first element. PyTorch refuses"
        " negative steps.",
        ("test_slices_backwards",),
    ),
)


def rows_of(peer: str) -> list[Row]:
    return [row for row in ROWS if row.peer == peer]
