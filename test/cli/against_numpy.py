# SPDX-License-Identifier: Apache-2.0
"""Random operands that NumPy wrote, against what NumPy makes of them. Skipped without NumPy."""

import sys
import unittest

from command import HAS_LIBZIP, CommandTest

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
REDUCTIONS = {
    "none": None,
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "sub": np.subtract,
}
CASES = [
    (dtype, reduction, function)
    for dtype in NUMBERS
    for reduction, function in REDUCTIONS.items()
    if dtype[0] != "c" or reduction not in ("min", "max")
]


class AgainstNumpy(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.random = np.random.default_rng(7)

    def operand(self, name: str, array: np.ndarray) -> str:
        """Saves the array in an order, a byte order and a version of the format drawn by chance."""
        stored = array.astype(array.dtype.newbyteorder(self.random.choice(list("<>"))))
        if self.random.integers(2):
            stored = np.asfortranarray(stored)
        version = (int(self.random.integers(1, 4)), 0)
        with open(self.directory / name, "wb") as file:
            np.lib.format.write_array(file, stored, version=version)
        return name

    def values(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """Small integers, which no dtype has to round."""
        array = self.random.integers(0, 4, shape).astype(dtype)
        if dtype[0] == "c":
            array += 1j * self.random.integers(0, 4, shape)
        return array

    def broadcastable(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that NumPy broadcasts to this one; in one of two cases this one itself."""
        if self.random.integers(2):
            return shape
        kept = shape[self.random.integers(0, len(shape) + 1) :]
        return tuple(1 if self.random.integers(2) else dim for dim in kept)

    def check(self, expected: np.ndarray, *arguments: str) -> None:
        self.assertEqual(self.succeed(*arguments, "-o", "out.npy"), "")
        result = np.load(self.directory / "out.npy")
        self.assertEqual(result.dtype, expected.dtype)
        np.testing.assert_array_equal(result, expected)

    def apply(self, function, data: np.ndarray, where, updates: np.ndarray) -> np.ndarray:
        output = data.copy()
        if function is None:
            for place in np.ndindex(np.broadcast(*where).shape):
                output[tuple(index[place] for index in where)] = updates[place]
        else:
            function.at(output, where, updates)
        return output

    def test_scatter_elements(self) -> None:
        for dtype, reduction, function in CASES:
            with self.subTest(dtype=dtype, reduction=reduction):
                data = self.values(dtype, (3, 4, 5))
                updates = self.values(dtype, (2, 3, 4))
                axis = int(self.random.integers(-3, 3))
                dim = data.shape[axis]
                indices = self.random.integers(-dim, dim, updates.shape)
                where = list(np.indices(updates.shape))
                where[axis] = indices
                expected = self.apply(function, data, tuple(where), updates)
                files = [
                    self.operand("data.npy", data),
                    self.operand("indices.npy", indices.astype("i4")),
                    self.operand("updates.npy", updates),
                ]
                arguments = ["--axis", str(axis), "--reduction", reduction]
                self.check(expected, "scatter-elements", *files, *arguments)

    def test_scatter_nd(self) -> None:
        for dtype, reduction, function in CASES:
            with self.subTest(dtype=dtype, reduction=reduction):
                data = self.values(dtype, (3, 4, 5))
                indices = self.random.integers([-3, -4], [3, 4], (2, 3, 2))
                updates = self.values(dtype, (2, 3, 5))
                where = (indices[..., 0], indices[..., 1])
                expected = self.apply(function, data, where, updates)
                files = [
                    self.operand("data.npy", data),
                    self.operand("indices.npy", indices),
                    self.operand("updates.npy", updates),
                ]
                self.check(expected, "scatter-nd", *files, "--reduction", reduction)

    def test_slice_scatter(self) -> None:
        for dtype, reduction, function in CASES:
            with self.subTest(dtype=dtype, reduction=reduction):
                data = self.values(dtype, (4, 5, 6))
                start, stop = self.random.integers(-8, 9, (2, 2)).tolist()
                step = self.random.choice([-2, -1, 1, 2, 3], 2).tolist()
                axes = self.random.permutation(3)[:2].tolist()
                slices = [slice(None)] * 3
                for axis, *numbers in zip(axes, start, stop, step):
                    slices[axis] = slice(*numbers)
                expected = data.copy()
                view = expected[tuple(slices)]
                updates = self.values(dtype, self.broadcastable(view.shape))
                view[...] = updates if function is None else function(view, updates)
                files = [self.operand("data.npy", data), self.operand("updates.npy", updates)]
                lists = {"--start": start, "--stop": stop, "--step": step, "--axes": axes}
                where = [f"{name}={','.join(map(str, lists[name]))}" for name in lists]
                self.check(expected, "slice-scatter", *files, *where, "--reduction", reduction)

    def test_text(self) -> None:
        for dtype in ("S5", "U5", "V5"):
            data = np.array([b"one", b"two", b"three"]).astype(dtype)
            updates = np.array([b"four"]).astype(dtype)
            expected = data.copy()
            expected[1] = updates[0]
            indices = self.operand("indices.npy", np.array([[1]]))
            files = [self.operand("data.npy", data), indices, self.operand("updates.npy", updates)]
            self.check(expected, "scatter-nd", *files)

    def test_python_objects_are_refused(self) -> None:
        np.save(self.directory / "data.npy", np.array([None, "x"]), allow_pickle=True)
        message = self.fail_with("scatter-nd", "data.npy", "data.npy", "data.npy")
        self.assertIn("Python objects", message)

    def test_structures_are_no_indices(self) -> None:
        np.save(self.directory / "data.npy", np.zeros(2, [("x", "f4"), ("y", "i2")]))
        message = self.fail_with("scatter-nd", "data.npy", "data.npy", "data.npy")
        self.assertIn("indices has dtype [('x', '<f4'), ('y', '<i2')], which is not", message)

    def test_elements_that_are_only_moved(self) -> None:
        padded = np.dtype({"names": ["x", "y"], "formats": ["<f4", "|i1"], "itemsize": 12})
        nested = np.dtype([("x", "<i2"), ("y", [("a", ">f8"), ("b", "S3", (2, 2))])])
        for dtype in ("M8[s]", ">m8[D]", "m8", "longdouble", padded, nested):
            size = np.dtype(dtype).itemsize
            bytes_of_data = np.frombuffer(self.random.bytes(6 * size), np.uint8).reshape(6, size)
            data = bytes_of_data.view(dtype).reshape(6)
            np.save(self.directory / "data.npy", data)
            np.save(self.directory / "indices.npy", np.array([4, -6]))
            np.save(self.directory / "updates.npy", data[1:3])
            call = ["scatter-update", "data.npy", "indices.npy", "updates.npy"]
            self.succeed(*call, "-o", "out.npy")
            found = np.load(self.directory / "out.npy")
            self.assertEqual(found.dtype, data.dtype)
            self.assertEqual(found.tobytes(), bytes_of_data[[2, 1, 2, 3, 1, 5]].tobytes())
            self.assertIn("is not defined on ", self.fail_with(*call, "--reduction", "add"))
        np.save(self.directory / "updates.npy", data[1:3].view([("z", f"V{size}")]))
        self.assertIn("STREW_INVALID_DTYPE: updates has dtype [", self.fail_with(*call))

    def test_casts(self) -> None:
        numbers = np.clip(self.random.normal(0, 40, 600), 0, 127)
        for to in NUMBERS:
            for source in NUMBERS:
                if source[0] == "c" and to[0] != "c":
                    continue
                values = numbers.astype(source)
                updates = "values.npy"
                if HAS_LIBZIP:
                    updates = "values.npz:values"
                    np.savez_compressed(self.directory / "values.npz", values=values)
                else:
                    np.save(self.directory / updates, values)
                np.save(self.directory / "data.npy", np.zeros(600, to))
                np.save(self.directory / "indices.npy", np.arange(600))
                call = ["scatter-update", "data.npy", "indices.npy", updates, "--cast"]
                self.succeed(*call, "-o", "out.npy")
                found = np.load(self.directory / "out.npy")
                self.assertEqual(found.tobytes(), values.astype(to).tobytes(), (source, to))

    def test_printing(self) -> None:
        np.save(self.directory / "indices.npy", np.zeros(0, np.int64))
        for _ in range(60):
            rank = int(self.random.integers(1, 5))
            shape = self.random.integers(1, (0, 2500, 60, 20, 9)[rank], rank)
            data = self.random.integers(-99, 999, shape).astype(self.random.choice(["i4", "i8", "?"]))
            if self.random.random() < 0.3:
                data = np.array(["a", "\u00e9\u20ac", "bcd"])[data.astype("i8") % 3]
            np.save(self.directory / "data.npy", data)
            np.save(self.directory / "updates.npy", data[:0])
            printed = self.succeed("scatter-update", "data.npy", "indices.npy", "updates.npy")
            self.assertEqual(printed, np.array2string(data) + "\n")


if __name__ == "__main__":
    unittest.main()
