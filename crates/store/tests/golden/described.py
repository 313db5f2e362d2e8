"""Computes the golden files with metadata from the golden bundle without it, from the documented layout alone.

    python3 -m venv v && v/bin/pip install blake3 && v/bin/python described.py ../../../../artifacts/golden
"""
import struct
import sys
from pathlib import Path

from blake3 import blake3


def derive(context, data):
    return blake3(data, derive_key_context=context).digest()


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return u32(len(data)) + data


def items(values):
    return u32(len(values)) + b"".join(values)


def option(value):
    return b"\0" if value is None else b"\1" + text(value)


def metadata(kinds):
    return items([u32(number) + text(content) for number, content in sorted(kinds.items())])


entry = metadata({
    1: text("Scores days"),
    2: items([text("x") + items([text("day")]) + text("samples")]),
    4: items([text("x") + option("out") + b"\0" + text("f64") + items([u64(2)]) + text(struct.pack("<dd", 0.5, -0.0))]),
    4000: b"of a later version",
})
port = [text("x") + text("f64[?]")], [text("y") + text("f64[?]")]
step = b"\0" + text("golden") + items([option("x")]) + items([text("value.0")]) + text("")
plan = items(port[0]) + items(port[1]) + items([]) + items([step]) + items([option("value.0")])
of_bundle = metadata({6: items([text("pymc.coords") + text('{"day":[1,2]}')])})
subjects = {
    derive("precast v1 content", name.encode()): text(name) + stated
    for name, stated in (("", of_bundle), ("function", metadata({5: plan})), ("golden", entry))
}

folder = Path(sys.argv[1])
old = (folder / "bundle-v3.precast").read_bytes()
generator = old[96 : 96 + struct.unpack_from("<I", old, 24)[0]]
listed = [struct.unpack_from("<IIQQ", old, 96 + len(generator) + 24 * at) for at in range(9)]
parts = {kind: old[offset : offset + length] for kind, _, offset, length in listed}
program, declared = parts[8], parts[9]
(folder / "entry-v3.bin").write_bytes(program[:3] + u32(3) + program[7:] + declared + entry)

length = 4 + sum(48 + len(subject) for subject in subjects.values())
pages = [(parts[2], 40 * 64), (parts[3], 144 * 16), (parts[4], 96 * 32), (program + bytes(length), 8192)]
count = sum(-(-len(part) // page) for part, page in pages)
# Everything after the page hashes moves by the entry in the list of sections and by new page hashes.
moved = 24 + 32 * count - len(parts[1])


def shifted(row, places):
    row = bytearray(row)
    for at in places:
        behind = struct.unpack_from("<Q", row, at)[0] >= listed[8][2]
        struct.pack_into("<Q", row, at, struct.unpack_from("<Q", row, at)[0] + moved + (length if behind else 0))
    return bytes(row)


parts[3] = b"".join(shifted(parts[3][at : at + 144], (32, 48, 96)) for at in range(0, len(parts[3]), 144))
parts[4] = b"".join(shifted(parts[4][at : at + 96], (32, 48)) for at in range(0, len(parts[4]), 96))
place = listed[7][2] + moved + len(program)
at, rows = place + 4 + 48 * len(subjects), b""
for name, subject in sorted(subjects.items()):
    rows += name + u64(at) + u64(len(subject))
    at += len(subject)
section = u32(len(subjects)) + rows + b"".join(subject for _, subject in sorted(subjects.items()))
parts[8] += section
pages = [(parts[2], 40 * 64), (parts[3], 144 * 16), (parts[4], 96 * 32), (parts[8], 8192)]
hashes = b"".join(derive("precast v1 bundle", part[at : at + page]) for part, page in pages for at in range(0, len(part), page))
parts[1] = hashes
at, sections = 96 + len(generator) + 24 * 10, b""
for kind in range(1, 10):
    sections += struct.pack("<IIQQ", kind, 0, at, len(parts[kind]))
    at += len(parts[kind])
sections += struct.pack("<IIQQ", 10, 1, place, len(section))
start = b"precastb" + u32(4) + u32(3) + u64(at) + u32(len(generator)) + u32(10)
rest = derive("precast v1 bundle", hashes) + generator + sections
head = start + derive("precast v1 bundle", start + rest) + rest
(folder / "bundle-v4.precast").write_bytes(head + b"".join(parts[kind] for kind in range(1, 10)))
