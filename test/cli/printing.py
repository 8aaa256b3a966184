# SPDX-License-Identifier: Apache-2.0
"""How a result is printed."""

import math
import struct
import unittest

import npy
from command import CommandTest
from npy import NATIVE, Array


class Printing(CommandTest):
    def printed(self, array: Array) -> str:
        """The text that the command prints for `array`, into which an empty slice is scattered."""
        self.save("data.npy", array)
        empty = (0,) + array.shape[1:]
        self.save("updates.npy", Array(array.descr, empty, []))
        return self.succeed("slice-scatter", "data.npy", "updates.npy", "--start=0", "--stop=0")

    def words(self, descr: str, values: list) -> list[str]:
        text = self.printed(Array(NATIVE + descr, (len(values),), values))
        self.assertEqual((text[0], text[-2:]), ("[", "]\n"))
        return text[1:-2].split()

    def test_nesting(self) -> None:
        self.assertEqual(self.printed(Array("|i1", (3,), [1, -20, 3])), "[  1 -20   3]\n")
        self.assertEqual(self.printed(Array("|i1", (2, 2), [1, 2, 3, 40])), "[[ 1  2]\n [ 3 40]]\n")
        self.assertEqual(
            self.printed(Array("|u1", (2, 2, 2), range(8))),
            "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n",
        )
        self.assertEqual(self.printed(Array("|i1", (1, 1, 1, 1), [7])), "[[[[7]]]]\n")
        self.assertEqual(self.printed(Array("|i1", (0,), [])), "[]\n")
        self.assertEqual(self.printed(Array("|i1", (3, 0), [])), "[]\n")

    def test_fortran_order_makes_no_difference(self) -> None:
        for fortran_order in (False, True):
            array = Array(npy.swapped(NATIVE + "i2"), (2, 3), range(6), fortran_order)
            self.assertEqual(self.printed(array), "[[0 1 2]\n [3 4 5]]\n")

    def test_large_arrays_are_summarised(self) -> None:
        self.assertEqual(len(self.words("i2", list(range(1000)))), 1000)
        edges = "   0    1    2 ...  140  141  142]\n [ 143  144  145 ...  283  284  285]\n"
        text = self.printed(Array(NATIVE + "i2", (7, 143), range(1001)))
        self.assertTrue(text.startswith("[[" + edges), text)
        self.assertEqual(text.count("...\n"), 1)
        self.assertTrue(text.endswith(" 998  999 1000]]\n"), text)

    def test_long_lines_are_broken(self) -> None:
        text = self.printed(Array(NATIVE + "i2", (2, 30), range(100, 160)))
        lines = text.splitlines()
        self.assertEqual([len(line) for line in lines], [73, 50, 73, 51])
        self.assertEqual(lines[1], "  " + " ".join(map(str, range(118, 130))) + "]")

    def test_integers(self) -> None:
        for size in (1, 2, 4, 8):
            lowest = -(2 ** (8 * size - 1))
            signed = [lowest, -1, 0, -lowest - 1]
            unsigned = [0, 2 ** (8 * size) - 1]
            self.assertEqual(self.words(f"i{size}", signed), list(map(str, signed)))
            self.assertEqual(self.words(f"u{size}", unsigned), list(map(str, unsigned)))

    def test_bools(self) -> None:
        self.assertEqual(self.printed(Array("|b1", (2,), [True, False])), "[ True False]\n")

    def test_float64_as_python_prints_it(self) -> None:
        values = [0.0, -0.0, 0.1, 1 / 3, 1e-4, 9.9e-5, 1e15, 1e16, 123456789.125, 5e-324]
        values += [1.7976931348623157e308, math.inf, -math.inf, math.nan, -2.5e-9, 2.0**53]
        self.assertEqual(self.words("f8", values), list(map(repr, values)))

    def test_float32_with_the_fewest_digits(self) -> None:
        expected = ["0.1", "-0.0", "16777216.0", "3.4028235e+38", "1e-45", "0.33333334", "nan"]
        self.assertEqual(self.words("f4", list(map(float, expected))), expected)

    def test_float16_with_the_fewest_digits(self) -> None:
        expected = ["0.1", "1.1", "-1.001", "65500.0", "6e-08", "2048.0", "-inf", "-0.0"]
        self.assertEqual(self.words("f2", list(map(float, expected))), expected)
        bits = range(0, 0x7C00, 33)
        values = [struct.unpack("<e", struct.pack("<H", half))[0] for half in bits]
        words = self.words("f2", values)
        read_back = [struct.pack("<e", float(word)) for word in words]
        self.assertEqual(read_back, [struct.pack("<H", half) for half in bits])

    def test_complex(self) -> None:
        values = [1 + 2j, complex(-0.5, -0.0), complex(0, math.inf)]
        for descr in ("c8", "c16"):
            self.assertEqual(self.words(descr, values), ["1.0+2.0j", "-0.5-0.0j", "0.0+infj"])

    def test_bytes_and_text(self) -> None:
        values = [b"ab", b"a\0b", b"", b"'\\\n", b"\xff~\x7f"]
        expected = r"[b'ab' b'a\x00b' b'' b'\'\\\x0a' b'\xff~\x7f']" + "\n"
        self.assertEqual(self.printed(Array("|S3", (5,), values)), expected)
        self.assertEqual(self.printed(Array("|V2", (1,), [b"a\0"])), r"[b'a\x00']" + "\n")
        words = ["ab", "\N{LATIN SMALL LETTER E WITH ACUTE}\N{EURO SIGN}", "\N{GRINNING FACE}"]
        for order, encoding in (("<", "utf-32-le"), (">", "utf-32-be")):
            stored = [word.encode(encoding) for word in words]
            text = self.printed(Array(order + "U2", (3,), stored))
            self.assertEqual(text, "[" + " ".join(f"'{word}'" for word in words) + "]\n")

    def test_nothing_reaches_the_terminal_raw(self) -> None:
        codes = [0x1B, 0x9B, 0x7F, 0xD800, 0x110000, 0xFFFFFFFF]
        stored = [struct.pack(NATIVE + "I", code) for code in codes]
        text = self.printed(Array(NATIVE + "U1", (6,), stored))
        expected = [r"\x1b", r"\x9b", r"\x7f", r"\U0000d800", r"\U00110000", r"\Uffffffff"]
        self.assertEqual(text, "[" + " ".join(f"'{word}'" for word in expected) + "]\n")


if __name__ == "__main__":
    unittest.main()
