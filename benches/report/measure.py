"""What is measured of the contenders. Each function gives its figures by contender and workload."""

import re
import shutil
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

from report.contenders import Failed, asked, scratch_directory
from report.workloads import WORKLOADS

ROUNDS = 5
MILLISECONDS = 50
# What a slow run takes, in one round.
SLOW_NANOSECONDS = 5e8
DURABLE_MILLISECONDS = 2_000
COUNTED_AT_MOST_SECONDS = 120
# Libraries are so much slower that a few runs say enough.
LIBRARY_RUNS = 2


def times(contenders, say):
    """Nanoseconds per run, of several rounds in which each contender has its turn, so that noise hits all alike."""
    figures = {contender.name: {} for contender in contenders}
    pairs = []
    for workload in WORKLOADS:
        for contender in contenders:
            found = checked(contender, workload.name)
            if found:
                figures[contender.name][workload.name] = found
            else:
                pairs.append((workload, contender))
    say("checked: all others come to what they should")
    samples = {}
    for round_ in range(ROUNDS):
        for workload, contender in pairs:
            taken = samples.setdefault((workload.name, contender.name), [])
            if taken and statistics.median(taken) > SLOW_NANOSECONDS:
                continue
            taken.append(float(asked(contender, "time", workload.name, MILLISECONDS)))
        say(f"round {round_ + 1} of {ROUNDS}")
    for (workload, contender), taken in samples.items():
        figures[contender][workload] = {
            "ns": round(statistics.median(taken), 2),
            "low": round(min(taken), 2),
            "high": round(max(taken), 2),
        }
    return figures


def checked(contender, workload):
    """Why the contender is not measured, if it is not."""
    try:
        answer = asked(contender, "check", workload)
    except Failed as error:
        return {"wrong": str(error).splitlines()[-1]}
    if answer.startswith("unsupported: "):
        return {"unsupported": answer.removeprefix("unsupported: ")}
    return None


def allocations(contenders, say):
    """Allocations per run, and the bytes that they asked for."""
    figures = {}
    for contender in contenders:
        counted = figures.setdefault(contender.name, {})
        for workload in WORKLOADS:
            if not workload.counted_runs or checked(contender, workload.name):
                continue
            runs = 100 if workload.transitions < 1_000 else 5
            count, size = asked(contender, "allocations", workload.name, runs).split()
            counted[workload.name] = {"count": float(count), "bytes": float(size)}
        say(f"allocations of {contender.label}")
    return figures


def has_callgrind():
    return shutil.which("valgrind") is not None


def instructions(contenders, say, workloads=WORKLOADS):
    """Instructions per run: what callgrind counts of 2n runs, less what it counts of n. Two at a time, as nothing is
    timed.
    """
    pairs = [
        (contender, workload) for contender in contenders for workload in workloads if workload.counted_runs
    ]
    figures = {contender.name: {} for contender in contenders}
    with ThreadPoolExecutor(2) as pool:
        for (contender, workload), count in zip(pairs, pool.map(lambda p: counted(*p), pairs)):
            if count is not None:
                figures[contender.name][workload.name] = count
            if workload is workloads[-1]:
                say(f"instructions of {contender.label}")
    return figures


def counted(contender, workload):
    if checked(contender, workload.name):
        return None
    runs = workload.counted_runs if contender.is_own else min(workload.counted_runs, LIBRARY_RUNS)
    try:
        once, twice = (callgrind(contender, workload.name, repeated) for repeated in (runs, 2 * runs))
    except subprocess.TimeoutExpired:
        return None
    return round((twice - once) / runs)


def callgrind(contender, workload, runs):
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            *contender.command,
            "repeat",
            workload,
            str(runs),
        ],
        cwd=scratch_directory(),
        capture_output=True,
        text=True,
        check=False,
        timeout=COUNTED_AT_MOST_SECONDS,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise Failed(f"callgrind cannot count {contender.label}, {workload}:\n{done.stderr}")
    return int(found[1])


def durable(contenders, say):
    """Steps per second of the chain, each of which is on the disk before the next one starts."""
    steps = 10
    samples = {contender.name: [] for contender in contenders}
    for contender in contenders:
        if why := checked(contender, "chain"):
            raise Failed(f"the durable chain of {contender.label}: {why}")
    for round_ in range(ROUNDS):
        for contender in contenders:
            nanoseconds = float(asked(contender, "time", "chain", DURABLE_MILLISECONDS // ROUNDS))
            samples[contender.name].append(steps * 1e9 / nanoseconds)
        say(f"durable chain, round {round_ + 1} of {ROUNDS}")
    return {
        name: {
            "steps": round(statistics.median(taken), 1),
            "low": round(min(taken), 1),
            "high": round(max(taken), 1),
        }
        for name, taken in samples.items()
    }
