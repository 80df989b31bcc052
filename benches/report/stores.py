"""How many steps a second are durable on each store, and on Postgres beside others: measured only if it is asked for by
name, as it starts servers.
"""

import os
import statistics
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from report.contenders import (
    BENCHES,
    Contender,
    Failed,
    install,
    reason_in,
    run,
    scratch_directory,
    target_directory,
    versions_in,
)

SCRIPTS = BENCHES / "python" / "stores"
ROUNDS = 3
SECONDS = 3
STEPS = 10
# Processes, and executions at once in each.
CASES = {"one": (1, 1), "eight": (1, 8), "two_processes": (2, 8), "four_processes": (4, 8)}
SCALED = ["ours_sqlite", "ours_postgres", "ours_redis"]
ON_POSTGRES = ["ours_postgres", "by_hand", "dbos", "langgraph"]
# Connections report what they did when they end, or with some delay.
REPORTED_AFTER = 1.5


def contenders():
    run(["cargo", "build", "--locked", "--release", "--package", "stores"], cwd=BENCHES)
    program = str(target_directory() / "release" / "stores")
    requirements = SCRIPTS / "requirements.txt"
    environment = target_directory() / "python-stores"
    missing = ""
    try:
        install(requirements, environment)
    except Failed as error:
        missing = f"its packages could not be installed: {error}"
    versions = versions_in(requirements.read_text(encoding="utf-8"))
    ours = Contender("", "", "Rust", "", "contenders/stores/src/chain.rs", (program, "run"))
    python = (str(environment / "bin" / "python"), "-B")

    def scripted(name, label, script):
        source = f"python/stores/{script}"
        command = (*python, str(SCRIPTS / script))
        return Contender(name, label, "Python", versions[name], source, command, missing=missing)

    return [
        replace(ours, name="ours_sqlite", label="ours, SQLite"),
        replace(ours, name="ours_postgres", label="ours, Postgres"),
        replace(ours, name="ours_redis", label="ours, Redis"),
        replace(ours, name="ours_restate", label="ours, Restate", source="contenders/stores/src/restate.rs"),
        replace(
            ours,
            name="by_hand",
            label="one insert a step, by hand",
            source="contenders/stores/src/by_hand.rs",
            command=(program, "by_hand"),
        ),
        scripted("dbos", "DBOS", "with_dbos.py"),
        scripted("langgraph", "LangGraph's PostgresSaver", "with_postgres_saver.py"),
    ]


@contextmanager
def server(program, name):
    """The address of a server that runs meanwhile."""
    command = [program, "server", name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            if "://" not in address:
                raise Failed(f"{name} does not start: {address or 'it says nothing'}")
            yield address
        finally:
            process.stdin.close()


def measured(found, say):
    program = next(contender.command[0] for contender in found if contender.name == "by_hand")
    figures = {contender.name: {} for contender in found}
    samples, commits = {}, {}
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        postgres, redis, restate = (
            stack.enter_context(server(program, name)) for name in ("postgres", "redis", "restate")
        )
        addresses = {
            "ours_sqlite": f"sqlite:{folder}/chain.sqlite",
            "ours_redis": redis,
            "ours_restate": restate,
        }
        for round_ in range(ROUNDS):
            for contender in found:
                for case, (processes, at_once) in CASES.items():
                    cell = figures[contender.name]
                    if "wrong" in cell.get(case, {}) or (processes > 1 and contender.name not in SCALED):
                        continue
                    address = addresses.get(contender.name, postgres)
                    counts = contender.name in ON_POSTGRES and processes == 1
                    try:
                        before = committed(program, postgres) if counts else 0
                        executions, seconds = repeated(contender, address, processes, at_once)
                        steps = executions * STEPS
                        samples.setdefault((contender.name, case), []).append(steps / seconds)
                        if counts:
                            made = committed(program, postgres) - before
                            commits.setdefault((contender.name, case), []).append(made / steps)
                    except Failed as error:
                        cell[case] = {"wrong": str(error)}
                        say(f"{contender.label} fails, {case}: {error}")
            say(f"round {round_ + 1} of {ROUNDS}")
        for name in SCALED:
            try:
                median, p99 = run([program, "delay", addresses.get(name, postgres)]).split()
                figures[name]["delay"] = {"median_ms": float(median), "p99_ms": float(p99)}
            except Failed as error:
                figures[name]["delay"] = {"wrong": str(error)}
        say("delays")
    for (name, case), taken in samples.items():
        if case in figures[name]:
            continue
        figures[name][case] = {
            "steps": round(statistics.median(taken)),
            "low": round(min(taken)),
            "high": round(max(taken)),
        }
        if made := commits.get((name, case)):
            figures[name][case]["commits"] = round(statistics.median(made), 2)
    return figures


@contextmanager
def scratch_folder():
    folder = scratch_directory() / f"stores-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def committed(program, address):
    time.sleep(REPORTED_AFTER)
    return int(run([program, "commits", address]))


def repeated(contender, address, processes, at_once):
    """Executions of all processes, and the seconds that the slowest took."""
    if contender.missing:
        raise Failed(contender.missing)
    command = [*contender.command, address, str(at_once), str(SECONDS)]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=scratch_directory())
        for _ in range(processes)
    ]
    answers = [process.communicate(timeout=60 + SECONDS) for process in started]
    for process, (printed, told) in zip(started, answers):
        if process.returncode != 0:
            raise Failed(reason_in(printed + told) or f"exit code {process.returncode}")
    found = [answer.split() for answer, _ in answers]
    return sum(int(count) for count, _ in found), max(float(seconds) for _, seconds in found)


