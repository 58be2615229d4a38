"""What readmat.c says of files that are damaged or of the wrong kind, each written here.

/*TEST
   test:
     load: no
     requires: !gpu
TEST*/
"""
import glob
import os
import re
import resource
import struct
import subprocess

BUILD = os.environ["POLDER_BUILD"]
BITS = 64 if any("#: USE_64BIT_INDICES" in open(mk).read() for mk in glob.glob(BUILD + "/*.mk")) else 32
MAT, VEC, IS = 1211216, 1211214, 1211218
N = 6
ROWS = [{j: 4.0 + i if i == j else -1.0 for j in range(max(0, i - 1), min(N, i + 2))} for i in range(N)]


def integers(numbers, bits=BITS):
    return struct.pack(f">{len(numbers)}{'q' if bits == 64 else 'i'}", *numbers)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def matrix(name, rows=ROWS, header=None, lengths=None, order=sorted, bits=BITS, more=b"", columns=None):
    """A matrix as MatView() writes it, or with another header, other row lengths, columns in another order"""
    nz = sum(map(len, rows))
    entries = [(j, row[j]) for row in rows for j in order(row)]
    write(name, integers(header or [MAT, len(rows), len(rows), nz], bits) + integers(lengths or [len(row) for row in rows], bits)
          + integers(columns or [j for j, _ in entries], bits) + struct.pack(f">{nz}d", *(v for _, v in entries)) + more)


def vector(name, numbers, n=None):
    write(name, integers([VEC, len(numbers) if n is None else n]) + struct.pack(f">{len(numbers)}d", *numbers))


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))


def place(words, integers):
    """The place in a file of as many integers and then doubles, as if integers had 32 bits: what is said of it is the same with 64"""
    if BITS == 32:
        return words
    short = lambda at: at // 2 if at < 8 * integers else at - 4 * integers
    return re.sub(r"(?<=byte )\d+|(?<=its )\d+(?= bytes)", lambda m: str(short(int(m.group(0)))), words)


def read(title, *options, ranks=1, A="good", integers=4 + N + 3 * N - 2):
    """What the program says, and its exit status if it is no error"""
    command = [BUILD + "/examples/readmat", "-A", A, "-timings", "false", *options] + ([] if "-solvers" in options else ["-solver", "1"])
    if ranks > 1:
        os.makedirs("ranks", exist_ok=True)
        command = ["mpiexec", "-n", str(ranks), os.environ["POLDER_TESTS"] + "/ranks.sh", os.path.abspath("ranks")] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
    output = open("ranks/0", "rb").read() if ranks > 1 else done.stdout
    output = output.decode(errors="replace")
    words = re.findall(r"(?m)^\[\d+\]PETSC ERROR: (.*)$", output)[2:3]
    if not words or not 0 < done.returncode < 128 or "Caught signal" in output:
        words = [" ".join(found) for found in re.findall(r"(?m)^(\S.*?) +((?:CON|DI)VERGED_\w+)", output)] + [f"exit status {done.returncode}"]
    print(f"{title}: {place(', '.join(words), integers)}")


good = [float(i + 1) for i in range(N)]
matrix("good")
matrix("followed", more=b"whatever follows")
read("as MatView() writes it")
read("with more in the file", A="followed")
read("on two processes", ranks=2)

