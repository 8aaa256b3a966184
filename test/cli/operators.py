# SPDX-License-Identifier: Apache-2.0
"""Every operator through the command: worked examples, layouts, dtypes, errors."""

import itertools
import unittest

import npy
from command import CommandTest
from npy import NATIVE, Array

F4 = NATIVE + "f4"
I8 = NATIVE + "i8"
PLANNED = ("scatter-elements", "scatter-nd", "scatter-update")


def floats(shape: tuple[int, ...], values) -> Array:
    return Array(F4, shape, list(values))


def integers(shape: tuple[int, ...], values) -> Array:
    return Array(I8, shape, list(values))


class WorkedExamples(CommandTest):
    """The examples that the specifications of ONNX and OpenVINO print."""

    def check(self, expected: Array, *arguments: str) -> None:
        wanted = [npy.unpack(F4, npy.pack(F4, value)) for value in expected.values]
        result = self.result(*arguments)
        self.assertEqual((result.descr, result.shape), (F4, expected.shape))
        self.assertEqual(result.values, wanted)
        if arguments[0] in PLANNED:
            self.assertEqual(self.result(*arguments, "--plan"), result)

    def test_scatter_elements_along_the_default_axis(self) -> None:
        self.save("data.npy", floats((3, 3), [0] * 9))
        self.save("indices.npy", integers((2, 3), [1, 0, 2, 0, 2, 1]))
        self.save("updates.npy", floats((2, 3), [1.0, 1.1, 1.2, 2.0, 2.1, 2.2]))
        expected = floats((3, 3), [2.0, 1.1, 0.0, 1.0, 0.0, 2.2, 0.0, 2.1, 1.2])
        self.check(expected, "scatter-elements", "data.npy", "indices.npy", "updates.npy")

    def test_scatter_elements_along_axis_1(self) -> None:
        self.save("data.npy", floats((1, 5), [1, 2, 3, 4, 5]))
        self.save("indices.npy", integers((1, 2), [1, 3]))
        self.save("updates.npy", floats((1, 2), [1.1, 2.1]))
        expected = floats((1, 5), [1.0, 1.1, 3.0, 2.1, 5.0])
        files = ["data.npy", "indices.npy", "updates.npy"]
        self.check(expected, "scatter-elements", *files, "--axis", "1")
        self.check(expected, "scatter-elements", "--axis", "-1", *files)
        self.check(expected, "scatter-elements", *files, "--axis=-1", "--reduction=none")

    def test_scatter_update(self) -> None:
        self.save("data.npy", floats((2, 3), range(6)))
        self.save("indices.npy", integers((2,), [2, -3]))
        self.save("updates.npy", floats((2, 2), [10, 20, 30, 40]))
        files = ["data.npy", "indices.npy", "updates.npy"]
        expected = floats((2, 3), [20, 1, 10, 40, 4, 30])
        self.check(expected, "scatter-update", *files, "--axis", "1")
        expected = floats((2, 3), [10, 1, 6, 21.5, 4, 17.5])
        self.check(expected, "scatter-update", *files, "--axis=1", "--reduction", "mean")
        expected = floats((2, 3), [20, 1, 10, 40, 4, 30])
        flags = ["--reduction", "mean", "--exclude-self"]
        self.check(expected, "scatter-update", *files, "--axis=1", *flags)

    def test_tensor_scatter(self) -> None:
        self.save("past.npy", floats((2, 4, 1), range(8)))
        self.save("places.npy", integers((2,), [1, 3]))
        self.save("update.npy", floats((2, 2, 1), [10, 20, 30, 40]))
        files = ["past.npy", "places.npy", "update.npy", "--axis", "1"]
        expected = floats((2, 4, 1), [0, 10, 20, 3, 40, 5, 6, 30])
        self.check(expected, "tensor-scatter", *files, "--circular")
        expected = floats((2, 4, 1), [0, 10, 20, 3, 4, 5, 30, 40])
        self.check(expected, "tensor-scatter", *files, "--out-of-range", "clamp")
        expected = floats((2, 4, 1), [0, 10, 20, 3, 4, 5, 6, 7])
        self.check(expected, "tensor-scatter", *files, "--out-of-range", "drop")
        complaint = self.fail_with("tensor-scatter", *files)
        self.assertIn("write_indices[1] = 3 is out of range [0, 2]", complaint)

    def test_policies(self) -> None:
        self.save("data.npy", floats((3,), [1, 2, 3]))
        self.save("indices.npy", integers((3, 1), [0, -1, 5]))
        self.save("updates.npy", floats((3,), [10, 20, 30]))
        call = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]
        self.check(floats((3,), [10, 2, 20]), *call, "--out-of-range", "drop")
        self.check(floats((3,), [10, 2, 30]), *call, "--out-of-range", "clamp")
        flags = ["--out-of-range", "drop", "--no-negative-indices"]
        self.check(floats((3,), [10, 2, 3]), *call, *flags)
        flags = ["--index-policy", "clamp", "--duplicate-policy", "error"]
        for plan in ([], ["--plan"]):
            sentence = self.fail_with(*call, *flags, *plan)
            self.assertIn("STREW_DUPLICATE_INDEX: indices[2,0] names", sentence)

    def test_scatter_nd_of_elements(self) -> None:
        self.save("data.npy", floats((8,), range(1, 9)))
        self.save("indices.npy", integers((4, 1), [4, 3, 1, 7]))
        self.save("updates.npy", floats((4,), [9, 10, 11, 12]))
        expected = floats((8,), [1, 11, 3, 10, 9, 6, 7, 12])
        self.check(expected, "scatter-nd", "data.npy", "indices.npy", "updates.npy")

    def test_scatter_nd_of_slices(self) -> None:
        up = [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1]
        down = [8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8]
        fives = [value for row in (5, 6, 7, 8) for value in [row] * 4]
        ones = [value for row in (1, 2, 3, 4) for value in [row] * 4]
        self.save("data.npy", floats((4, 4, 4), up + up + down + down))
        self.save("indices.npy", integers((2, 1), [0, 2]))
        self.save("updates.npy", floats((2, 4, 4), fives + ones))
        expected = floats((4, 4, 4), fives + up + ones + down)
        self.check(expected, "scatter-nd", "data.npy", "indices.npy", "updates.npy")

    def test_slice_scatter_over_axis_0(self) -> None:
        self.save("data.npy", floats((2, 5), range(10)))
        self.save("updates.npy", floats((1, 5), [10, 20, 30, 40, 50]))
        expected = floats((2, 5), [10, 20, 30, 40, 50, 5, 6, 7, 8, 9])
        where = ["--start", "0", "--stop", "1"]
        self.check(expected, "slice-scatter", "data.npy", "updates.npy", *where)
        where += ["--step", "1", "--axes", "0"]
        self.check(expected, "slice-scatter", "data.npy", "updates.npy", *where)

    def test_slice_scatter_clamps(self) -> None:
        self.save("data.npy", floats((2, 5), range(10)))
        self.save("updates.npy", floats((2, 3), [10, 20, 30, 40, 50, 60]))
        expected = floats((2, 5), [10, 1, 20, 3, 30, 40, 6, 50, 8, 60])
        where = ["--start", "-25", "--stop", "25", "--step", "2", "--axes", "1"]
        self.check(expected, "slice-scatter", "data.npy", "updates.npy", *where)

    def test_slice_scatter_over_both_axes(self) -> None:
        self.save("data.npy", floats((3, 5), range(15)))
        self.save("updates.npy", floats((2, 2), [50, 60, 70, 80]))
        expected = floats((3, 5), [0, 50, 2, 60, 4, 5, 6, 7, 8, 9, 10, 70, 12, 80, 14])
        files = ["data.npy", "updates.npy"]
        steps = ["--step", "2,2"]
        self.check(expected, "slice-scatter", *files, "--start", "0,1", "--stop", "3,5", *steps)
        # Negative lists are values, with a space as with "=", and before the files too.
        self.check(expected, "slice-scatter", *files, "--start", "-3,1", "--stop", "3,5", *steps)
        self.check(expected, "slice-scatter", "--start=-3,-4", "--stop", "3,5", *steps, *files)

    def test_slice_scatter_broadcasts_updates(self) -> None:
        self.save("data.npy", floats((2, 3), [0] * 6))
        self.save("column.npy", floats((2, 1), [7, 8]))
        self.save("number.npy", floats((), [9]))
        where = ["--start", "1", "--stop", "3", "--axes", "1"]
        expected = floats((2, 3), [0, 7, 7, 0, 8, 8])
        self.check(expected, "slice-scatter", "data.npy", "column.npy", *where)
        expected = floats((2, 3), [0, 9, 9, 0, 9, 9])
        self.check(expected, "slice-scatter", "data.npy", "number.npy", *where)

    def test_slice_scatter_backwards(self) -> None:
        self.save("data.npy", floats((5,), range(5)))
        self.save("updates.npy", floats((5,), [10, 11, 12, 13, 14]))
        lowest = str(-(2**63))
        where = ["--start", "-1", "--stop", lowest, "--step", "-1"]
        expected = floats((5,), [14, 13, 12, 11, 10])
        self.check(expected, "slice-scatter", "data.npy", "updates.npy", *where)


