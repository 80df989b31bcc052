"""Measures what it takes to check, build and store the programs that `generate` writes."""

import os
import re
import resource
import signal
import statistics
import subprocess
import time
import tomllib

from compile import generate
from report.contenders import BENCHES, Failed

CHAINS = [10, 100, 300, 600]
SPREAD, WHOLE = (20, 10), (1, 200)
TIMED = [(1, nodes) for nodes in CHAINS] + [SPREAD, WHOLE]
SIZED = [(0, 10), (1, 10), (20, 10)]
CAP_SECONDS = 180
# A program that takes longer than this is built once and not three times.
SLOW_SECONDS = 10
SAMPLES = 3


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


def compile_times(target, say):
    """Seconds on the clock, of the processor, and in expansion, and bytes of programs, by variant and case."""
    directory = target / "compile"
    variants = all_variants()
    cases = sorted({*TIMED, *SIZED})
    generate.workspace(directory, variants, cases, BENCHES / "Cargo.lock")
    timed = {variant.name: {} for variant in variants}
    for command in ("check", "build"):
        for variant in variants:
            # So that what is measured is the program alone.
            ran(directory, target, [command, *program(variant, (0, 10))])
        for case in TIMED:
            for variant in variants:
                found = timed[variant.name].setdefault(generate.case_name(*case), {})
                if found.get("check", {}).keys() & {"over", "killed"}:
                    continue
                found[command] = timed_command(directory, target, command, variant, case)
                say(f"cargo {command}, {variant.name}, {generate.case_name(*case)}: {found[command]}")
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


def timed_command(directory, target, command, variant, case):
    """The median of the samples."""
    source = directory / variant.name / "src" / "bin" / f"{generate.program_name(variant, case)}.rs"
    samples = []
    while len(samples) < SAMPLES:
        source.touch()
        start, worked = time.perf_counter(), processor_seconds()
        try:
            printed = ran(directory, target, [command, *program(variant, case)], CAP_SECONDS)
        except subprocess.TimeoutExpired:
            return {"over": CAP_SECONDS}
        except OutOfMemory:
            return {"killed": True}
        taken = time.perf_counter() - start
        samples.append((taken, processor_seconds() - worked, expansion(printed)))
        if samples[0][0] > SLOW_SECONDS:
            break
    seconds, processor, expanding = (statistics.median(sample) for sample in zip(*samples))
    return {
        "seconds": round(seconds, 3),
        "processor": round(processor, 3),
        "expansion": round(expanding, 3),
    }


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


def ran(directory, target, arguments, seconds=None):
    """Runs cargo, and gives what it printed to stderr."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(target),
        "RUSTC_WORKSPACE_WRAPPER": str(BENCHES / "compile" / "rustc"),
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
