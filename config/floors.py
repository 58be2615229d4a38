#!/usr/bin/env python3
"""
Prints whoever breaks the plan: a file of src includes its own folder and the floors below, no two files include each other, no static function has the name
of one of another file, no line of a program has more than 160 columns, and the name of each kernel begins with Polder: compute-sanitizer looks at those alone.
"""
import os, re, sys

FLOORS = ["kernels", "core", "mat", "coarse", "deflation", "cg", "rows", "type", "top"]  # from the ground up


def floor(path):
    """The floor of a file under src"""
    parts = path.split("/")
    return "top" if len(parts) == 1 else "type" if parts[0] in ("ksp", "pc") else parts[0]


def longlines(root):
    """The lines of more than 160 columns in programs and scripts"""
    for folder in ("src", "include", "cuda", "tests", "examples", "bench", "config"):
        for d, _, fs in os.walk(os.path.join(root, folder)):
            for f in (os.path.join(d, f) for f in fs if f.endswith((".c", ".h", ".cu", ".cuh", ".sh", ".py")) or f == "run"):
                with open(f, encoding="utf-8") as lines:
                    yield from (f"{os.path.relpath(f, root)}:{n} has more than 160 columns" for n, line in enumerate(lines, 1) if len(line) > 161)


def kernels(root):
    """The kernels of the library and the examples with other names"""
    for folder in ("cuda", "examples/waves"):
        for f in sorted(os.listdir(os.path.join(root, folder))):
            if f.endswith((".cu", ".cuh")):
                text = re.sub(r"__launch_bounds__\((?:[^()]|\([^()]*\))*\)", "", open(os.path.join(root, folder, f), encoding="utf-8").read())
                for name in re.findall(r"__global__\s+(?:void\s+)?(\w+)\(", text):
                    if not name.startswith("Polder"):
                        yield f"{folder}/{f}: the name of kernel {name} does not begin with Polder"


def main():
    root = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
    files = {os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs if f.endswith((".c", ".h"))}
    includes, statics, broken = {}, {}, [*longlines(os.path.dirname(root)), *kernels(os.path.dirname(root))]
    for name in sorted(files):
        folder = os.path.dirname(name)
        text = open(os.path.join(root, name), encoding="utf-8").read()
        for function in set(re.findall(r"^static [^=;({]*?\b(\w+)\(", text, re.M)) - {"LEVEL_NAME", "ILU_NAME", "TRI_NAME", "__attribute__"}:
            if name.endswith(".c"):
                statics.setdefault(function, []).append(name)
        for other in re.findall(r'^ *# *include "([^"]+)"', text, re.M):
            target = next((t for t in (os.path.normpath(os.path.join(folder, other)), other) if t in files), None)
            if not target:
                continue
            includes.setdefault(name, set()).add(target)
            if os.path.dirname(target) == folder:
                continue
            if FLOORS.index(floor(target)) >= FLOORS.index(floor(name)):
                broken.append(f"{name} includes {target}, which is not on a floor below")
    broken += [f"{function}() is static in {' and '.join(names)}" for function, names in statics.items() if len(names) > 1]
    broken += [f"{a} and {b} include each other" for a in includes for b in includes[a] if a < b and a in includes.get(b, ())]
    print("\n".join(broken) if broken else f"{len(files)} files keep to their floors")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
