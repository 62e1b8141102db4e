"""Run a command; print its seconds and its peak memory, as JSON on the last line.

    python -m speed.launched command argument ...

A process' peak begins at that of the process which started it, so this one stays small.
"""

import json
import os
import subprocess
import sys
import time


def main() -> int:
    begin = time.perf_counter()
    child = subprocess.Popen(sys.argv[1:])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    bytes_per_unit = 1 if sys.platform == "darwin" else 1024
    peak = usage.ru_maxrss * bytes_per_unit
    print(json.dumps({"seconds": seconds, "peak_bytes": peak}), flush=True)
    return child.returncode


if __name__ == "__main__":
    sys.exit(main())
