"""What a turn of an agent costs beside others, and what a crash repeats: measured only if it is asked for by name."""

import os
import shutil
import statistics
import subprocess

from report.contenders import (
    BENCHES,
    Contender,
    Failed,
    asked,
    install,
    locked_versions,
    run,
    scratch_directory,
    target_directory,
    versions_in,
)

SCRIPTS = BENCHES / "python" / "agents"
ROUNDS = 3
MILLISECONDS = 300
TURNS = [1, 10, 50, 200]
CASES = {
    "ours": ["plain", "memory", "sqlite"],
    "by_hand": ["by_hand"],
    "rig": ["plain"],
    "langgraph": ["plain", "memory", "sqlite"],
    "pocketflow": ["plain"],
}
KEPT = {"plain": "", "by_hand": "", "memory": ", durable in memory", "sqlite": ", durable in SQLite"}
SAVED = {**KEPT, "memory": ", InMemorySaver", "sqlite": ", SqliteSaver"}
# The agent that is killed asks the model once more than it has turns, and calls the tool in each of them.
KILLED_TURNS = 3
CALLS = ["model", "tool"] * KILLED_TURNS + ["model"]


def contenders():
    run(["cargo", "build", "--locked", "--release", "--package", "agents"], cwd=BENCHES)
    programs = target_directory() / "release"
    missing = {"rig": "", "python": ""}
    try:
        run(["cargo", "build", "--locked", "--release", "--package", "agents-rig"], cwd=BENCHES)
    except Failed:
        missing["rig"] = "does not build"
    requirements = SCRIPTS / "requirements.txt"
    environment = target_directory() / "python-agents"
    try:
        install(requirements, environment)
    except Failed as error:
        missing["python"] = f"its packages could not be installed: {error}"
    versions = versions_in(requirements.read_text(encoding="utf-8"))
    python = (str(environment / "bin" / "python"), "-B")

    def scripted(name, label, package):
        return Contender(
            name=name,
            label=label,
            language="Python",
            version=versions[package],
            source=f"python/agents/{name}_agent.py",
            command=(*python, str(SCRIPTS / f"with_{name}.py")),
            missing=missing["python"],
        )

    own = (str(programs / "agents"),)
    return [
        Contender("ours", "ours", "Rust", "", "contenders/agents/src/ours.rs", own),
        Contender("by_hand", "by hand", "Rust", "", "contenders/agents/src/by_hand.rs", own),
        Contender(
            name="rig",
            label="rig",
            language="Rust",
            version=locked_versions()["rig"],
            source="contenders/agents-rig/src/agent.rs",
            command=(str(programs / "agents-rig"),),
            missing=missing["rig"],
        ),
        scripted("langgraph", "LangGraph's `create_agent`", "langgraph"),
        scripted("pocketflow", "PocketFlow", "pocketflow"),
    ]


def measured(found, say):
    figures = {contender.name: {} for contender in found}
    samples = {}
    for round_ in range(ROUNDS):
        for turns in TURNS:
            for contender in found:
                for case in CASES[contender.name]:
                    if case in figures[contender.name]:
                        continue
                    try:
                        taken = float(asked(contender, "time", case, turns, MILLISECONDS))
                        samples.setdefault((contender.name, case), {}).setdefault(turns, []).append(taken)
                    except Failed as error:
                        figures[contender.name][case] = {"wrong": str(error)}
                        say(f"{contender.label} fails, {case}: {error}")
        say(f"round {round_ + 1} of {ROUNDS}")
    for (name, case), of_turns in samples.items():
        if case not in figures[name]:
            figures[name][case] = {
                str(turns): {"ns": min(taken), "median": statistics.median(taken), "high": max(taken)}
                for turns, taken in of_turns.items()
            }
    for contender in found:
        if contender.name != "by_hand":
            figures[contender.name]["killed"] = killed(contender)
    say("killed at each call")
    return figures


def killed(contender):
    """What is called again after a kill at each call; or what is wrong."""
    try:
        return {"again": [called_again(contender, at) for at in range(1, len(CALLS) + 1)]}
    except Failed as error:
        return {"wrong": str(error)}


def called_again(contender, at):
    """How often the model and the tool are called more than they would be without a kill."""
    if contender.missing:
        raise Failed(contender.missing)
    folder = scratch_directory() / f"agents-{os.getpid()}-{contender.name}-{at}"
    folder.mkdir()
    try:
        log = folder / "log"
        environment = {**os.environ, "LANGSMITH_TRACING": "false", "AGENT_LOG": str(log)}
        command = [*contender.command, "run", str(KILLED_TURNS)]
        first = subprocess.run(
            command,
            cwd=folder,
            env={**environment, "AGENT_KILL": str(at)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if first.returncode != -9:
            raise Failed(f"it was not killed at call {at}: exit code {first.returncode}: {first.stderr.strip()}")
        run(command, cwd=folder, env=environment, timeout=120)
        calls = log.read_text(encoding="utf-8").split()
        return {what: calls.count(what) - CALLS.count(what) for what in ("model", "tool")}
    finally:
        shutil.rmtree(folder)


def nanoseconds(run_, name, case, turns):
    """`None` if it was not measured."""
    found = run_["figures"].get(name, {}).get(case, {}) if run_ else {}
    return found.get(str(turns), {}).get("ns")


def rows(measured_run):
    """Of the turns, of the kills, and why some are missing."""
    turns, kills, reasons = [], [], []
    for name, contender in measured_run["contenders"].items():
        label = f"[{contender['label']}](../benches/{contender['source']})"
        for case in CASES[name]:
            found = measured_run["figures"][name].get(case, {"wrong": "not run"})
            if "wrong" in found:
                reasons.append(f"- {contender['label']}, {case}: not measured: {found['wrong']}.")
                continue
            kept = (KEPT if name in ("ours", "by_hand") else SAVED)[case]
            cells = []
            for count in TURNS:
                ours = nanoseconds(measured_run, "ours", "plain" if case == "by_hand" else case, count)
                ns = found[str(count)]["ns"]
                cells += [f"{ns / 1_000:,.1f}", f"{ns / ours:,.2f}" if ours else "–"]
            turns.append([label + kept, *cells])
        killed_ = measured_run["figures"][name].get("killed")
        if killed_ is None:
            continue
        if "wrong" in killed_:
            reasons.append(f"- {contender['label']}, killed: not measured: {killed_['wrong']}.")
            continue
        again = [f"{calls['model']} + {calls['tool']}" for calls in killed_["again"]]
        total = sum(sum(calls.values()) for calls in killed_["again"])
        kills.append([label, *again, total])
    return turns, kills, reasons


AGENTS = """## Agents

The same agent everywhere: one tool, which the model calls once in each turn, and an answer after so many turns. The model is
a function that answers at once, so this is what the library costs. Microseconds a turn, the lowest of the rounds, in
each of which all have their turn, and how many times what ours takes, kept in the same way. What is durable is so
before the next step begins: ours with `synchronous = FULL`, LangGraph's with `durability="sync"` and SQLite's default,
which is the same. rig's model speaks the scripted wire of rig's own test utilities. Each name links to the program,
[which the comparison of agents shows](agents.md). Measured only by `benches/run agents`.
"""

KILLED = """
**Killed** (`kill -9`) while the model or the tool is being called, at each of the calls of an agent with three turns, and
started again: how many calls of the model and of the tool are made more than without the kill. One cannot be avoided:
that which was under way. rig and PocketFlow keep nothing by themselves, so they begin again.
"""
