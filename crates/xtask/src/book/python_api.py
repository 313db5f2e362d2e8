"""Prints the public names of the package in argv[1] as Markdown: signatures and docstrings, read from its sources."""

import ast
import inspect
import sys
from pathlib import Path

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign

#: The modules of the page.
MODULES = ("precast", "precast.pytensor", "precast.pymc", "precast.jax", "precast.torch", "precast.polars", "precast.duckdb")


def file(folder: Path, module: str) -> Path:
    """Returns the file of a module; a stub stands for a native one."""
    return next(path for path in (folder / f"{module}.py", folder / f"{module}.pyi", folder / module / "__init__.py") if path.exists())


def find(path: Path, name: str) -> tuple[Path, Definition] | None:
    """Returns the definition of a name in a module, or in the module that it imports it from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        is_value = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
        if is_value or isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return path, node
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module and any(alias.name == name for alias in node.names):
            return find(file(path.parent, node.module), name)
    return None


def public(path: Path) -> list[str]:
    """Returns the names in `__all__`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value), key=str.lower)
    raise SystemExit(f"{path} has no `__all__`")


def signature(node: ast.FunctionDef) -> str:
    """Returns the parameters and the result; long ones have a line for each parameter."""
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    text = f"{node.name}({ast.unparse(node.args)}){result}"
    if len(text) <= 88:
        return text
    depth, lines = 0, [""]
    for character in ast.unparse(node.args) + ",":
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            lines.append("")
        elif character != " " or lines[-1]:
            lines[-1] += character
    return f"{node.name}(\n" + "".join(f"    {line},\n" for line in lines if line) + f"){result}"


def members(path: Path, node: ast.ClassDef) -> dict[str, tuple[str, str]]:
    """Returns the documented public methods and properties of a class and of its bases in the package."""
    found: dict[str, tuple[str, str]] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and (definition := find(path, base.id)) and isinstance(definition[1], ast.ClassDef):
            found |= members(*definition)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and ast.get_docstring(each) and (not each.name.startswith("_") or each.name == "__call__"):
            is_property = any(ast.unparse(decorator) == "property" for decorator in each.decorator_list)
            arguments = [name.arg for name in [*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs] if name.arg != "self"]
            shown = each.name if is_property else f"{each.name}({', '.join(arguments)})"
            found[each.name] = shown, inspect.cleandoc(ast.get_docstring(each) or "").split("\n\n")[0].replace("\n", " ")
    return found


def comment(path: Path, node: ast.Assign) -> str:
    """Returns the lines with `#:` before an assignment."""
    above = path.read_text(encoding="utf-8").splitlines()[: node.lineno - 1]
    lines: list[str] = []
    while above and above[-1].startswith("#:"):
        lines.insert(0, above.pop().removeprefix("#:").strip())
    return " ".join(lines)


def show(path: Path, node: Definition) -> None:
    """Prints one name."""
    if isinstance(node, ast.Assign):
        print(f"\n### `{ast.unparse(node.targets[0])}`\n\n{comment(path, node)}")
        return
    print(f"\n### `{node.name}`\n")
    if isinstance(node, ast.FunctionDef):
        print(f"```python\n{signature(node)}\n```\n")
    else:
        bases = ", ".join(base.id for base in node.bases if isinstance(base, ast.Name) and not base.id.endswith("Methods"))
        print(f"```python\nclass {node.name}{f'({bases})' if bases else ''}\n```\n")
    print(ast.get_docstring(node) or "")
    if isinstance(node, ast.ClassDef) and (rows := members(path, node)):
        print("\n| member | |\n|---|---|")
        for shown, text in rows.values():
            print(f"| `{shown}` | {text.replace('|', chr(92) + '|')} |")


def main(package: Path) -> None:
    for title in MODULES:
        path = file(package.parent, title.replace(".", "/"))
        print(f"\n## `{title}`")
        for name in public(path):
            if definition := find(path, name):
                show(*definition)
            else:
                raise SystemExit(f"{path}: `{name}` is not defined")


main(Path(sys.argv[1]))
