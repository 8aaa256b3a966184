# SPDX-License-Identifier: Apache-2.0
"""The page of the Python package, from its sources and from the stub of its extension."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path

from reference import Undocumented, block

MODULES = ("strew", "strew.torch", "strew.jax", "strew.onnxruntime", "strew.openvino", "strew.sharding")

Definition = ast.FunctionDef | ast.ClassDef


class Package:
    """The package in `folder`, as it is built. Only strew itself is imported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = lru_cache(self._tree)

    def page(self) -> str:
        contents = "".join(map(self._contents, MODULES))
        return "\n".join([f"<nav>{contents}</nav>", *map(self._module, MODULES)])

    def _tree(self, module: str) -> ast.Module:
        path = self.folder.joinpath(*module.split("."))
        names = (path / "__init__.py", path.with_suffix(".py"), path.with_suffix(".pyi"))
        return ast.parse(next(name for name in names if name.exists()).read_text())

    def _names(self, module: str) -> list[str]:
        for node in self.tree(module).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return [name for name in ast.literal_eval(node.value) if name[0] != "_"]
        raise AssertionError(f"{module} has no __all__")

    def _definition(self, module: str, name: str) -> Definition | None:
        """None for what is made when the module is imported."""
        for node in self.tree(module).body:
            if isinstance(node, Definition) and node.name == name:
                return node
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        return self._definition(node.module, alias.name)
        return None

    def _contents(self, module: str) -> str:
        links = [f'<a href="#{module}.{name}">{name}</a>' for name in self._names(module)]
        return f'<h2><a href="#{module}">{module}</a></h2><p>{" ".join(links)}</p>'

    def _module(self, module: str) -> str:
        text = described(module, ast.get_docstring(self.tree(module)))
        members = "\n".join(self._member(module, name) for name in self._names(module))
        return f'<h2 id="{module}">{module}</h2>{text}{members}'

    def _member(self, module: str, name: str) -> str:
        title, node = f"{module}.{name}", self._definition(module, name)
        if isinstance(node, ast.ClassDef):
            inner = class_of(title, node)
        elif node:
            inner = declaration(signature(node)) + described(title, ast.get_docstring(node))
        else:
            inner = self._made(module, name)
        return f'<section id="{title}"><h3>{title}</h3>{inner}</section>'

    def _made(self, module: str, name: str) -> str:
        sys.path.insert(0, str(self.folder))
        try:
            function = getattr(importlib.import_module(module), name)
        finally:
            sys.path.remove(str(self.folder))
        shown = f"{name}{inspect.signature(function)}"
        return declaration(shown) + described(name, inspect.getdoc(function))


def signature(node: ast.FunctionDef) -> str:
    parameters = ast.unparse(node.args)
    parameters = re.sub(r"^self(, )?", "", parameters)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({parameters}){result}"


def class_of(title: str, node: ast.ClassDef) -> str:
    parts = [described(title, ast.get_docstring(node))]
    for member in public_members(node):
        if member.name == "__init__":
            made = signature(member).replace("__init__", node.name, 1).removesuffix(" -> None")
            parts.insert(0, declaration(made))
            continue
        is_property = any(ast.unparse(mark) == "property" for mark in member.decorator_list)
        text = described(f"{title}.{member.name}", ast.get_docstring(member))
        shown = member.name if is_property else signature(member)
        parts.append(declaration(shown) + text)
    return "".join(parts)


def public_members(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        is_setter = any(ast.unparse(mark).endswith(".setter") for mark in member.decorator_list)
        if not is_setter and (member.name[0] != "_" or member.name == "__init__"):
            yield member


def declaration(text: str) -> str:
    return f'<p class="declaration"><code>{escape(text)}</code></p>'


def described(name: str, text: str | None) -> str:
    if not text:
        raise Undocumented(name)
    return "".join(map(paragraph, re.split(r"\n\s*\n", text.strip("\n"))))


def paragraph(text: str) -> str:
    if text.startswith(" ") or re.search(r"\S {3,}\S", text):
        return block(escape(text))
    return "<p>" + re.sub("`([^`]*)`", r"<code>\1</code>", escape(text)) + "</p>"