class Layouts(CommandTest):
    def test_array_orders_and_byte_orders(self) -> None:
        data = integers((2, 3), [10, 20, 30, 40, 50, 60])
        indices = integers((2, 2), [2, 0, 1, -1])
        updates = integers((2, 2), [1, 2, 3, 4])
        expected = [12, 20, 31, 40, 53, 64]
        choices = [(order, array_order) for order in "<>=" for array_order in (False, True)]
        for chosen in itertools.product(choices, repeat=3):
            operands = []
            for name, array, (order, fortran_order) in zip("diu", (data, indices, updates), chosen):
                stored = Array(order + "i8", array.shape, array.values, fortran_order)
                operands.append(self.save(name, stored))
            with self.subTest(chosen=chosen):
                result = self.result("scatter-elements", *operands, "--axis=1", "--reduction=add")
                self.assertEqual(result, Array(I8, (2, 3), expected, False))

    def test_empty_operands(self) -> None:
        huge = 2**40
        for fortran_order in (False, True):
            data = Array(F4, (huge, 0, huge), [], fortran_order)
            updates = Array(F4, (0, 0, huge), [], fortran_order)
            self.save("data.npy", data)
            self.save("indices.npy", integers((0, 1), []))
            self.save("updates.npy", updates)
            result = self.result("scatter-nd", "data.npy", "indices.npy", "updates.npy")
            self.assertEqual(result, Array(F4, data.shape, []))


