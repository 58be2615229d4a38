"""How make finds PETSc and what it says when it cannot work with it, on PETSc folders made up here.

/*TEST
   test:
     load: no
     requires: !gpu
TEST*/
"""
import os
import re
import subprocess

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
config = os.path.join(here, "..", "config")
work = os.getcwd()


def petsc(folder, version="3.20.1", shared=True, conf="", arch=""):
    """A PETSc of nothing but the two files that are looked at"""
    prefix = os.path.join(work, folder, arch).rstrip("/")
    os.makedirs(f"{prefix}/lib/pkgconfig", exist_ok=True)
    os.makedirs(f"{prefix}/include", exist_ok=True)
    with open(f"{prefix}/lib/pkgconfig/PETSc.pc", "w") as pc:
        pc.write(f"prefix={prefix}\nlibdir=${{prefix}}/lib\nccompiler=mpicc\nName: PETSc\nDescription: none\nVersion: {version}\n"
                 "Cflags: -I${prefix}/include\nLibs: -L${libdir} -lpetsc\n")
    with open(f"{prefix}/include/petscconf.h", "w") as file:
        file.write("#define PETSC_HAVE_MPI 1\n" + "#define PETSC_USE_SHARED_LIBRARIES 1\n" * shared + f"#define {conf} 1\n" * bool(conf))


def configure(title, variables, keep=("PETSC_VERSION", "PETSC_CFLAGS", "PETSC_LIBS")):
    env = {key: value for key, value in os.environ.items() if key not in ("PETSC_DIR", "PETSC_ARCH", "PKG_CONFIG_PATH")}
    done = subprocess.run(["sh", f"{config}/petsc.sh"], env={**env, **variables}, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.split(":=")[0].strip() in keep]
    print(f"{title}: exit status {done.returncode}")
    for line in (done.stderr.splitlines() if done.returncode else []) + lines:
        print("  " + re.sub(r"\s+", " ", line.replace(work, "WORK")).strip())


petsc("prefix")
petsc("source", version="3.22.0", arch="arch-opt")
petsc("static", shared=False)
petsc("complex", conf="PETSC_USE_COMPLEX")
petsc("single", conf="PETSC_USE_REAL_SINGLE")
petsc("quadruple", conf="PETSC_USE_REAL___FLOAT128")
petsc("old", version="3.17.5")
configure("PETSC_DIR of an installed PETSc", {"PETSC_DIR": f"{work}/prefix"})
configure("PETSC_DIR and PETSC_ARCH of a source tree", {"PETSC_DIR": f"{work}/source", "PETSC_ARCH": "arch-opt"})
configure("PETSC_DIR before pkg-config", {"PETSC_DIR": f"{work}/prefix", "PKG_CONFIG_PATH": f"{work}/source/arch-opt/lib/pkgconfig"})
configure("pkg-config", {"PKG_CONFIG_PATH": f"{work}/source/arch-opt/lib/pkgconfig"})
configure("a source tree without PETSC_ARCH", {"PETSC_DIR": f"{work}/source"})
configure("no PETSc", {"PKG_CONFIG_LIBDIR": f"{work}/nothing"})
configure("static", {"PETSC_DIR": f"{work}/static"})
for conf in "complex", "single", "quadruple":
    configure(conf, {"PETSC_DIR": f"{work}/{conf}"})
configure("too old", {"PETSC_DIR": f"{work}/old"})


def requirements(title, root, pkgconfig, apt=True):
    """Runs the package check with an apt-get that only says what it was asked for, and an id of our choice"""
    os.makedirs("bin", exist_ok=True)
    for name, text in (("id", f"echo {0 if root else 1000}"), ("apt-get", 'case "$*" in *install*) echo "apt-get $*";; esac'), ("pkg-config", pkgconfig)):
        with open(f"bin/{name}", "w") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"bin/{name}", 0o755)
    if not apt:  # a system whose only commands are those that the script needs
        os.remove("bin/apt-get")
        for name in ("sh", "dirname", "cc", "mpicc"):
            path = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
            os.path.lexists(f"bin/{name}") or os.symlink(path, f"bin/{name}")
    env = {key: value for key, value in os.environ.items() if key not in ("PETSC_DIR", "PETSC_ARCH")}
    env["PATH"] = f"{work}/bin" + (":" + env["PATH"] if apt else "")
    done = subprocess.run(["sh", f"{config}/requirements.sh", "build"], env=env, capture_output=True, text=True)
    print(f"{title}: exit status {done.returncode}")
    for line in (done.stdout + done.stderr).splitlines():
        print("  " + line)


requirements("everything there", True, "exit 0")
requirements("a package missing, root", True, "exit 1")
requirements("a package missing, not root", False, "exit 1")
requirements("a package missing, no apt-get", True, "exit 1", apt=False)
