# SPDX-License-Identifier: Apache-2.0
"""Arrays in archives, updates of another dtype, and files that are changed in place."""

import os
import struct
import unittest
import zipfile

import npy
from command import HAS_LIBZIP, CommandTest
from npy import NATIVE, Array

F4 = NATIVE + "f4"
I4 = NATIVE + "i4"
I8 = NATIVE + "i8"
CALL = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]


class InputTest(CommandTest):
    """Files for CALL."""

    def setUp(self) -> None:
        super().setUp()
        self.data = Array(F4, (3,), [1, 2, 3])
        self.indices = Array(I8, (1, 1), [1])
        self.updates = Array(F4, (1,), [9])
        self.save("data.npy", self.data)
        self.save("indices.npy", self.indices)
        self.save("updates.npy", self.updates)


@unittest.skipUnless(HAS_LIBZIP, "the command was built without libzip")
class Archives(InputTest):
    def archive(self, name: str, arrays: dict[str, Array], method: int) -> None:
        with zipfile.ZipFile(self.directory / name, "w", method) as file:
            for member, array in arrays.items():
                file.writestr(member, npy.encode(array))

    def test_members(self) -> None:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            arrays = {"a.npy": self.data, "b.npy": self.indices, "c": self.updates}
            self.archive("all.npz", arrays, method)
            found = self.result("scatter-nd", "all.npz:a", "all.npz:b", "all.npz:c")
            self.assertEqual(found, Array(F4, (3,), [1, 9, 3]))

    def test_the_only_member(self) -> None:
        self.archive("one.npz", {"arr_0.npy": self.data}, zipfile.ZIP_STORED)
        found = self.result("scatter-nd", "one.npz", *CALL[2:])
        self.assertEqual(found, Array(F4, (3,), [1, 9, 3]))

    def test_what_cannot_be_read(self) -> None:
        self.archive("two.npz", {"a.npy": self.data, "b.npy": self.data}, zipfile.ZIP_DEFLATED)
        sentence = self.fail_with("scatter-nd", "two.npz", *CALL[2:])
        self.assertIn("as in 'two.npz:NAME'; it has a, b", sentence)
        sentence = self.fail_with("scatter-nd", "two.npz:c", *CALL[2:])
        self.assertIn("cannot read 'two.npz:c': it has no such array; it has a, b", sentence)
        self.assertIn("No such file", self.fail_with("scatter-nd", "none.npz:c", *CALL[2:]))
        (self.directory / "text.npz").write_text("text")
        self.assertIn("Not a zip archive", self.fail_with("scatter-nd", "text.npz", *CALL[2:]))
        self.assertIn("must be a .npy file", self.misuse(*CALL, "-o", "out.npz"))

    def test_damage(self) -> None:
        """A damaged byte of an archive gives an error, or is in a field that nobody reads."""
        self.archive("a.npz", {"a.npy": self.data}, zipfile.ZIP_DEFLATED)
        content = (self.directory / "a.npz").read_bytes()
        for at in range(0, len(content), 7):
            damaged = bytearray(content)
            damaged[at] ^= 0x55
            (self.directory / "a.npz").write_bytes(damaged)
            done = self.execute("scatter-nd", "a.npz", *CALL[2:])
            self.assertIn(done.returncode, (0, 1), (at, done.stderr))
            self.assertEqual(done.stderr.count(b"\n"), done.returncode, (at, done.stderr))

    def test_names_with_control_characters(self) -> None:
        names = {
            "a\nb.npy": "a?b",
            "c\x7fd.npy": "c?d",
            "e\u009bf.npy": "e?f",
            "\u00e4.npy": "\u00e4",
        }
        self.archive("four.npz", dict.fromkeys(names, self.data), zipfile.ZIP_STORED)
        done = self.execute("scatter-nd", "four.npz", *CALL[2:])
        listed = ", ".join(names.values())
        self.assertEqual(done.stderr.decode().split("it has ")[1], listed + "\n")

    def test_sizes_of_the_directory(self) -> None:
        """The directory at the end of an archive may tell another size than that of the file."""
        content = npy.encode(self.data)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for file, told, reason in (
                (content, 10, "its header is longer than the file"),
                (content, len(content) - 1, "promises 12 bytes of elements, the file has 11"),
                (content, len(content) + 1, "promises 12 bytes of elements, the file has 13"),
                (content + b"x", len(content), "the file is longer than the archive says"),
                (content[:-1], len(content), "the file ends too early"),
            ):
                with zipfile.ZipFile(self.directory / "a.npz", "w", method) as archive:
                    archive.writestr("a.npy", file)
                changed = bytearray((self.directory / "a.npz").read_bytes())
                struct.pack_into("<I", changed, changed.rindex(b"PK\1\2") + 24, told)
                (self.directory / "a.npz").write_bytes(changed)
                self.assertIn(reason, self.fail_with("scatter-nd", "a.npz", *CALL[2:]))

    def test_checksum(self) -> None:
        self.archive("a.npz", {"a.npy": self.data}, zipfile.ZIP_STORED)
        content = bytearray((self.directory / "a.npz").read_bytes())
        at = content.index(b"\n", content.index(b"NUMPY")) + 1  # of the first element
        content[at] ^= 1
        (self.directory / "a.npz").write_bytes(content)
        self.assertIn("cannot read 'a.npz': CRC", self.fail_with("scatter-nd", "a.npz", *CALL[2:]))


