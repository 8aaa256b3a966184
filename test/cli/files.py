# SPDX-License-Identifier: Apache-2.0
"""Files that the command reads, files that it refuses, and how it writes."""

import ast
import os
import random
import signal
import stat
import struct
import threading
import unittest
from pathlib import Path

import npy
from command import CommandTest
from npy import NATIVE, Array

F4 = NATIVE + "f4"
I8 = NATIVE + "i8"
CALL = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]
RESULT = Array(F4, (3,), [1, 9, 3])


class FileTest(CommandTest):
    """Files for CALL, which gives RESULT."""

    def setUp(self) -> None:
        super().setUp()
        self.data = Array(F4, (3,), [1, 2, 3])
        self.save("data.npy", self.data)
        self.save("indices.npy", Array(I8, (1, 1), [1]))
        self.save("updates.npy", Array(F4, (1,), [9]))

    def put_data(self, content: bytes) -> None:
        (self.directory / "data.npy").write_bytes(content)


class Reading(FileTest):
    def test_versions(self) -> None:
        for major in (1, 2, 3):
            self.save("data.npy", self.data, major)
            self.assertEqual(self.result(*CALL), RESULT)

    def test_headers_of_other_writers(self) -> None:
        elements = npy.encode(self.data)[-12:]
        for text in (
            f"{{'shape': (3,), 'fortran_order': True, 'descr': '{F4}', }}",
            f'{{"descr":"{F4}","fortran_order":False,"shape":(3)}}',
            "{'descr': 'f4', 'fortran_order': False, 'shape': (3L,), }",
            f" {{ 'descr' : '{F4}' ,\n'fortran_order' : False , 'shape' : ( 3 , ) , }}   \n\n",
        ):
            with self.subTest(text=text):
                self.put_data(npy.file_with_header(text, elements))
                self.assertEqual(self.result(*CALL), RESULT)

    def test_what_is_no_readable_file(self) -> None:
        (self.directory / "data.npy").unlink()
        self.assertIn("cannot read 'data.npy': No such file", self.fail_with(*CALL))
        (self.directory / "data.npy").mkdir()
        self.assertIn("cannot read 'data.npy': Is a directory", self.fail_with(*CALL))
        (self.directory / "data.npy").rmdir()

    def test_streams(self) -> None:
        content = (self.directory / "data.npy").read_bytes()
        (self.directory / "data.npy").unlink()
        os.mkfifo(self.directory / "data.npy")
        for written in (content, content[:-1]):
            writer = threading.Thread(
                target=lambda: (self.directory / "data.npy").write_bytes(written)
            )
            writer.start()
            done = self.execute(*CALL)
            writer.join()
            self.assertEqual(done.returncode, 0 if written == content else 1)
        self.assertIn(b"cannot read 'data.npy': the file ends too early", done.stderr)

    def test_standard_streams(self) -> None:
        content = (self.directory / "data.npy").read_bytes()
        names = ["-" if word == "data.npy" else word for word in CALL]
        done = self.execute(*names, "-o", "-", input=content)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        (self.directory / "stdout.npy").write_bytes(done.stdout)
        self.assertEqual(self.read("stdout.npy"), RESULT)
        self.assertIn("--output: needs the name", self.misuse(*CALL, "-o", ""))
        twice = self.fail_with("scatter-nd", "-", "-", "updates.npy")
        self.assertIn("only one operand can be -", twice)

    def test_the_sentence_names_the_operand(self) -> None:
        for operand in ("indices.npy", "updates.npy"):
            content = (self.directory / operand).read_bytes()
            (self.directory / operand).write_bytes(content[:-1])
            self.assertIn(f"cannot read '{operand}': ", self.fail_with(*CALL))
            (self.directory / operand).write_bytes(content)


