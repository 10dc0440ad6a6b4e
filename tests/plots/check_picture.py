#!/usr/bin/env python3
"""Whether pictures are what they should be; exit status 1 and a line for each that is not.

Usage: check_picture.py FILE.svg TEXT...   well-formed, and holds every TEXT
       check_picture.py FILE.png           can be read, and some of it is no background
"""

import struct
import sys
import xml.etree.ElementTree as tree
import zlib


def svg_problems(path, texts):
    root = tree.parse(path).getroot()
    found = "\n".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))
    return [f"no text {text!r}" for text in texts if text not in found]


def png_problems(path):
    data = open(path, "rb").read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return ["not a PNG"]
    pixels, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            pixels += data[at + 8:at + 8 + length]
        at += length + 12
    values = set(zlib.decompress(pixels))
    return [] if len(values) > 20 else [f"only {len(values)} different bytes: blank"]


def main():
    path, texts = sys.argv[1], sys.argv[2:]
    problems = svg_problems(path, texts) if path.endswith(".svg") else png_problems(path)
    for problem in problems:
        print(f"{path}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
