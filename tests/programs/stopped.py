"""What tests/run leaves running when it is stopped, or when a test takes too long: nothing. The programs of its tests are scripts here.

/*TEST
   test:
     load: no
     requires: !gpu
TEST*/
"""
import os
import signal
import subprocess
import sys
import time

for ignored in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:  # by nohup, or by a shell that has put this into the background
    signal.signal(ignored, signal.SIG_DFL)
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
work = os.getcwd()
SCRIPT = """#!/bin/sh
{trap}
sh -c '{trap}; while :; do sleep 0.2; done' &
echo $$ $! >> {work}/started
{end}
"""


def program(name, deaf, ends):
    """A program with one of its own beside it. deaf: neither ends at SIGTERM; ends: the first one ends at once"""
    path = f"build/tests/types/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(SCRIPT.format(work=work, trap='trap "" TERM' if deaf else ":", end="exit 0" if ends else "while :; do sleep 0.2; done"))
    os.chmod(path, 0o755)


def started():
    try:
        with open("started") as file:
            return [int(pid) for line in file for pid in line.split()]
    except FileNotFoundError:
        return []


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def case(title, test, count, number=None, deaf=False, ends=False, options=()):
    """Runs a test, whose program starts so many processes; number: the signal that stops tests/run"""
    program(test.split("_")[0], deaf, ends)
    if os.path.exists("started"):
        os.remove("started")
    runner = subprocess.Popen([sys.executable, f"{here}/run", "--build", "build", "--search", test, *options], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, start_new_session=True)
    until = time.monotonic() + 60
    while len(started()) < count and time.monotonic() < until:
        time.sleep(0.05)
    if number:
        runner.send_signal(number)
    said = runner.communicate()[0]
    left = [pid for pid in started() if lives(pid)]
    print(f"{title}: {len(started())} processes, {len(left)} left, exit status {runner.returncode}")
    for line in said.splitlines():
        if line.lower().startswith("stopped") or " passed, " in line:
            print(f"  {line}")
    for pid in left:
        os.kill(pid, signal.SIGKILL)


case("SIGTERM, one process", "halo_1", 2, signal.SIGTERM)
case("SIGINT, mpiexec", "halo_3", 6, signal.SIGINT)
case("SIGHUP, mpiexec, programs without an ear for SIGTERM", "halo_3", 6, signal.SIGHUP, deaf=True)
case("too long, mpiexec", "halo_3", 6, options=["--limit", "0.3"])
case("too long, mpiexec, programs without an ear for SIGTERM", "halo_3", 6, deaf=True, options=["--limit", "0.3"])
case("a process that outlives its program", "halo_1", 2, ends=True, options=["--limit", "0.1"])
