"""What a contender in Python does, how it is measured, and the command line, all as in `harness/src` for Rust.

A contender is a dictionary from a workload's name to a function that makes its task: a function that is called with
a range of seeds, runs the workload once for each, and returns the sum of what came out. What it has no means for is a
text instead, which says why.
"""

import asyncio
import statistics
import sys
import time

ROUNDS = 1_000
CHAINS = 1_000
BATCH_ITEMS = 10_000
LOADED_NODES = 10_000
BATCH_CONCURRENCY = 16
PAYLOAD_BYTES = 64 * 1024

CHAIN_NODES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
BRANCHES = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8}
LARGEST_TOTAL = 2**64 - 1
# A run that takes longer than this is neither checked nor timed more than once in a call.
SLOW_SECONDS = 2

EXPECTED = {
    "single": lambda seed: seed + 1,
    "chain": lambda seed: seed + 10,
    "fallible_chain": lambda seed: seed + 10,
    "loop": lambda seed: seed + ROUNDS,
    "branch": lambda seed: (seed + 1 + min(seed & 3, 2)) * 2,
    "fork": lambda seed: 8 * seed + 36,
    "nested": lambda seed: seed + 10,
    "payload": lambda seed: 10,
    "batch": lambda seed: BATCH_ITEMS * (BATCH_ITEMS - 1),
    "waiting_batch": lambda seed: BATCH_ITEMS * (BATCH_ITEMS - 1),
    "concurrent": lambda seed: CHAINS * (seed + 10),
    "observed": lambda seed: seed + ROUNDS,
    "observed_chain": lambda seed: seed + 10,
    "load": lambda seed: LOADED_NODES,
}


def checked_add(total):
    if total >= LARGEST_TOTAL:
        raise OverflowError("the sum does not fit")
    return total + 1


def way(value):
    return ("left", "middle", "right")[min(value & 3, 2)]


def touch(payload):
    payload[0] = (payload[0] + 1) % 128
    return payload


def payload_task(run):
    """`run` takes the payload and gives it back."""
    payload = bytearray(b"a" * (PAYLOAD_BYTES - 1) + b".")

    def once(_seed):
        nonlocal payload
        before = payload[0]
        payload = run(payload)
        whole = len(payload) == PAYLOAD_BYTES and payload.endswith(b".")
        return (payload[0] - before) % 128 if whole else 0

    return task(once)


def task(run):
    return lambda seeds: sum(run(seed) for seed in seeds)


def async_task(run):
    runner = asyncio.Runner()

    async def runs(seeds):
        total = 0
        for seed in seeds:
            total += await run(seed)
        return total

    return lambda seeds: runner.run(runs(seeds))


def main(contender):
    """The whole program of a contender."""
    usage = "usage: <contender> check|time|allocations|repeat <workload> [milliseconds|runs]"
    if len(sys.argv) not in (3, 4):
        sys.exit(usage)
    command, workload = sys.argv[1:3]
    amount = int(sys.argv[3]) if len(sys.argv) == 4 else None
    if workload not in EXPECTED:
        sys.exit(f"no workload `{workload}`; there are {', '.join(EXPECTED)}")
    if workload not in contender:
        sys.exit(f"`{workload}` is missing: give its function, or a text that says why there is none")
    make_task = contender[workload]
    if isinstance(make_task, str):
        print(f"unsupported: {make_task}")
    elif command == "check":
        print(check(make_task(), workload))
    elif command == "time":
        print(f"{nanoseconds(make_task(), (amount or 50) / 1000):.2f}")
    elif command == "allocations":
        print("unsupported: allocations of an interpreter say nothing")
    elif command == "repeat":
        print(make_task()(range(amount or 100)))
    else:
        sys.exit(usage)


def check(run, workload):
    start = time.perf_counter()
    for seed in range(8):
        found, expected = run(range(seed, seed + 1)), EXPECTED[workload](seed)
        if found != expected:
            sys.exit(f"{workload} of {seed} came to {found} instead of {expected}")
        if time.perf_counter() - start > SLOW_SECONDS:
            break
    return "ok"


def nanoseconds(run, seconds):
    """Per run: the median of samples that take a millisecond or one run each, until the time is up."""

    def sample(runs):
        start = time.perf_counter_ns()
        run(range(runs))
        return time.perf_counter_ns() - start

    runs = 1
    while (first := sample(runs)) < 1_000_000:
        runs *= 2
    if first > SLOW_SECONDS * 1e9:
        return first / runs
    end = time.perf_counter() + seconds
    samples = []
    while len(samples) < 3 or time.perf_counter() < end:
        samples.append(sample(runs) / runs)
    return statistics.median(samples)