print("\nmatrices, PETSc binary")
matrix("head", header=[MAT, N])
write("head", open("head", "rb").read()[:2 * BITS // 8])
read("cut in the header", A="head")
matrix("negative", header=[MAT, -N, N, 3 * N - 2])
read("negative size", A="negative")
matrix("huge", header=[MAT, 2**31 - 1, 2**31 - 1, 2**31 - 1])
read("more than the file has", A="huge")
read("more than the file has, two processes", A="huge", ranks=2)
matrix("dense", header=[MAT, 2, 2, -1])
read("dense", A="dense")
matrix("short", rows=ROWS[:-1] + [{}], header=[MAT, N, N + 1, 3 * N - 4])
read("not square", A="short")
matrix("lengths", lengths=[2, 3, 3, -5, 3, 2])
read("negative row", A="lengths")
read("negative row, two processes", A="lengths", ranks=2)
matrix("long", lengths=[2, 3, 3, 7, 3, 2])
read("long row", A="long")
matrix("sum", lengths=[2, 3, 3, 2, 3, 2])
read("sum of the rows", A="sum")
matrix("column", columns=[0, 1, 0, 1, 6, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5])
read("column outside", A="column")
read("column outside, two processes", A="column", ranks=2)
matrix("below", columns=[0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, -4, 5])
read("negative column", A="below")
matrix("unsorted", order=lambda row: sorted(row)[::-1])
read("columns that fall", A="unsorted")
matrix("twice", columns=[0, 1, 0, 1, 2, 1, 2, 2, 2, 3, 4, 3, 4, 5, 4, 5])
read("a column twice", A="twice")
matrix("nan", rows=ROWS[:3] + [{2: -1.0, 3: float("nan"), 4: -1.0}] + ROWS[4:])
read("not a number", A="nan")
matrix("overflow", rows=ROWS[:3] + [{2: 1e308, 3: 1e308, 4: 1e308}] + ROWS[4:])
read("numbers whose sum overflows", A="overflow")
matrix("other", bits=96 - BITS)
done = subprocess.run([BUILD + "/examples/readmat", "-A", "other"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print("indices of the other size:", f"written by a PETSc with indices of {96 - BITS} bits, and this program's has {BITS}" in done.stdout, done.returncode > 0)
write("empty", b"")
read("an empty file", A="empty")
os.mkdir("folder")
read("a folder", A="folder")
read("a folder, two processes", A="folder", ranks=2)

print("\nvectors and labels, PETSc binary")
vector("b", good)
vector("five", good[:-1])
vector("cut", good[:-1], N)
vector("minus", good, -N)
vector("infinite", good[:2] + [float("inf")] + good[3:])
vector("level", [-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
vector("large", good[:-1] + [1e20])
write("is", integers([IS, N, 0, 0, 1, 1, -1, 2]))
write("below", integers([IS, N, 0, 0, 1, 1, -7, 2]))
write("few", integers([IS, N - 1, 0, 0, 1, 1, 2]))
write("none", integers([IS, N, 0, 0, 1]))
read("right-hand side", "-b", "b")
read("of other length", "-b", "five")
read("cut", "-b", "cut", integers=2)
read("cut, two processes", "-b", "cut", ranks=2, integers=2)
read("negative length", "-b", "minus", integers=2)
read("infinite", "-b", "infinite", integers=2)
read("a matrix", "-b", "good")
read("a vector as the matrix", A="b")
read("level set", "-levelset", "level")
read("level set of other length", "-levelset", "five")
deflated = ("-solvers", "deflated")
write("deflated", "dcg: -ksp_type dcg -pc_type jacobi -deflation_space user\n")
read("labels", "-labels", "is", *deflated)
read("labels of other length", "-labels", "few")
read("labels, cut", "-labels", "none", integers=5)
read("labels below -1", "-labels", "below", *deflated, "-solver", "1")
read("labels too large", "-labels", "large")

print("\nMatrix Market")
BANNER = "%%MatrixMarket matrix coordinate real general\n"
for name, text in (
        ("one percent sign", BANNER[1:] + "1 1 1\n1 1 1\n"),
        ("entries beyond all bounds", BANNER + "6 6 99999999999999999999\n1 1 1\n"),
        ("rows beyond all bounds", BANNER + "99999999999999999999 99999999999999999999 1\n1 1 1\n"),
        ("more entries than the file can hold", BANNER + "6 6 1000000000\n1 1 1\n"),
        ("2e9 rows", BANNER + "2000000000 2000000000 1\n1 1 1\n"),
        ("an index beyond all bounds", BANNER + "2 2 2\n1 1 1\n99999999999999999999 2 1\n"),
        ("a line without end", BANNER + "1 1 1\n1 1 1" + 2000 * "0" + "\n"),
        ("a zero byte", BANNER + "1 1 1\n1 1 1\0\n"),
        ("a number beyond all bounds", BANNER + "1 1 1\n1 1 1e999\n"),
        ("more entries than promised", BANNER + "1 1 1\n1 1 1\n1 1 1\n"),
        ("the wrong half", BANNER.replace("general", "symmetric") + "2 2 2\n1 1 1\n1 2 1\n"),
        ("values in a pattern", BANNER.replace("real", "pattern") + "2 2 2\n1 1 1\n2 2 1\n"),
        ("an array as the matrix", BANNER.replace("coordinate", "array") + "1 1\n1\n"),
        ("nothing after the banner", BANNER)):
    write("file.mtx", text)
    read(name, A="file.mtx")
ARRAY = BANNER.replace("coordinate", "array")
for name, text in (
        ("vector", ARRAY + "6 1\n1\n2\n3\n4\n5\n6"),
        ("vector of other length", ARRAY + "5 1\n1\n2\n3\n4\n5\n"),
        ("vector, cut", ARRAY + "6 1\n1\n2\n"),
        ("vector with a word", ARRAY + "6 1\n1\n2\n3\nfour\n5\n6\n"),
        ("vector of zeros", ARRAY + "6 1\n0\n0\n0\n0\n0\n0\n"),
        ("a symmetric vector", ARRAY.replace("general", "symmetric") + "6 1\n1\n2\n3\n4\n5\n6"),
        ("a matrix as the vector", BANNER + "1 1 1\n1 1 1\n")):
    write("file.mtx", text)
    read(name, "-b", "file.mtx")

print("\nsolvers")
for name, text in (("comments and two solvers", "# both\n\ncg: -ksp_type cg -pc_type jacobi\r\n  gmres : -ksp_type gmres -pc_type jacobi"),
                   ("none", "# none\n"), ("no colon", "cg -ksp_type cg\n"),
                   ("no option", "cg: ksp_type cg\n"), ("too many", 65 * "cg: -ksp_type cg\n"), ("not a text", "cg: -ksp_type cg\n\0\n")):
    write("solvers.txt", text)
    read(name, "-solvers", "solvers.txt")
read("no file", "-solvers", "no_such_file")
read("no file, two processes", "-solvers", "no_such_file", ranks=2)