class Dtypes(CommandTest):
    """data [1, 2, 3] meets the updates 4 and 3 in its middle."""

    EXPECTED = {"none": 3, "add": 9, "mul": 24, "min": 2, "max": 4, "sub": -5}

    def scatter(self, descr: str, data: list, updates: list, *arguments: str) -> list[str]:
        self.save("data.npy", Array(descr, (len(data),), data))
        self.save("indices.npy", integers((len(updates), 1), [1] * len(updates)))
        self.save("updates.npy", Array(descr, (len(updates),), updates))
        return ["scatter-nd", "data.npy", "indices.npy", "updates.npy", *arguments]

    def check(self, descr: str, data: list, updates: list, reduction: str, expected) -> None:
        with self.subTest(descr=descr, reduction=reduction):
            call = self.scatter(descr, data, updates, "--reduction", reduction)
            self.assertEqual(self.result(*call).values, [data[0], expected, data[2]])

    def test_numbers(self) -> None:
        for kind in npy.LETTERS:
            if kind == "b1":
                continue
            for order, reduction in itertools.product("<>", self.EXPECTED):
                if kind[0] == "c" and reduction in ("min", "max"):
                    continue
                expected = self.EXPECTED[reduction]
                if kind[0] == "u":
                    expected %= 2 ** (8 * int(kind[1:]))
                self.check(order + kind, [1, 2, 3], [4, 3], reduction, expected)

    def test_float8_rounds(self) -> None:
        for descr, (reduction, expected) in itertools.product(
            ("<f1", "|f1"), (self.EXPECTED | {"add": 8}).items()
        ):
            self.check(descr, [1, 2, 3], [4, 3], reduction, expected)

    def test_wide_rounds_once(self) -> None:
        sums = (("<f2", 2048, 2112), ("<f1", 8, 64), ("<f4", 1 << 24, 1 << 24))
        for descr, data, expected in sums:
            call = self.scatter(descr, [data] * 3, [1] * 64, "--reduction", "add", "--wide")
            self.assertEqual(self.result(*call).values, [data, expected, data])
            self.assertEqual(self.result(*call[:-1]).values, [data] * 3)

    def test_complex(self) -> None:
        data, updates = [0j, 1 + 2j, 5j], [3 - 1j]
        for kind in ("c8", "c16"):
            for order in "<>":
                self.check(order + kind, data, updates, "none", 3 - 1j)
                self.check(order + kind, data, updates, "add", 4 + 1j)
                self.check(order + kind, data, updates, "mul", 5 + 5j)
                self.check(order + kind, data, updates, "sub", -2 + 3j)
            for reduction in ("min", "max"):
                call = self.scatter(NATIVE + kind, data, updates, "--reduction", reduction)
                self.assertIn("STREW_INVALID_DTYPE", self.fail_with(*call))

    def test_bool(self) -> None:
        for old, new in itertools.product((False, True), repeat=2):
            data = [False, old, True]
            self.check("|b1", data, [new], "none", new)
            for reduction in ("add", "max"):
                self.check("|b1", data, [new], reduction, old or new)
            for reduction in ("mul", "min"):
                self.check("|b1", data, [new], reduction, old and new)
            self.check("|b1", data, [new], "sub", old != new)

    def test_opaque(self) -> None:
        for descr, data, update in (
            ("|S3", [b"abc", b"d\0\0", b"\0e\0"], b"xy\0"),
            ("|V5", [b"\0\1\2\3\4", b"-----", b"+++++"], b"\xff\0\xff\0\xff"),
            ("|V4096", [b"a" * 4096, b"b" * 4096, b"c" * 4096], b"d" * 4096),
        ):
            self.check(descr, data, [update], "none", update)
            call = self.scatter(descr, data, [update], "--reduction", "add")
            self.assertIn("STREW_INVALID_DTYPE", self.fail_with(*call))

    def test_bfloat16_of_ml_dtypes_moves_as_two_bytes(self) -> None:
        self.check("<V2", [b"\x80\x3f", b"\0\x40", b"\x40\x40"], [b"\x80\x40"], "none", b"\x80\x40")

    def test_text_of_either_byte_order(self) -> None:
        words = ["ab", "c", "\N{GRINNING FACE}"]
        native = [word.encode("utf-32-le" if NATIVE == "<" else "utf-32-be") for word in words]
        for order, encoding in (("<", "utf-32-le"), (">", "utf-32-be")):
            stored = [word.encode(encoding) for word in words]
            call = self.scatter(order + "U2", stored, [stored[2]])
            result = self.result(*call)
            self.assertEqual(result.descr, NATIVE + "U2")
            wanted = [native[0], native[2], native[2]]
            self.assertEqual(result.values, [element.ljust(8, b"\0") for element in wanted])

    def test_index_dtypes(self) -> None:
        self.save("data.npy", integers((3,), [1, 2, 3]))
        self.save("updates.npy", integers((1,), [9]))
        for kind, order in itertools.product(("i", "u"), "<>"):
            for size in (1, 2, 4, 8):
                descr = f"{order}{kind}{size}"
                self.save("indices.npy", Array(descr, (1, 1), [2]))
                call = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]
                with self.subTest(descr=descr):
                    self.assertEqual(self.result(*call).values, [1, 2, 9])


