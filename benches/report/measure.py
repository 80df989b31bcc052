"""What is measured of the contenders. Each function gives its figures by contender and workload."""

import re
import shutil
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

from report.contenders import Failed, asked, reason_in, scratch_directory
from report.workloads import BY_NAME, WORKLOADS

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
                if "wrong" in found and not contender.missing:
                    say(f"{contender.label} fails in {workload.name}: {found['wrong']}")
            else:
                pairs.append((workload, contender))
    say("checked: all others come to what they should")
    samples = {}
    for round_ in range(ROUNDS):
        for workload, contender in pairs:
            taken = samples.setdefault((workload.name, contender.name), [])
            failed = workload.name in figures[contender.name]
            if failed or (taken and statistics.median(taken) > SLOW_NANOSECONDS):
                continue
            try:
                (nanoseconds,) = numbers(1, contender, "time", workload.name, MILLISECONDS)
                taken.append(nanoseconds)
            except Failed as error:
                figures[contender.name][workload.name] = {"wrong": str(error)}
                say(f"{contender.label} fails in {workload.name}: {error}")
        say(f"round {round_ + 1} of {ROUNDS}")
    for (workload, contender), taken in samples.items():
        if workload in figures[contender]:
            continue
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
        return {"wrong": str(error)}
    if answer.startswith("unsupported: "):
        return {"unsupported": answer.removeprefix("unsupported: ")}
    return None


class Unsupported(Failed):
    """A contender has no means for what it was asked, and said why."""


def numbers(count, contender, *arguments):
    """As many as it has to answer with, or `Failed`."""
    answer = asked(contender, *arguments)
    if answer.startswith("unsupported: "):
        raise Unsupported(answer.removeprefix("unsupported: "))
    try:
        found = [float(number) for number in answer.split()]
    except ValueError:
        found = []
    if len(found) != count:
        raise Failed(f"answered `{' '.join(answer.split())}`")
    return found


def sure(figures):
    """The figures of contenders that all have to be measured."""
    for contender, found in figures.items():
        for workload, figure in found.items():
            if isinstance(figure, dict) and "wrong" in figure:
                raise Failed(f"{contender} fails in {workload}: {figure['wrong']}")
    return figures


def allocations(contenders, say):
    """Allocations per run, and the bytes that they asked for."""
    figures = {}
    for contender in contenders:
        counted = figures.setdefault(contender.name, {})
        for workload in WORKLOADS:
            if not workload.counted_runs:
                continue
            if found := checked(contender, workload.name):
                if "wrong" in found:
                    counted[workload.name] = found
                continue
            runs = 100 if workload.transitions < 1_000 else 5
            try:
                count, size = numbers(2, contender, "allocations", workload.name, runs)
                counted[workload.name] = {"count": count, "bytes": size}
            except Unsupported:
                continue
            except Failed as error:
                counted[workload.name] = {"wrong": str(error)}
        say(f"allocations of {contender.label}")
    return figures


def has_callgrind():
    return shutil.which("valgrind") is not None


def instructions(contenders, say, workloads=WORKLOADS):
    """Instructions per run: what callgrind counts of n runs, less what it counts of none. Two at a time, as nothing is
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
    if found := checked(contender, workload.name):
        return found if "wrong" in found else None
    runs = workload.counted_runs if contender.is_own else min(workload.counted_runs, LIBRARY_RUNS)
    try:
        none, all_ = (callgrind(contender, workload.name, repeated) for repeated in (0, runs))
    except subprocess.TimeoutExpired:
        return {"wrong": f"takes longer than {COUNTED_AT_MOST_SECONDS} s in callgrind"}
    except Failed as error:
        return {"wrong": str(error)}
    return round((all_ - none) / runs)


def callgrind(contender, workload, runs):
    """The instructions of that many runs, without what comes before them (`counted_runs` in harness/src/measure.rs)."""
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=*counted_runs*",
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
        # What valgrind says begins with its process's number.
        told = re.sub(r"^==.*\n", "", done.stderr, flags=re.MULTILINE)
        raise Failed(f"callgrind cannot count it: {reason_in(told) or f'exit code {done.returncode}'}")
    return int(found[1])


def durable(contenders, say):
    """Steps per second of the chain, each of which is on the disk before the next one starts."""
    chain = BY_NAME["chain"]
    figures, samples = {}, {}
    for contender in contenders:
        if found := checked(contender, chain.name):
            figures[contender.name] = found
    for round_ in range(ROUNDS):
        for contender in contenders:
            if contender.name in figures:
                continue
            try:
                (nanoseconds,) = numbers(1, contender, "time", chain.name, DURABLE_MILLISECONDS // ROUNDS)
                samples.setdefault(contender.name, []).append(chain.transitions * 1e9 / nanoseconds)
            except Failed as error:
                figures[contender.name] = {"wrong": str(error)}
                say(f"{contender.label} fails: {error}")
        say(f"durable chain, round {round_ + 1} of {ROUNDS}")
    for name, taken in samples.items():
        if name in figures:
            continue
        figures[name] = {
            "steps": round(statistics.median(taken), 1),
            "low": round(min(taken), 1),
            "high": round(max(taken), 1),
        }
    return figures
