"""Computes the golden keys of `tests/it/keys.rs` with the `blake3` package from PyPI, from only the documented layout.

    python3 -m venv v && v/bin/pip install blake3 && v/bin/python vectors.py
"""
from blake3 import blake3


def num(tag, value):
    return bytes([tag]) + value.to_bytes(8, "little")


def text(value):
    data = value.encode()
    return num(1, len(data)) + data


def raw(value):
    return num(2, len(value)) + value


def items(values, one):
    return num(5, len(values)) + b"".join(one(v) for v in values)


def derive(context, data):
    return blake3(data, derive_key_context=context)


def content(value):
    return derive("precast v1 content", value.encode()).digest()


build = (
    num(3, 1) + text("native") + text("release") + text("c") + raw(content("int x; @M@"))
    + num(5, 1) + text("precast/tensor.h") + raw(content("struct pc_tensor;\n"))
    + items(["-ffp-contract=off"], text) + items(["m"], text)
)
action = (
    num(3, 2) + text("compile") + items([b"\1" * 32, b"\2" * 32], raw) + text("x86_64-unknown-linux-gnu") + text("x86-64-v3")
    + items(["-O3", "-fPIC"], text) + items([b"\3" * 32], raw) + num(5, 1) + text("m") + raw(b"\4" * 32)
)
primitives = text("é") + raw(b"\0\xff") + num(3, 1 << 63) + b"\4\1" + num(5, 2)
print("BUILD_KEY ", derive("precast v1 build key", build).hexdigest())
print("ACTION_KEY", derive("precast v1 action key", action).hexdigest())
print("PRIMITIVES", derive("precast v1 test", primitives).hexdigest())