def cell(run_, name, case):
    return run_["figures"].get(name, {}).get(case, {"wrong": "not run"})


def speed(found):
    return "–" if "wrong" in found else f"{found['steps']:,}"


def ratio(found, to):
    if "wrong" in found or "wrong" in to:
        return "–"
    return f"{found['steps'] / to['steps']:.2f}"


def rows(measured_run):
    """Of all stores, of several processes, of the contenders on Postgres, and why some are missing."""
    labels = {
        name: f"[{contender['label']}](../benches/{contender['source']})"
        for name, contender in measured_run["contenders"].items()
    }
    stores = []
    for name in [name for name in labels if name.startswith("ours_")]:
        one, eight = (cell(measured_run, name, case) for case in ("one", "eight"))
        executions = "–" if "wrong" in eight else f"{eight['steps'] / STEPS:,.0f}"
        stores.append([labels[name], speed(one), speed(eight), executions])
    scaled = []
    for name in SCALED:
        one, *more = (cell(measured_run, name, case) for case in ("eight", "two_processes", "four_processes"))
        delay = cell(measured_run, name, "delay")
        delay = "–" if "wrong" in delay else f"{delay['median_ms']:.1f} and {delay['p99_ms']:.1f} ms"
        more = [f"{speed(found)} ({ratio(found, one)})" for found in more]
        scaled.append([labels[name], speed(one), *more, delay])
    on_postgres = []
    for name in ON_POSTGRES:
        cells = []
        for case in ("one", "eight"):
            found, ours = cell(measured_run, name, case), cell(measured_run, "ours_postgres", case)
            cells += [speed(found), ratio(found, ours)]
        on_postgres.append([labels[name], *cells, cell(measured_run, name, "eight").get("commits", "–")])
    reasons = [
        f"- {measured_run['contenders'][name]['label']}, {case.replace('_', ' ')}: not measured: {found['wrong']}."
        for name, found_cases in measured_run["figures"].items()
        for case, found in found_cases.items()
        if "wrong" in found
    ]
    return stores, scaled, on_postgres, reasons


STORES = """## Stores

The chain of ten steps as durable executions, each with its start, its steps and its end; each step's outcome is durable
before the next step begins. The servers run on the same machine, as they come from Debian and npm: Postgres with
`fsync` and `synchronous_commit` on, Redis with `appendfsync always`, SQLite with `synchronous = FULL`. Steps per second, of
the median of three rounds in which each has its turn. Measured only by `benches/run stores`.
"""

SCALED_TEXT = """
**Processes** that share a store, each with eight executions at once, and how many times as many steps they do. Two cores
are all that they and the server have. The last column is how soon a process sees the start of an execution that another
one has stored: the median and the 99th percentile of 200.
"""

POSTGRES_TEXT = """
**On Postgres**, beside others on the same server, in the same run: steps per second with one and with eight executions at
once, how many times ours that is, and how many transactions a step takes, with what starts and ends its execution. Ours
keeps its statements prepared (`PostgresOptions::prepared_statements`). By hand: ten rows of about the size of a record,
each in a transaction of its own, without a claim or anything else that a crash would need.
"""
