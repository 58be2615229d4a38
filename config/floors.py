#!/usr/bin/env python3
"""Prints whoever breaks the plan of src: a file includes its own folder and the floors below, and nobody includes the impl header of another type."""
import os, re, subprocess, sys

FLOORS = ["kernels", "core", "mat", "coarse", "deflation", "cg", "rows", "type", "top"]  # from the ground up


def floor(path):
    """The floor of a file under src"""
    parts = path.split("/")
    return "top" if len(parts) == 1 else "type" if parts[0] in ("ksp", "pc") else parts[0]


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
    files = {os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs if f.endswith((".c", ".h"))}
    includes, broken = {}, []
    for name in sorted(files):
        folder = os.path.dirname(name)
        text = open(os.path.join(root, name), encoding="utf-8").read()
        for other in re.findall(r'^ *# *include "([^"]+)"', text, re.M):
            target = next((t for t in (os.path.normpath(os.path.join(folder, other)), other) if t in files), None)
            if not target:
                continue
            includes.setdefault(name, set()).add(target)
            if os.path.dirname(target) == folder:
                continue
            if FLOORS.index(floor(target)) >= FLOORS.index(floor(name)):
                broken.append(f"{name} includes {target}, which is not on a floor below")
    broken += [f"{a} and {b} include each other" for a in includes for b in includes[a] if a < b and a in includes.get(b, ())]
    print("\n".join(broken) if broken else f"{len(files)} files keep to their floors")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
