"""Compares pictures of a page with those of an earlier one, coarsely.

A picture is made small: a cell stands for 20 by 20 pixels, and has their light from 0 to 255. So another date or identity changes less than 1 % of the
cells, and another view more than 10 %. `pictures.csv` has the expected cells, and names the browser and the font that drew them: those of others are not
compared, since each text is elsewhere then.
"""
import base64
import csv
import os
import struct
import zlib

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures.csv")
# A cell differs if its light is further away than this.
LIGHT_MAX = 12
# The part of the cells that may differ.
PART_MAX = 0.05


def light(png):
    """The width of a picture, and the light of its pixels row by row. Chromium writes eight bits a channel without interlacing."""
    place, content = 8, b""
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place:place + 8])
        part = png[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, height, _, color = struct.unpack(">IIBB", part[:10])
        elif kind == b"IDAT":
            content += part
        place += 12 + length
    channels = {2: 3, 6: 4}[color]
    lines, stride, above, cells = zlib.decompress(content), width * channels, bytearray(width * channels), bytearray()
    for number in range(height):
        start = number * (stride + 1)
        kind, line = lines[start], bytearray(lines[start + 1:start + 1 + stride])
        for at in range(stride):
            left, up, corner = (line[at - channels], above[at], above[at - channels]) if at >= channels else (0, above[at], 0)
            line[at] = (line[at] + (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]) & 255
        above = line
        cells += bytes((299 * line[at] + 587 * line[at + 1] + 114 * line[at + 2]) // 1000 for at in range(0, stride, channels))
    return width, bytes(cells)


def paeth(left, up, corner):
    """Source: PNG, https://www.w3.org/TR/png-3/#9Filter-type-4-Paeth"""
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


def expected():
    """What drew the pictures, and the cells by name."""
    with open(FILE, encoding="utf-8") as file:
        _, drawn, *rows = csv.reader(file)
    return drawn[2], {name: (int(width), zlib.decompress(base64.b64decode(cells))) for name, width, cells in rows}


def write(drawn, pictures):
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(f"picture,cells a row,light of each cell (zlib in base64)\ndrawn by,,{drawn}\n")
        for name, (width, cells) in sorted(pictures.items()):
            file.write(f"{name},{width},{base64.b64encode(zlib.compress(cells, 9)).decode()}\n")


def difference(known, found):
    """What is wrong with a picture; None if it is as expected."""
    if known is None or found is None:
        return "is not among the expected ones" if known is None else "is missing"
    if known[0] != found[0] or len(known[1]) != len(found[1]):
        return "has another size"
    apart = [abs(a - b) for a, b in zip(known[1], found[1])]
    part = sum(each > LIGHT_MAX for each in apart) / len(apart)
    return f"differs in {part:.1%} of its cells" if part > PART_MAX else None
