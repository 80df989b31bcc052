"""Measures what it takes to check, build and store the programs that `generate` writes."""

import functools
import itertools
import os
import re
import resource
import signal
import statistics
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

from compile import generate
from report.contenders import BENCHES, Failed

CHAINS = [10, 100, 300, 600]
SPREAD, WHOLE = (20, 10), (1, 200)
TIMED = [(1, nodes) for nodes in CHAINS] + [SPREAD, WHOLE]
SIZED = [(0, 10), (1, 10), (20, 10)]
CAP_SECONDS = 180
# A program that takes longer than this is compiled once, and not in each round.
SLOW_SECONDS = 10
ROUNDS = 5
# floxide would take hours.
COUNTED = ["ours", "by_hand"]


class Sample(NamedTuple):
    """Seconds on the clock, of the processor, and in expansion, of one call of cargo."""

    seconds: float
    processor: float
    expansion: float


class OutOfMemory(Exception):
    """The system killed rustc, as it took more memory than there is."""


def all_variants():
    return [
        generate.Ours(BENCHES.parent / "flow-runtime"),
        generate.ByHand(),
        generate.Floxide(floxide_version()),
    ]


def floxide_version():
    """That of the contender, which is the one that is locked."""
    manifest = BENCHES / "contenders" / "floxide" / "Cargo.toml"
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["dependencies"]["floxide"]


def compile_times(target, say, is_counted):
    """Seconds on the clock, of the processor, and in expansion, instructions of rustc, and bytes of programs, by variant
    and case.
    """
    directory = target / "compile"
    variants = all_variants()
    cases = sorted({*TIMED, *SIZED})
    generate.workspace(directory, variants, cases, BENCHES / "Cargo.lock")
    timed = {variant.name: {generate.case_name(*case): {} for case in TIMED} for variant in variants}
    for command in ("check", "build"):
        for variant in variants:
            # So that what is measured is the program alone.
            ran(directory, target, [command, *program(variant, (0, 10))])
        time_command(directory, target, command, variants, timed, say)
    if is_counted:
        count_checks(directory, target, [variant for variant in variants if variant.name in COUNTED], timed, say)
    for variant in variants:
        sizes = {}
        for case in SIZED:
            ran(directory, target, ["build", "--release", *program(variant, case)])
            binary = target / "release" / generate.program_name(variant, case)
            sizes[generate.case_name(*case)] = binary.stat().st_size
        timed[variant.name]["bytes"] = sizes
        say(f"size of {variant.name}: {sizes}")
    return timed


def program(variant, case):
    return ["--package", generate.package_name(variant), "--bin", generate.program_name(variant, case)]


def time_command(directory, target, command, variants, timed, say):
    """Adds to `timed` the medians of rounds in which each program has its turn, so that noise hits all alike."""
    samples = {}
    for number, case, variant in itertools.product(range(ROUNDS), TIMED, variants):
        name = generate.case_name(*case)
        found, seen = timed[variant.name][name], samples.setdefault((variant.name, name), [])
        # What cannot be checked is not built.
        failed = any(result.keys() & {"over", "killed"} for result in found.values())
        if failed or (seen and seen[0].seconds > SLOW_SECONDS):
            continue
        try:
            seen.append(sample(directory, target, command, variant, case))
            outcome = f"{seen[-1].seconds:.3f} s"
        except subprocess.TimeoutExpired:
            found[command] = {"over": CAP_SECONDS}
            outcome = f"more than {CAP_SECONDS} s"
        except OutOfMemory:
            found[command] = {"killed": True}
            outcome = "out of memory"
        say(f"cargo {command}, round {number + 1} of {ROUNDS}, {variant.name}, {name}: {outcome}")
    for (variant, name), seen in samples.items():
        if seen and command not in timed[variant][name]:
            medians = Sample(*(round(statistics.median(figures), 3) for figures in zip(*seen)))
            rounds = [round(each.processor, 3) for each in seen]
            timed[variant][name][command] = {**medians._asdict(), "rounds": rounds}


def sample(directory, target, command, variant, case):
    touch(directory, variant, case)
    start, worked = time.perf_counter(), processor_seconds()
    printed = ran(directory, target, [command, *program(variant, case)], CAP_SECONDS)
    taken = time.perf_counter() - start
    return Sample(taken, processor_seconds() - worked, expansion(printed))


def count_checks(directory, target, variants, timed, say):
    """Adds to `timed` how many instructions rustc takes to check each program, as callgrind counts them: two programs at
    a time, as nothing is timed.
    """
    names = {}
    for variant, case in itertools.product(variants, TIMED):
        checked = timed[variant.name][generate.case_name(*case)]["check"]
        if "seconds" in checked:
            names[generate.program_name(variant, case)] = checked
            touch(directory, variant, case)
    packages = [f"--package={generate.package_name(variant)}" for variant in variants]
    programs = [f"--bin={name}" for name in names]
    with tempfile.TemporaryDirectory() as counted:
        ran(directory, target, ["check", "--jobs=2", *packages, *programs], counted=counted)
        logs = [log.read_text(encoding="utf-8") for log in Path(counted).iterdir()]
    for name, checked in names.items():
        [log] = [log for log in logs if f" --crate-name {name} " in log]
        checked["instructions"] = int(re.search(r"Collected : (\d+)", log)[1])
        say(f"cargo check, instructions of rustc, {name}: {checked['instructions']:,}")


def touch(directory, variant, case):
    """So that cargo compiles the program again."""
    (directory / variant.name / "src" / "bin" / f"{generate.program_name(variant, case)}.rs").touch()


def processor_seconds():
    """Of all children so far. Unlike the time on the clock, it does not grow with what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def expansion(printed):
    """What rustc says it took to expand macros, of the last crate that it compiled."""
    found = re.findall(r"^time: +([0-9.]+);.*\texpand_crate$", printed, re.MULTILINE)
    if not found:
        raise Failed("rustc said nothing of the time in expansion")
    return float(found[-1])


@functools.cache
def rustc(directory):
    """The compiler itself, as callgrind does not follow rustup to it."""
    asked = subprocess.run(
        ["rustc", "--print=sysroot"], cwd=directory, capture_output=True, text=True, check=True
    )
    return str(Path(asked.stdout.strip()) / "bin" / "rustc")


def ran(directory, target, arguments, seconds=None, counted=""):
    """Runs cargo, and gives what it printed to stderr. With `counted`, callgrind writes its counts to that directory."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(target),
        "RUSTC_WORKSPACE_WRAPPER": str(BENCHES / "compile" / "rustc"),
        "RUSTC": rustc(directory),
        "COUNTED": counted,
    }
    cargo = subprocess.Popen(
        ["cargo", *arguments],
        cwd=directory,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, printed = cargo.communicate(timeout=seconds)
    except BaseException:
        # rustc as well, which cargo started.
        os.killpg(cargo.pid, signal.SIGKILL)
        cargo.communicate()
        raise
    if cargo.returncode != 0 and "(signal: 9, SIGKILL: kill)" in printed:
        raise OutOfMemory
    if cargo.returncode != 0:
        raise Failed(f"cargo {' '.join(arguments)} failed:\n{printed}")
    return printed
