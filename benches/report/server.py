"""What the server bears, beside LangGraph's dev server: measured only if it is asked for by name, as it takes minutes."""

import json

from report.contenders import (
    BENCHES,
    Contender,
    Failed,
    asked,
    install,
    run,
    target_directory,
    versions_in,
)

GRAPHS = BENCHES / "python" / "server"
# Clients that watch one execution, and executions started a second.
LOADS = {"watch_100": ("watch", 100), "watch_1000": ("watch", 1000), "start_200": ("start", 200)}
LABELS = {"ours": "ours", "langgraph": "LangGraph's dev server"}


def contenders():
    run(["cargo", "build", "--locked", "--release", "--package", "server"], cwd=BENCHES)
    program = str(target_directory() / "release" / "server")
    environment = target_directory() / "python-server"
    requirements = GRAPHS / "requirements.txt"
    missing = ""
    try:
        install(requirements, environment)
    except Failed as error:
        missing = f"its packages could not be installed: {error}"
    version = versions_in(requirements.read_text(encoding="utf-8"))["langgraph_api"]
    return [
        Contender(
            name="ours",
            label=LABELS["ours"],
            language="Rust",
            version="",
            source="contenders/server/src/serve.rs",
            command=(program,),
        ),
        Contender(
            name="langgraph",
            label=LABELS["langgraph"],
            language="Python",
            version=version,
            source="python/server/graphs.py",
            command=(program, "langgraph", str(environment), str(GRAPHS)),
            missing=missing,
        ),
    ]


def measured(found, say):
    figures = {contender.name: {} for contender in found}
    for load, arguments in LOADS.items():
        for contender in found:
            say(f"server {load} {contender.name}")
            try:
                figures[contender.name][load] = json.loads(asked(contender, *arguments))
            except Failed as error:
                figures[contender.name][load] = {"wrong": str(error)}
    return figures


def rows(measured_run):
    """Of the clients that watch, of the starts, and why some are missing."""
    watched, started, reasons = [], [], []
    for load in LOADS:
        for name, contender in measured_run["contenders"].items():
            found = measured_run["figures"][name].get(load, {"wrong": "not run"})
            label = f"[{contender['label']}](../benches/{contender['source']})"
            if "wrong" in found:
                reasons.append(f"- {contender['label']}, {load.replace('_', ' ')}: not measured: {found['wrong']}.")
                continue
            delay = [f"{found['delay'][key]:,} ms" for key in ("median_ms", "p99_ms", "slowest_ms")]
            memory = f"{found['memory_after_mib']:,} MiB"
            if load.startswith("watch"):
                counts = [f"{found[key]:,}" for key in ("events", "missed")]
                watched.append([f"{found['clients']:,}", label, *counts, *delay, memory])
                # Of LangGraph's server it was always known which event is the last one.
                if name == "ours" and "last_event" not in found:
                    reasons.append(
                        f"- {contender['label']}, {load.replace('_', ' ')}: events that were missing at the end of a stream are"
                        " not among the missed ones, nor are clients whose connection was cut among those that failed: this"
                        " run was before they were counted."
                    )
                if failed := found["clients_that_failed"]:
                    reasons.append(f"- {contender['label']}, {load.replace('_', ' ')}: {failed} clients failed.")
                continue
            done = found["done_after_seconds"]
            done = "not within 120 s" if done is None else f"{done:.2f} s"
            started.append([label, f"{found['started']:,}", *delay, done, memory])
    return watched, started, reasons


WATCHING = """## Server

The server is a process of its own, and so are its clients, on the same machine. Ours stores in SQLite in a file, with
`synchronous = FULL`; LangGraph's dev server (`langgraph dev`, as it comes) keeps all in memory and writes it to a file now
and then, so it is a server for development and ours is not: the figures say what a client sees, not which store is faster.
Measured only by `benches/run server`.

**Watching**: clients that watch one execution over SSE, with a step every 100 ms, and 50 more that never read. The delay
is from when an event is made, as its time or its id says, until a client has it. Ours sends several events for each step,
LangGraph's (`stream_mode="updates"`) one. *Missed* is what clients did not get, also because they connected late.
"""

STARTING = """
**Starting**: 200 executions of three steps a second, started over HTTP for 5 s. The delay is from when a start was due
until the server has confirmed it; *all done* is from the first start until nothing runs or waits any more.
"""
