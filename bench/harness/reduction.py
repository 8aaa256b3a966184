# SPDX-License-Identifier: Apache-2.0
"""A reduction and its options, as "add|exclude_self|wide" names them."""

from __future__ import annotations

from typing import NamedTuple

EXCLUDE_SELF, WIDE = "exclude_self", "wide"


class Reduction(NamedTuple):
    """`exclude_self` starts from the first update instead of the old value; `wide` rounds once."""

    name: str
    without_old: bool
    wide: bool

    @classmethod
    def of(cls, words: str) -> Reduction:
        name, *options = words.split("|")
        unknown = set(options) - {EXCLUDE_SELF, WIDE}
        if unknown:
            raise ValueError(f"no reduction has the option {unknown.pop()!r}")
        return cls(name, EXCLUDE_SELF in options, WIDE in options)

    @property
    def narrow(self) -> str:
        """The name without "wide": no peer has such an option, and some always round once."""
        return f"{self.name}|{EXCLUDE_SELF}" if self.without_old else self.name
