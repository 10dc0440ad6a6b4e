#!/usr/bin/env python3
"""Fails on an #include that src/flopwise/layers.txt lacks, with the file and line of each.

Usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
OUTSIDE = ["cli", "python", "web"]  # top-level folders that have a row


def read_table(path):
    """{row name: set of what it may include}, in the order of the file."""
    table = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, rest = line.partition(":")
        unknown = [layer for layer in rest.split() if layer not in table]
        if not colon or name in table or unknown:
            sys.exit(f"{path}:{number}: expected 'layer: layers of rows above', got '{line}'")
        table[name] = set(rest.split())
    return table


def row_of(name, table):
    """The longest row name that `name` (a path in src/flopwise, or in the root) starts with."""
    rows = [row for row in table if name == row or name.startswith(row + "/")
            or ("/" in row and name.startswith(row))]
    return max(rows, key=len, default=None)


def problems_of(path, name, table):
    """`name`: the path as the table sees it, such as "cost/flops.cc" or "cli/main.cc"."""
    row = row_of(name, table)
    if row is None:
        yield 1, f"'{name}' belongs to no row of layers.txt"
        return
    own = name.split("/")[0]
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match[1]
        if not included.startswith("flopwise/"):
            # Inside the library every path starts at src/; a top-level folder also has its own.
            if own not in OUTSIDE or (included.startswith(tuple(f"{o}/" for o in OUTSIDE if o != own))):
                yield number, f'"{included}": write it as "flopwise/LAYER/FILE.h"'
            continue
        target = included.removeprefix("flopwise/")
        layer = target.split("/")[0]
        if layer not in table:
            yield number, f'"{included}": layers.txt has no layer \'{layer}\''
        elif layer != own and layer not in table[row]:
            allowed = " ".join(sorted(table[row])) or "nothing"
            yield number, f'"{included}": {row} may include {allowed}'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    library = root / "src" / "flopwise"
    table = read_table(library / "layers.txt")
    folders = [(library, library)] + [(root / outside, root) for outside in OUTSIDE]
    checked, failures = 0, 0
    for folder, base in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in {".h", ".cc"} or path.name.endswith("_test.cc"):
                continue
            checked += 1
            for number, problem in problems_of(path, path.relative_to(base).as_posix(), table):
                failures += 1
                print(f"{path.relative_to(root)}:{number}: {problem}")
    print(f"check_layers: {checked} files, {failures} forbidden includes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
