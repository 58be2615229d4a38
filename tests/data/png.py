"""Decodes the pictures named and tells what is in them"""
import struct, sys, zlib

for name in sys.argv[1:]:
    data, position, stream, types = open(name, "rb").read(), 8, b"", []
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "signature"
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body, crc = data[position + 8:position + 8 + length], data[position + 8 + length:position + 12 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", crc)[0], "check sum"
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        stream += body if kind == b"IDAT" else b""
        types.append(kind)
        position += 12 + length
    rows = zlib.decompress(stream)
    assert types[-1] == b"IEND" and len(rows) == height * (3 * width + 1), "size"
    pixels = {rows[k:k + 3] for j in range(height) for k in range(j * (3 * width + 1) + 1, (j + 1) * (3 * width + 1), 3)}
    print(name, width, height, "ships" if bytes((168, 48, 48)) in pixels else "no ships", "waves" if len(pixels) > 40 else "calm")
