"""What a child process costs: processor seconds as the kernel counts them, or the time until a line appears."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Command = Sequence[str]


def script(name: str) -> str:
    """The path of a console script of this environment."""
    return str(Path(sys.executable).parent / name)


def cpu_seconds(command: Command) -> float:
    """User and system time of one run, which must succeed."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def seconds_until(command: Command, is_it: Callable[[str], bool], environment: Mapping[str, str]) -> float:
    """Wall time from the start of a process to the first line of its output that `is_it`; then it may end."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if is_it(line):
                elapsed = time.perf_counter() - started
                process.communicate()
                return elapsed
        _, complaint = process.communicate()
    raise RuntimeError(f"{' '.join(command)} ended without the line: {complaint}")


def medians(samplers: Sequence[Callable[[], float]], runs: int) -> list[float]:
    """The median of each sampler, all of them once a round: what slows the machine slows them alike."""
    samples = [[sampler() for sampler in samplers] for _ in range(runs + 1)]
    return [statistics.median(column) for column in zip(*samples[1:], strict=True)]  # the first warms caches