class Casts(InputTest):
    def cast(self, data: Array, updates: Array) -> list:
        self.save("data.npy", data)
        self.save("updates.npy", updates)
        found = self.result(*CALL, "--cast")
        self.assertEqual(found.descr, data.descr)
        return found.values[1]

    def test_numbers(self) -> None:
        for descr, value, expected in (
            (F4, 2.5, 2),
            (F4, -2.75, -2),
            (NATIVE + "f8", -2147483648.5, -(2**31)),
            (NATIVE + "u8", 2**31 - 1, 2**31 - 1),
            ("|b1", True, 1),
            (NATIVE + "f2", 7, 7),
            (NATIVE + "c16", 3 + 0j, 3),
        ):
            data = Array(I4, (3,), [1, 2, 3])
            self.assertEqual(self.cast(data, Array(descr, (1,), [value])), expected)

    def test_what_does_not_fit(self) -> None:
        for data, updates, sentence in (
            ("|u1", Array(I8, (1,), [256]), "updates has 256, which uint8 cannot hold"),
            ("|u1", Array(I8, (1,), [-1]), "updates has -1, which uint8 cannot hold"),
            (I8, Array(F4, (1,), [2.0**63]), "which int64 cannot hold"),
            (I8, Array(F4, (1,), [float("nan")]), "updates has nan, which int64 cannot hold"),
            (F4, Array(NATIVE + "c8", (1,), [1 + 2j]), "which float32 cannot hold"),
            (I8, Array("|S2", (1,), [b"ab"]), "--cast converts numbers, not '|S2'"),
        ):
            self.save("data.npy", Array(data, (3,), [1, 2, 3]))
            self.save("updates.npy", updates)
            self.assertIn(sentence, self.fail_with(*CALL, "--cast"))
            self.assertIn("STREW_INVALID_DTYPE", self.fail_with(*CALL))


class Opaque(InputTest):
    def test_kinds_of_one_size_differ(self) -> None:
        text = NATIVE + "U1"
        for data, updates in (("|S4", text), (text, "|S4"), ("|V4", "|S4"), ("|S4", "|V4")):
            self.save("data.npy", Array(data, (3,), [b"a", b"b", b"c"]))
            self.save("updates.npy", Array(updates, (1,), [b"d"]))
            sentence = f"updates has dtype '{updates}', but data has dtype '{data}'"
            self.assertIn(sentence, self.fail_with(*CALL))
            self.assertIn("--cast converts numbers", self.fail_with(*CALL, "--cast"))


class Names(InputTest):
    def test_letters_of_any_script(self) -> None:
        for name in ("d\u00e4 ta.npy", "\u4e2d.npy", "\U0001f600.npy"):
            (self.directory / "data.npy").rename(self.directory / name)
            self.assertEqual(self.succeed("scatter-nd", name, *CALL[2:], "-o", name), "")
            self.assertEqual(self.read(name), Array(F4, (3,), [1, 9, 3]))
            self.succeed("scatter-nd", name, *CALL[2:], "--in-place", "--reduction", "add")
            self.assertEqual(self.read(name), Array(F4, (3,), [1, 18, 3]))
            self.save("data.npy", self.data)
            done = self.execute("scatter-nd", f"no {name}", *CALL[2:])
            self.assertIn(f"cannot read 'no {name}': ", done.stderr.decode())


class InPlace(InputTest):
    def test_the_file_changes(self) -> None:
        for fortran_order in (False, True):
            data = Array(I4, (2, 3), [1, 2, 3, 4, 5, 6], fortran_order)
            self.save("data.npy", data)
            self.save("indices.npy", Array(I8, (2, 2), [0, 1, 1, 2]))
            self.save("updates.npy", Array(I4, (2,), [10, 20]))
            before = (self.directory / "data.npy").stat()
            printed = self.succeed(*CALL, "--in-place", "--reduction", "add")
            self.assertEqual(printed, "")
            self.assertEqual((self.directory / "data.npy").stat().st_ino, before.st_ino)
            content = (self.directory / "data.npy").read_bytes()
            expected = Array(I4, (2, 3), [1, 12, 3, 4, 5, 26], fortran_order)
            self.assertEqual(content, npy.encode(expected))

    def test_explained_once(self) -> None:
        done = self.execute(*CALL, "--in-place", "--explain", "--reduction", "add")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"strew: ", done.stderr)
        self.assertEqual(
            (self.directory / "data.npy").read_bytes(), npy.encode(Array(F4, (3,), [1, 11, 3]))
        )

    def test_a_call_that_fails_changes_nothing(self) -> None:
        self.save("indices.npy", Array(I8, (2, 1), [1, 7]))
        self.save("updates.npy", Array(F4, (2,), [9, 9]))
        content = (self.directory / "data.npy").read_bytes()
        self.assertIn("indices[1,0] = 7", self.fail_with(*CALL, "--in-place"))
        self.assertEqual((self.directory / "data.npy").read_bytes(), content)

    def test_what_cannot_be_changed(self) -> None:
        self.save("data.npy", Array(npy.swapped(F4), (3,), [1, 2, 3]))
        self.assertIn("byte order", self.fail_with(*CALL, "--in-place"))
        self.save("data.npy", self.data)
        (self.directory / "data.npy").chmod(0o444)
        if os.geteuid() != 0:
            self.assertIn("Permission denied", self.fail_with(*CALL, "--in-place"))
        sentence = self.fail_with("scatter-nd", "-", *CALL[2:], "--in-place", input=b"")
        self.assertIn("cannot change '-' in place", sentence)
        for option in (["-o", "out.npy"], ["--repeat", "2"]):
            self.assertIn("excludes", self.misuse(*CALL, "--in-place", *option))

    def test_misaligned(self) -> None:
        text = npy.header(F4, (3,)) + " "
        while (10 + len(text) + 1) % 4 == 0:
            text += " "
        (self.directory / "data.npy").write_bytes(npy.file_with_header(text, bytes(12)))
        self.assertIn("which is not a multiple of 4", self.fail_with(*CALL, "--in-place"))


if __name__ == "__main__":
    unittest.main()
