#!/usr/bin/env python3
"""Fails when a picture of `make show` is broken or blank.

    picture.py FILE...         PNG files are decoded and looked at; of GIF files, the frames are counted
"""
import struct
import sys
import zlib


def rows_of(data):
    """Returns the rows of an 8-bit RGB PNG file whose rows are all filtered by the one above, as `show` writes them."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG file"
    parts, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], f"{kind}: checksum"
        parts[kind] = parts.get(kind, b"") + body
        at += 12 + size
    width, height, depth, color = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert (depth, color) == (8, 2) and b"IEND" in parts, "not 8-bit RGB, or cut off"
    packed, above, rows = zlib.decompress(parts[b"IDAT"]), bytes(3 * width), []
    for y in range(height):
        line = packed[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        assert line[0] == 2, "an unexpected filter"
        above = bytes((a + b) & 255 for a, b in zip(line[1:], above))
        rows.append(above)
    return rows


def look_at_png(data):
    rows = rows_of(data)
    pixels = [row[i:i + 3] for row in rows for i in range(0, len(row), 3)]
    blue = sum(1 for p in pixels if p[2] > 90 and p[2] > p[0])
    orange = sum(1 for p in pixels if p[0] > 90 and p[0] > p[2])
    assert len(set(pixels)) > 50, "hardly any colours"
    assert min(blue, orange) > len(pixels) // 200, f"an army is missing: {blue} blue, {orange} orange pixels"
    return f"{len(rows[0]) // 3} x {len(rows)}, {len(set(pixels))} colours"


def look_at_gif(data):
    assert data[:6] == b"GIF89a" and data[-1:] == b";", "not a whole GIF file"
    width, height = struct.unpack("<HH", data[6:10])
    at, frames = 13 + 3 * 256, 0
    while data[at:at + 1] != b";":
        if data[at] == 0x2C:
            frames += 1
            at += 11
        else:
            at += 2
        while data[at]:
            at += data[at] + 1
        at += 1
    assert frames > 1, "not animated"
    return f"{width} x {height}, {frames} frames"


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        content = file.read()
    try:
        print(f"{path}: {(look_at_gif if path.endswith('.gif') else look_at_png)(content)}")
    except AssertionError as error:
        sys.exit(f"{path}: {error}")
