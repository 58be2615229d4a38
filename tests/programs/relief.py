"""The sea beds that examples/waves reads from NetCDF files, written here in the layouts of GEBCO and ETOPO. Heights are bilinear in longitude and
latitude, so that every file gives the same bed and the dry nodes can be counted.

/*TEST
   test:
     load: no
     requires: libnetcdf
TEST*/
"""
import os
import struct
import subprocess

TYPES = {"h": 3, "i": 4, "f": 5, "d": 6}  # NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE
WEST, EAST, SOUTH, NORTH, NX, NY = -3.0, 5.0, 50.0, 54.0, 41, 31


def text(name):
    return struct.pack(">i", len(name)) + name.encode() + b"\0" * (-len(name) % 4)


def netcdf(name, dims, variables):
    """Classic format: dims {name: length}, variables [(name, its dims, type, attributes, numbers)]"""
    names = list(dims)
    header = b"CDF\x01" + struct.pack(">3i", 0, 10, len(dims)) + b"".join(text(d) + struct.pack(">i", dims[d]) for d in names)
    header += struct.pack(">4i", 0, 0, 11, len(variables))
    heads, data = [], []
    for var, over, kind, attributes, numbers in variables:
        packed = struct.pack(f">{len(numbers)}{kind}", *numbers)
        data.append(packed + b"\0" * (-len(packed) % 4))
        head = text(var) + struct.pack(">i", len(over)) + b"".join(struct.pack(">i", names.index(d)) for d in over)
        head += struct.pack(">2i", 12 if attributes else 0, len(attributes))
        for key, values in attributes.items():
            values = values if isinstance(values, list) else [values]
            size = kind if key in ("_FillValue", "missing_value") else "d"
            value = struct.pack(f">{len(values)}{size}", *values)
            head += text(key) + struct.pack(">2i", TYPES[size], len(values)) + value + b"\0" * (-len(value) % 4)
        heads.append(head + struct.pack(">2i", TYPES[kind], len(data[-1])))
    begin = len(header) + sum(len(h) + 4 for h in heads)
    with open(name, "wb") as file:
        file.write(header)
        for head, values in zip(heads, data):
            file.write(head + struct.pack(">i", begin))
            begin += len(values)
        file.write(b"".join(data))


def height(lon, lat):
    lon = (lon + 180.0) % 360.0 - 180.0
    return -20.0 + 6.0 * lon + 3.0 * (lat - 52.0) + 1.5 * lon * (lat - 52.0)


def relief(name, lon, lat, kind="f", variable="elevation", attributes={}, pack=lambda z: z, names=("lat", "lon")):
    heights = [pack(height(x, y)) for y in lat for x in lon]
    netcdf(name, {names[0]: len(lat), names[1]: len(lon)}, [
        (names[0], names[:1], "d", {}, lat), (names[1], names[1:], "d", {}, lon), ("flag", (), "i", {}, [7]), (variable, names, kind, attributes, heights)])


def steps(first, last, n):
    return [first + (last - first) * k / (n - 1) for k in range(n)]


def run(title, file, *more, window=(WEST, EAST, SOUTH, NORTH), ranks=1):
    command = (["mpiexec", "-n", str(ranks)] if ranks > 1 else []) + [os.environ["POLDER_BUILD"] + "/examples/waves", "-waves_relief", file]
    command += ["-waves_window", ",".join(map(str, window)), "-waves_n", f"{NX},{NY}", "-waves_lengths", "4000,3000",
                "-waves_frames", "100", "-waves_start", "hump"]
    command += "-waves_dt 0.5 -waves_check_dry -waves_checksum -pc_type jacobi -ksp_rtol 1e-10 -malloc_dump".split() + list(more)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [line for line in done.stdout.splitlines() if "checksum" in line or "dry" in line]
    if done.returncode:
        lines = [line.split("PETSC ERROR: ")[1] for line in done.stdout.splitlines() if "[0]PETSC ERROR: " in line][2:3]
    print(f"{title}:", *lines, sep="\n  ")


dry = sum(-height(x, y) < 0.5 for y in steps(SOUTH, NORTH, NY) for x in steps(WEST, EAST, NX))
print(f"{dry} of {NX * NY} nodes are dry")
relief("rising.nc", steps(-10, 15, 26), steps(40, 60, 21))
relief("falling.nc", steps(-9.5, 14.5, 49), steps(59, 41, 37), "d", "z", names=("y", "x"))
relief("round.nc", steps(0, 358, 180), steps(-90, 90, 91), "f", "ROSE", names=("ETOPO_Y", "ETOPO_X"))
relief("overlap.nc", steps(20, 381, 362), steps(-89.5, 89.5, 180))
relief("packed.nc", steps(-10, 15, 26), steps(40, 60, 21), "h", attributes={"scale_factor": 0.5, "add_offset": -100.0, "_FillValue": -32768},
       pack=lambda z: round((z + 100.0) * 2.0))
relief("holes.nc", steps(-10, 15, 26), steps(40, 60, 21), "f", attributes={"missing_value": -1e34}, pack=lambda z: z if z < 0.0 else -1e34)
relief("nan.nc", steps(-10, 15, 26), steps(40, 60, 21), "f", pack=lambda z: z if z < 0.0 else float("nan"))
NONE = [-1e34, -2e34, -3e34]
relief("several.nc", steps(-10, 15, 26), steps(40, 60, 21), "f", attributes={"missing_value": NONE, "scale_factor": [1.0] * 9},
       pack=lambda z: z if z < 0.0 else NONE[int(z) % 3])
relief("many.nc", steps(-10, 15, 26), steps(40, 60, 21), "f", attributes={"missing_value": [-1e34] * 5000})
relief("nowhere.nc", steps(-10, 15, 26), [40.0, float("nan")] + steps(42, 60, 19))
relief("far.nc", [1e300, 1.1e300, 1.2e300], steps(40, 60, 21))
netcdf("flat.nc", {"lat": 4, "lon": 5}, [("lat", ("lat",), "d", {}, steps(50, 54, 4)), ("depth", ("lat", "lon"), "f", {}, [3.0] * 20)])
relief("swapped.nc", steps(40, 60, 21), steps(-110, 15, 26))
with open("empty.nc", "w") as file:
    file.write("no NetCDF\n")

run("rows to the north", "rising.nc")
run("on two processes", "rising.nc", ranks=2)
run("rows to the south", "falling.nc")
run("around the earth, the window on both sides of its seam", "round.nc")
run("a round and more, window by another number", "overlap.nc", window=(WEST + 360.0, EAST + 360.0, SOUTH, NORTH))
run("packed numbers", "packed.nc")
run("holes are land", "holes.nc")
run("not a number is land", "nan.nc")
run("holes of three kinds", "several.nc")
run("holes of too many kinds", "many.nc")
run("by its name", "falling.nc", "-waves_relief_variable", "z")
run("no file", "atlantis.nc")
run("no NetCDF file", "empty.nc")
run("no coordinates", "flat.nc")
run("no such variable", "rising.nc", "-waves_relief_variable", "depth")
run("a variable of another kind", "rising.nc", "-waves_relief_variable", "flag")
run("rows that are no latitudes", "swapped.nc")
run("coordinates that are not numbers", "nowhere.nc")
run("coordinates beyond all bounds", "far.nc")
run("too far to the north", "rising.nc", window=(WEST, EAST, 55.0, 61.0))
run("too far to the east", "rising.nc", window=(10.0, 16.0, SOUTH, NORTH))
run("an empty window", "rising.nc", window=(WEST, WEST, SOUTH, NORTH))