class Errors(CommandTest):
    """The library's answer reaches the user, and no file is left."""

    def setUp(self) -> None:
        super().setUp()
        self.save("data.npy", floats((2, 3), range(6)))
        self.save("indices.npy", integers((2, 3), [0] * 6))
        self.save("updates.npy", floats((2, 3), range(6)))

    def check(self, status: str, sentence: str, *arguments: str) -> None:
        for plan in ([], ["--plan"]) if arguments[0] in PLANNED else ([],):
            with self.subTest(arguments=arguments, plan=plan):
                message = self.fail_with(*arguments, *plan, "-o", "out.npy")
                self.assertRegex(message, rf"\Astrew: {status}: .*{sentence}")
                self.assertFalse((self.directory / "out.npy").exists())

    def test_scatter_elements(self) -> None:
        def elements(data: str, indices: str, updates: str, *rest: str) -> list[str]:
            return ["scatter-elements", data, indices, updates, *rest]

        self.save("far.npy", integers((2, 3), [0, 1, 0, 0, 2, 0]))
        self.save("large.npy", Array(NATIVE + "u8", (2, 3), [2**64 - 1] * 6))
        self.save("short.npy", integers((2,), [0, 0]))
        self.save("doubles.npy", Array(NATIVE + "f8", (2, 3), [0] * 6))
        self.save("scalar.npy", floats((), [1]))
        good = ("data.npy", "indices.npy", "updates.npy")
        self.check("STREW_INVALID_AXIS", "2", *elements(*good, "--axis", "2"))
        self.check("STREW_INVALID_AXIS", "-3", *elements(*good, "--axis", "-3"))
        far = elements("data.npy", "far.npy", "updates.npy")
        self.check("STREW_INDEX_OUT_OF_RANGE", r"indices\[1,1\] = 2 .*\[-2, 1\]", *far)
        large = elements("data.npy", "large.npy", "updates.npy")
        self.check("STREW_INDEX_OUT_OF_RANGE", "18446744073709551615", *large)
        short = elements("data.npy", "short.npy", "updates.npy")
        self.check("STREW_INVALID_SHAPE", "", *short)
        doubles = elements("data.npy", "indices.npy", "doubles.npy")
        self.check("STREW_INVALID_DTYPE", "float64", *doubles)
        by_floats = elements("data.npy", "updates.npy", "updates.npy")
        self.check("STREW_INVALID_DTYPE", "indices", *by_floats)
        scalar = elements("scalar.npy", "indices.npy", "updates.npy")
        self.check("STREW_INVALID_SHAPE", "", *scalar)

    def test_scatter_nd(self) -> None:
        self.save("far.npy", integers((1, 2), [0, 3]))
        self.save("one.npy", floats((1,), [1]))
        far = ["scatter-nd", "data.npy", "far.npy", "one.npy"]
        self.check("STREW_INDEX_OUT_OF_RANGE", r"indices\[0,1\] = 3 .*\[-3, 2\]", *far)
        wide = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]
        self.check("STREW_INVALID_SHAPE", "", *wide)

    def test_scatter_update(self) -> None:
        self.save("rows.npy", integers((2,), [0, 1]))
        good = ["scatter-update", "data.npy", "rows.npy", "updates.npy"]
        self.check("STREW_INVALID_AXIS", r"axis = 2 is out of range \[-2, 1\]", *good, "--axis=2")
        wide = ["scatter-update", "data.npy", "indices.npy", "updates.npy"]
        self.check("STREW_INVALID_SHAPE", "", *wide)

    def test_slice_scatter(self) -> None:
        slices = ["slice-scatter", "data.npy", "updates.npy"]
        where = ["--start", "0,0", "--stop", "9,9"]
        zero = [*slices, *where, "--step", "1,0"]
        self.check("STREW_INVALID_ARGUMENT", "step", *zero)
        self.check("STREW_INVALID_AXIS", "", *slices, *where, "--axes", "1,-1")
        self.check("STREW_INVALID_AXIS", "2", *slices, *where, "--axes", "0,2")
        three = ["--start", "0,0,0", "--stop", "1,1,1"]
        self.check("STREW_INVALID_SHAPE", "", *slices, *three)
        self.check("STREW_INVALID_SHAPE", "updates", *slices, "--start", "0", "--stop", "1")


if __name__ == "__main__":
    unittest.main()