class Malformed(FileTest):
    def refuse(self, content: bytes, reason: str) -> None:
        with self.subTest(reason=reason, start=content[:100]):
            self.put_data(content)
            self.assertRegex(self.fail_with(*CALL), rf"cannot read 'data\.npy': .*{reason}")

    def refuse_header(self, text: str, reason: str, elements: bytes = bytes(12)) -> None:
        self.refuse(npy.file_with_header(text, elements), reason)

    def test_magic_and_version(self) -> None:
        content = npy.encode(self.data)
        self.refuse(b"", "not a .npy file|too early")
        self.refuse(b"\x93NUMP", "not a .npy file")
        self.refuse(b"\x93NUMPX" + content[6:], "not a .npy file")
        self.refuse(b"PK\3\4" + bytes(100), "not a .npy file")
        for version in (b"\0\0", b"\4\0", b"\1\1", b"\xff\0"):
            name = rf"version {version[0]}\.{version[1]} "
            self.refuse(content[:6] + version + content[8:], name)

    def test_every_truncation(self) -> None:
        for major in (1, 2):
            content = npy.encode(self.data, major)
            for length in range(len(content)):
                self.refuse(content[:length], "")

    def test_sizes(self) -> None:
        content = npy.encode(self.data)
        self.refuse(content[:-1], "promises 12 bytes of elements, the file has 11")
        self.refuse(content + b"\0", "promises 12 bytes of elements, the file has 13")
        self.refuse(content + content, "promises 12 bytes of elements, the file has")
        self.refuse_header(npy.header(F4, ()), "promises 4 ")
        self.refuse_header(npy.header(F4, (2**40,)), f"promises {2**42} ")
        self.refuse_header(npy.header(F4, (3, 0)), "promises 0 ")

    def test_lengths_of_the_header(self) -> None:
        magic = b"\x93NUMPY"
        body = npy.encode(self.data)[10:]
        self.refuse(magic + b"\1\0" + struct.pack("<H", 65535) + body, "too early")
        self.refuse(magic + b"\2\0" + struct.pack("<I", 65537) + body, "more than 65536 bytes")
        self.refuse(magic + b"\2\0" + struct.pack("<I", 2**32 - 1) + body, "more than 65536 bytes")
        self.refuse(magic + b"\1\0" + struct.pack("<H", 0) + body, "malformed")

    def test_shapes(self) -> None:
        for shape in ((2**62, 4), (2**63 - 1,), (2**32, 2**32), (3, 2**63 - 1, 2**63 - 1)):
            self.refuse_header(npy.header(F4, shape), "too large")
        for shape in ((2**63,), (-1,), (-3, -1), (2**64 + 3,), (3.0,), ("3",), (True,)):
            self.refuse_header(npy.header(F4, shape), "shape|malformed")
        self.refuse_header(npy.header(F4, (1,) * 33), "more than 32 dims")
        self.refuse_header(npy.header(F4, (1,) * 20000), "more than 32 dims")
        self.refuse_header(npy.header(F4, [3]), "malformed")  # type: ignore[arg-type]
        self.refuse_header(npy.header(F4, 3), "malformed")  # type: ignore[arg-type]

    def test_dtypes(self) -> None:
        for fields, reason in (
            ([("x", "<i2"), ("y", "|O")], "Python objects"),
            (("<f4", (2,)), "malformed"),
            ([("x", "<f3")], "malformed"),
            ([("x",)], "malformed"),
            ([], "not of 1 to 4096 bytes"),
            ([("x", "<f8", (513,))], "not of 1 to 4096 bytes"),
            ([("x", "<f8", (2**40, 2**40))], "not of 1 to 4096 bytes"),
        ):
            text = repr({"descr": fields, "fortran_order": False, "shape": (3,)})
            self.refuse_header(text, reason)
        nested = "[('x', " * 40 + "'<f4'" + ")]" * 40
        self.refuse_header(f"{{'descr': {nested}, 'fortran_order': False, 'shape': (3,)}}", "within")
        self.refuse_header(npy.header("|O", (3,)), "Python objects")
        for descr in "<M8[ns <M4[s] <m8[] <f12 <f3 <i16 <b1x <f f |t1".split():
            self.refuse_header(npy.header(descr, (3,)), "dtype|malformed")
        # Quoted otherwise in a file that is written, this would end the text of the dtype.
        for unit in ("'", "a'b", "-", " s", ""):
            text = f"{{'descr': \"<M8[{unit}]\", 'fortran_order': False, 'shape': (3,)}}"
            self.refuse_header(text, "dtype")
        for size in (0, -1, 4097, 2**63, 2**64 + 4):
            for kind in ("|S", "|V", "<U"):
                self.refuse_header(npy.header(f"{kind}{size}", (3,)), "dtype")
        for descr in ("<U1025", ""):
            self.refuse_header(npy.header(descr, (3,)), "dtype")

    def test_dictionaries(self) -> None:
        good = npy.header(F4, (3,))
        for text in (
            "",
            "{}",
            good[1:],
            good[:-1],
            good + good,
            good + "\0",
            good + "#",
            good.replace("False", "0"),
            good.replace("False", "Falsey"),
            good.replace(", 'shape': (3,)", ""),
            good.replace("'shape'", "'descr'"),
            good.replace("'shape'", "'shapes'"),
            good.replace("}", ", 'shape': (3,)}"),
            good.replace("}", ", 'more': 1}"),
            good.replace("(3,)", "(3,"),
            good.replace("(3,)", "(3 4)"),
            good.replace("(3,)", "(,)"),
            good.replace("':", "'"),
            good.replace(",", ""),
            good.replace(F4, "\x1b[2J"),
            good.replace(F4, "<\N{GRINNING FACE}4"),
            "(" * 60000,
        ):
            self.refuse_header(text, "malformed|shape|structured")

    def test_random_damage(self) -> None:
        """Whatever the header has become: a result or one sentence, never a crash."""
        generator = random.Random(20)
        whole = npy.encode(self.data)
        for _ in range(300):
            content = bytearray(whole)
            for _ in range(generator.randint(1, 3)):
                content[generator.randrange(len(content) - 12)] = generator.randrange(256)
            self.put_data(bytes(content))
            done = self.execute(*CALL)
            with self.subTest(content=bytes(content)):
                self.assertIn(done.returncode, (0, 1))
                if done.returncode == 1:
                    self.assertRegex(done.stderr.decode(), r"\Astrew: [ -~]+\n\Z")


