"""Reads the files of a ParaView series and tells what is in them: grid, corner, smallest and largest number of each field"""
import re, struct, sys

for step, name in re.findall(r'timestep="(.*?)" file="(.*?)"', open(sys.argv[1]).read()):
    data = open(name, "rb").read()
    head, raw = data[:data.index(b"<AppendedData")].decode(), data[data.index(b"_", data.index(b"<AppendedData")) + 1:]
    size = "Q" if 'header_type="UInt64"' in head else "I"
    fields = {}
    for kind, field, offset in re.findall(r'<DataArray type="(\w+)" Name="([\w.]+)".*?offset="(\d+)"', head):
        (length,) = struct.unpack_from("<" + size, raw, int(offset))
        format = "d" if kind == "Float64" else "f"
        fields.setdefault(field, []).extend(struct.unpack_from(f"<{length // struct.calcsize(format)}{format}", raw, int(offset) + struct.calcsize(size)))
    extent = re.search('WholeExtent=.(.*?)[^0-9 ]', head).group(1)
    print(f"{float(step):g} s: extent {extent}", *(f"{field} {min(v):.5g} to {max(v):.5g}" for field, v in fields.items()), sep=", ")