class Writing(FileTest):
    def only_files(self, *names: str) -> None:
        """Nothing temporary is left."""
        self.assertEqual(sorted(os.listdir(self.directory)), sorted((*names, *CALL[1:])))

    def test_round_trip(self) -> None:
        self.assertEqual(self.result(*CALL), RESULT)
        self.only_files("out.npy")
        again = self.result("scatter-nd", "out.npy", "indices.npy", "updates.npy")
        self.assertEqual(again, RESULT)

    def test_an_input_may_be_overwritten(self) -> None:
        for operand in CALL[1:]:
            with self.subTest(operand=operand):
                content = (self.directory / operand).read_bytes()
                self.assertEqual(self.succeed(*CALL, "-o", operand), "")
                self.assertEqual(self.read(operand), RESULT)
                (self.directory / operand).write_bytes(content)
        self.only_files()

    def test_a_failure_changes_nothing(self) -> None:
        self.save("indices.npy", Array(I8, (1, 1), [3]))
        before = (self.directory / "data.npy").read_bytes()
        self.assertIn("STREW_INDEX_OUT_OF_RANGE", self.fail_with(*CALL, "-o", "data.npy"))
        self.assertEqual((self.directory / "data.npy").read_bytes(), before)
        self.only_files()

    def test_a_disk_that_is_full_changes_nothing(self) -> None:
        import resource

        def limit_files() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        before = (self.directory / "data.npy").read_bytes()
        options = {"preexec_fn": limit_files, "restore_signals": False}
        message = self.fail_with(*CALL, "-o", "data.npy", **options)
        self.assertIn("cannot write 'data.npy': File too large", message)
        self.assertEqual((self.directory / "data.npy").read_bytes(), before)
        self.only_files()

    def test_places_that_cannot_be_written(self) -> None:
        self.assertIn("cannot write 'no/x': No such", self.fail_with(*CALL, "-o", "no/x"))
        self.assertIn("cannot write '.': Is a directory", self.fail_with(*CALL, "-o", "."))
        self.assertIn("cannot write 'data.npy/x': ", self.fail_with(*CALL, "-o", "data.npy/x"))
        self.only_files()

    def test_a_link_stays_a_link(self) -> None:
        (self.directory / "there").mkdir()
        target = self.directory / "there" / "target.npy"
        target.write_bytes(b"old")
        link = self.directory / "link.npy"
        link.symlink_to(Path("there") / "target.npy")
        self.assertEqual(self.succeed(*CALL, "-o", "link.npy"), "")
        self.assertTrue(link.is_symlink())
        self.assertEqual(npy.read(target), RESULT)
        self.assertEqual(os.listdir(self.directory / "there"), ["target.npy"])

    def test_long_headers_stay_whole(self) -> None:
        """Structures whose description has about as many bytes as it may have."""
        longest = 64512 - len(repr([("", "|V4")]))
        for name in (*range(longest - 100, longest + 1, 3), longest, longest + 1):
            fields = repr([("x" * name, "|V4")])
            for file, count in (("data.npy", 2), ("updates.npy", 1)):
                text = f"{{'descr':{fields},'fortran_order':False,'shape':({count})}}"
                content = npy.file_with_header(text, b"abcd" * count, 2)
                (self.directory / file).write_bytes(content)
            if name > longest:
                self.assertIn("described in more than 64512 bytes", self.fail_with(*CALL))
                continue
            self.assertEqual(self.succeed(*CALL, "-o", "out.npy"), "")
            written = (self.directory / "out.npy").read_bytes()
            self.assertEqual(written[6:8], b"\1\0")
            start = 10 + int.from_bytes(written[8:10], "little")
            self.assertEqual(start % 64, 0)
            self.assertEqual(written[start:], b"abcdabcd")
            self.assertEqual(ast.literal_eval(written[10:start].decode())["shape"], (2,))
            self.succeed("scatter-nd", "out.npy", *CALL[2:], "-o", "again.npy")
            self.assertEqual((self.directory / "again.npy").read_bytes(), written)

    def test_a_link_to_nothing_is_followed(self) -> None:
        (self.directory / "there").mkdir()
        link = self.directory / "link.npy"
        link.symlink_to(Path("there") / "target.npy")
        self.assertEqual(self.succeed(*CALL, "-o", "link.npy"), "")
        self.assertTrue(link.is_symlink())
        self.assertEqual(npy.read(self.directory / "there" / "target.npy"), RESULT)
        circle = self.directory / "circle.npy"
        circle.symlink_to("circle.npy")
        self.assertIn("cannot write 'circle.npy'", self.fail_with(*CALL, "-o", "circle.npy"))

    def test_permissions_stay(self) -> None:
        out = self.directory / "out.npy"
        out.write_bytes(b"old")
        out.chmod(0o640)
        self.assertEqual(self.result(*CALL), RESULT)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o640)

    @unittest.skipUnless(Path("/dev/stdout").exists(), "there is no /dev/stdout")
    def test_a_pipe_is_written_to_and_not_replaced(self) -> None:
        done = self.execute(*CALL, "-o", "/dev/stdout")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(npy.decode(done.stdout), RESULT)

    @unittest.skipUnless(Path("/dev/full").exists(), "there is no /dev/full")
    def test_a_device_that_is_full(self) -> None:
        message = self.fail_with(*CALL, "-o", "/dev/full")
        self.assertIn("cannot write '/dev/full': No space", message)
        for words in (CALL, ("--help",), ("bench", "--help"), ("--version",)):
            with open("/dev/full", "wb") as full:
                done = self.execute(*words, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"strew: cannot write to standard output: No space", done.stderr)


if __name__ == "__main__":
    unittest.main()
