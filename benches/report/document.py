"""Writes `docs/benchmarks.md` and its plots from the figures of the last two runs."""

import shutil
import statistics
import textwrap
from dataclasses import dataclass

from compile.generate import case_name
from compile.measure import CAP_SECONDS, ROUNDS, SIZED, SLOW_SECONDS, SPREAD, TIMED
from python.harness import SLOW_SECONDS as SINGLE_RUN_SECONDS
from report import agents, plot, results, server, stores, targets
from report.contenders import BENCHES, LABELS, is_own
from report.workloads import WORKLOADS

DOCUMENT = BENCHES.parent / "docs" / "benchmarks.md"
PLOTS = DOCUMENT.parent / "benchmarks"
CAUSES = BENCHES / "causes.md"
BARE = LABELS["by_hand_bare"]
COMPILED = {"ours": "ours", "by_hand": BARE, "floxide": "floxide"}

INTRODUCTION = """# Benchmarks

Written by `benches/run`, which measures all of it; nothing here is written by hand but the reasons for what falls
short. [`benches/README.md`] says how to run it and parts of it.

[`benches/README.md`]: ../benches/README.md

What a contender does in a workload, and what has to come out, is the same for all
([`workload.rs`](../benches/harness/src/workload.rs)), and is checked before anything is measured. The work of a node is
an addition, so that what is seen is the cost of the library. *By hand* is what a careful programmer writes instead of a
flow: a loop over a `match`, a struct as the state, a `Result` that names the node that failed, and a limit on the steps.
*Bare* leaves the last two out; *boxed* calls boxed futures through a table. *Ours, loaded* is the same flow, loaded from
its document: a run begins and ends with JSON, so a step takes what a run takes longer than that of one node. The value
of 64 KiB is bytes, and a text where a library keeps its values as JSON. Each name in a table links to the source.
"""

# A count differs by what the allocator and the hash seeds happen to do.
COUNT_NOISE = 0.01
# Of a ratio of compile times that is taken once.
COMPILE_NOISE = 0.1
REPRODUCED = f"""## Reproduced

The last run against one before it, of another day where there is one. Times are compared as the table above has them,
against ours, compile times against {BARE}, durable runs against LangGraph: absolute times differ by more from
one hour to the next than by anything that is measured here. Within noise: the ranges of the rounds meet, where a ratio of
compile times that is taken once may be off by {COMPILE_NOISE:.0%}; counts differ by at most {2 * COUNT_NOISE:.0%}.

"""

HOW = f"""## How it is measured

- **Time**: each contender has its turn in each of several rounds, so that noise hits all alike. A turn is the median of
  samples of a millisecond or more; the figure is the median of the rounds, the range that of the rounds. A run that
  takes half a second or more has *one round*, of three runs; in Python, one that takes more than {SINGLE_RUN_SECONDS} s
  is *one run*, with none before it to warm up.
- **Instructions**: what callgrind counts of n runs, less what it counts of none. They repeat, so they are what is aimed
  at and what CI compares (`benches/check`). Not counted: what runs on several threads, the loading of a document, and
  Python. The same commit may be compiled otherwise in another directory: that was seen of statig with an observer, not
  of ours or by hand.
- **Allocations**: of a counting allocator, in a program of its own, per run, on the thread that runs. Not counted: what
  runs on several threads, the loading of a document, and Python.
- **Python** has one thread: where Rust has two workers it has an event loop.
- **Compile time**: `cargo check` and `cargo build` of a program with the flows, its dependencies built before, without
  incremental compilation, debug profile; the median of {ROUNDS} rounds in which each program has its turn, or once if it
  takes longer than {SLOW_SECONDS} s; at most {CAP_SECONDS} s. Out of memory: the system killed rustc. Each node is
  another function or type and makes another value. Processor time and the time in expansion are from the same calls,
  the latter as rustc's `-Ztime-passes` gives it. Ratios are of processor time, the median of those of each round. rustc's
  instructions are those that callgrind counts. By hand, bare: a struct, an enum and a loop, without a `Result`, a limit
  on the steps or tokio.
- **Size**: of the stripped release program.
"""


def write():
    newest, earlier = (
        {part: next(iter(results.runs(part)[which:]), None) for part in results.PARTS + results.NAMED_PARTS}
        for which in (0, 1)
    )
    figures = targets.Figures(newest)
    shutil.rmtree(PLOTS, ignore_errors=True)
    PLOTS.mkdir(parents=True)
    sections = [
        INTRODUCTION,
        machine(newest),
        aims(figures, targets.Figures(earlier)),
        CAUSES.read_text(encoding="utf-8"),
        overview(figures),
        *(section for workload in WORKLOADS if (section := of_workload(figures, workload))),
        durable(figures),
        served(newest["server"]),
        stored(newest["stores"]),
        of_agents(newest["agents"]),
        compiled(figures),
        reproduced(),
        HOW,
    ]
    DOCUMENT.write_text("\n".join(section for section in sections if section), encoding="utf-8")


def table(head, rows, left=1):
    """The first `left` columns are texts, the rest are numbers."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    lines = [head, marks, *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def machine(newest):
    """Of each part, as they can be of different runs."""
    rows = [
        [
            part,
            run["date"],
            f"`{run['commit']}`",
            f"{run['processor']}, {run['cores']} cores, {run['memory']}",
            run["kernel"],
            run["rustc"].split(" (")[0],
            run["python"],
            f"{run['took_seconds']} s",
        ]
        for part, run in newest.items()
        if run
    ]
    head = ["part", "date", "commit", "machine", "kernel", "compiler", "Python", "took"]
    text = "## Machine and versions\n\n" + table(head, rows, left=len(head))
    text += "\nA `+` after the commit: with changes that are not in it.\n"
    libraries = {}
    for run in newest.values():
        for contender in run["contenders"].values() if run else ():
            if contender["version"] and "missing" not in contender:
                libraries[contender["label"]] = contender["version"]
    if libraries:
        listed = ", ".join(f"{label} {version}" for label, version in libraries.items())
        text += "\n" + textwrap.fill(f"Libraries: {listed}.", 120) + "\n"
    return text


def aims(figures, earlier):
    aimed = targets.all_of(figures)
    before = {aim.what: aim.reached for aim in targets.all_of(earlier)}
    judgements = {True: "met", False: "**missed**", None: "–"}
    rows = [
        [aim.what, aim.limit, aim.reached, judgements[aim.is_met], before.get(aim.what, "–")] for aim in aimed
    ]
    head = ["what", "aimed at", "reached", "", "in the run before"]
    text = "## What is aimed at\n\n" + table(head, rows, left=len(head))
    missed, unknown = (sum(aim.is_met is state for aim in aimed) for state in (False, None))
    return text + (
        f"\nOf {len(rows)}: {len(rows) - missed - unknown} met, {missed} missed, {unknown} not measured.\n"
    )


def overview(figures):
    """How many times as long as ours."""
    contenders = figures.contenders("times")
    if not contenders:
        return ""
    head = ["time / ours", *(workload.name for workload in WORKLOADS)]
    rows = []
    for name, contender in contenders.items():
        cells = []
        for workload in WORKLOADS:
            ratio = targets.quotient(
                figures.nanoseconds(name, workload.name),
                figures.nanoseconds("ours", workload.name),
            )
            cells.append(times_as(ratio))
        rows.append([contender["label"], *cells])
    text = "## Time, against ours\n\n" + table(head, rows)
    return text + "\nA dash: it cannot be expressed, or is not measured. The reasons are below.\n"


def of_workload(figures, workload):
    contenders = figures.contenders("times")
    found = figures.of("times")
    if not contenders:
        return ""
    rows, bars, reasons = [], [], []
    for name, contender in contenders.items():
        figure = found[name].get(workload.name, {})
        label = contender["label"]
        if reason := figure.get("unsupported"):
            reasons.append(f"- {label}: {reason}.")
        elif reason := figure.get("wrong"):
            reasons.append(f"- {label}: not measured: {reason}.")
        if "ns" not in figure:
            continue
        for part in ("instructions", "allocations"):
            if reason := figures.why_not(part, name, workload.name):
                reasons.append(f"- {label}: {part} not counted: {reason}.")
        ns = figure["ns"]
        per_step = ns / workload.transitions
        counted = figures.instructions(name, workload.name)
        ratios = [
            times_as(targets.quotient(ns, figures.nanoseconds(other, workload.name)))
            for other in ("by_hand", "ours")
        ]
        counted_ratios = [
            times_as(targets.quotient(counted, figures.instructions(other, workload.name)))
            for other in ("by_hand", "ours")
        ]
        rows.append(
            [
                f"[{label}](../benches/{contender['source']})",
                duration(ns),
                spread(figure, contender),
                duration(per_step),
                *ratios,
                "–" if counted is None else f"{counted:,}",
                *counted_ratios,
                allocated(figures.allocations(name, workload.name)),
            ]
        )
        bars.append((label, per_step, duration(per_step), kind(name, contender)))
    head = [
        "",
        "run",
        "range",
        "transition",
        "/ by hand",
        "/ ours",
        "instructions",
        "/ by hand",
        "/ ours",
        "allocations",
    ]
    bars.sort(key=lambda bar: bar[1])
    title = f"{workload.title}: time per transition"
    text = f"## {workload.title}\n"
    if rows:
        saved(workload.name, plot.bars(title, bars, duration))
        text += f"\n![{title}](benchmarks/{workload.name}.svg)\n\n" + table(head, rows)
    return text + bullets(reasons)


def durable(figures):
    contenders = figures.contenders("durable")
    if not contenders:
        return ""
    found = figures.of("durable")
    rows, bars, reasons = [], [], []
    for name, contender in contenders.items():
        steps = found[name].get("steps")
        if steps is None:
            reason = found[name].get("wrong") or found[name]["unsupported"]
            reasons.append(f"- {contender['label']}: not measured: {reason}.")
            continue
        rows.append(
            [
                f"[{contender['label']}](../benches/{contender['source']})",
                f"{steps:,.0f}",
                f"{found[name]['low']:,.0f} – {found[name]['high']:,.0f}",
                duration(1e9 / steps),
                times_as(targets.quotient(steps, figures.steps("langgraph_python"))),
            ]
        )
        bars.append((contender["label"], steps, f"{steps:,.0f}", kind(name, contender)))
    bars.sort(key=lambda bar: -bar[1])
    title = "Durable chain: steps per second (more is better)"
    text = """## Durable chain

The chain of 10 nodes, with what each step came to on the disk before the next one starts: SQLite in a file, in mode
WAL, with `synchronous = FULL`, a run of its own each time. LangGraph runs with `durability="sync"`. SQLite by hand is
a row for each step, each in a transaction of its own. The disk alone is 4 KiB written and synced for each step: how fast
a disk syncs decides these figures, and how far they are apart.
"""
    if rows:
        saved("durable", plot.bars(title, bars, lambda power: f"{power:,.0f}"))
        text += f"\n![{title}](benchmarks/durable.svg)\n\n"
        text += table(["", "steps per second", "range", "a step", "/ LangGraph"], rows)
    text += bullets(reasons)
    if "ours" not in contenders:
        text += "\nOurs is not measured yet.\n"
    return text


def served(run):
    if run is None:
        return ""
    watched, started, reasons = server.rows(run)
    delays = ["median", "p99", "slowest"]
    text = server.WATCHING
    if watched:
        head = ["clients", "", "events", "missed", *delays, "memory after"]
        text += "\n" + table(head, watched, left=2)
    text += server.STARTING
    if started:
        text += "\n" + table(["", "started", *delays, "all done", "memory after"], started)
    return text + bullets(reasons)


def stored(run):
    if run is None:
        return ""
    each, scaled, on_postgres, reasons = stores.rows(run)
    text = stores.STORES + "\n"
    text += table(["", "one at once", "eight at once", "executions per second"], each)
    text += stores.SCALED_TEXT + "\n" + table(["", "one process", "two", "four", "seen elsewhere after"], scaled)
    head = ["", "one at once", "/ ours", "eight at once", "/ ours", "transactions a step"]
    text += stores.POSTGRES_TEXT + "\n" + table(head, on_postgres)
    return text + bullets(reasons)


def of_agents(run):
    if run is None:
        return ""
    turns, kills, reasons = agents.rows(run)
    text = agents.AGENTS + "\n"
    head = [cell for count in agents.TURNS for cell in (f"{count} turns" if count > 1 else "1 turn", "/ ours")]
    text += table(["", *head], turns) + agents.KILLED
    head = [f"{what} {place // 2 + 1}" for place, what in enumerate(agents.CALLS)]
    text += "\n" + table(["killed at", *head, "all"], kills)
    return text + bullets(reasons)


def compiled(figures):
    if not figures.of("compile"):
        return ""
    text = "## Compile time\n"
    for command in ("check", "build"):
        rows, bars = [], []
        for case in TIMED:
            cells = []
            for variant, label in COMPILED.items():
                found = figures.compiled(variant, case_name(*case), command)
                ratio = over_by_hand(found, figures.compiled("by_hand", case_name(*case), command))
                cells += [
                    seconds(found),
                    clock(found.get("processor")),
                    clock(found.get("expansion")),
                    times_as(ratio and ratio.value),
                ]
                value = found.get("seconds") or found.get("over")
                if value:
                    bars.append(
                        (f"{label}, {described(case)}", value, seconds(found), compiled_kind(variant))
                    )
            rows.append([described(case), *cells])
        head = ["flows"]
        for label in COMPILED.values():
            head += [label, "processor", "expansion", f"/ {BARE}"]
        title = f"cargo {command}"
        saved(f"cargo_{command}", plot.bars(title, bars, lambda power: clock(power)))
        text += f"\n### `cargo {command}`\n\n![{title}](benchmarks/cargo_{command}.svg)\n\n"
        text += table(head, rows)
    text += rustc_instructions(figures)
    text += "\n### Size of the program\n\n" + sizes(figures)
    return text


def over_by_hand(found, floor):
    """How many times the processor time of the other, in each round by itself, as the machine is now faster, now slower."""
    if not found.get("processor") or not floor.get("processor"):
        return None
    if "rounds" not in found or "rounds" not in floor:
        return Compared.within(found["processor"] / floor["processor"], COMPILE_NOISE)
    ratios = [mine / theirs for mine, theirs in zip(found["rounds"], floor["rounds"])]
    if len(ratios) == 1:
        return Compared.within(ratios[0], COMPILE_NOISE)
    return Compared(statistics.median(ratios), min(ratios), max(ratios))


def rustc_instructions(figures):
    """Those of a check, which repeat as times do not."""
    rows = []
    for case in TIMED:
        ours, by_hand = (
            figures.compiled(variant, case_name(*case), "check").get("instructions")
            for variant in ("ours", "by_hand")
        )
        if ours and by_hand:
            nodes = case[0] * case[1]
            rows.append(
                [
                    described(case),
                    *(f"{count / 1e6:,.0f}" for count in (ours, ours / nodes, by_hand, by_hand / nodes)),
                    times_as(ours / by_hand),
                ]
            )
    if not rows:
        return ""
    head = ["millions", "ours", "for each node", BARE, "for each node", f"/ {BARE}"]
    return "\n### Instructions of rustc, `cargo check`\n\n" + table(head, rows)


def sizes(figures):
    empty, one, many = (case_name(*case) for case in SIZED)
    rows = []
    for variant, label in COMPILED.items():
        found = figures.of("compile")[variant]["bytes"]
        more = (found[many] - found[one]) / (SPREAD[0] - 1)
        rows.append(
            [
                label,
                *(f"{found[case]:,}" for case in (empty, one, many)),
                f"{found[one] - found[empty]:,}",
                f"{more:,.0f}",
            ]
        )
    head = ["bytes", "no flow", "1 flow of 10 nodes", "20 of them", "for the first", "for each more"]
    return table(head, rows)


def reproduced():
    """How far the last two runs of each part are apart."""
    rows, outside = [], []
    for part in results.PARTS:
        runs = results.runs(part)
        if len(runs) < 2:
            continue
        last, earlier = (dict(COMPARED[part](run["figures"])) for run in runs)
        shared = sorted(last.keys() & earlier.keys())
        if not shared:
            continue
        differences = {name: last[name].difference(earlier[name]) for name in shared}
        largest = max(shared, key=differences.get)
        apart = [name for name in shared if not last[name].meets(earlier[name])]
        if apart:
            outside.append(f"- Not within it, {part}: {'; '.join(apart)}.")
        rows.append(
            [
                part,
                *(f"{run['date']} `{run['commit']}`" for run in (runs[1], runs[0])),
                f"{len(shared) - len(apart)} of {len(shared)}",
                f"{statistics.median(differences.values()):.1%}",
                f"{differences[largest]:.1%} ({largest})",
            ]
        )
    if not rows:
        return ""
    head = ["part", "earlier", "last", "within noise", "middle difference", "largest difference"]
    return REPRODUCED + table(head, rows, left=3) + bullets(outside)


@dataclass(frozen=True)
class Compared:
    """A figure and the range that it was seen in."""

    value: float
    low: float
    high: float

    @staticmethod
    def of(found, name):
        return Compared(found[name], found["low"], found["high"])

    @staticmethod
    def within(value, noise):
        return Compared(value, value / (1 + noise), value * (1 + noise))

    def over(self, other):
        return Compared(self.value / other.value, self.low / other.high, self.high / other.low)

    def meets(self, other):
        return self.low <= other.high and other.low <= self.high

    def difference(self, other):
        if self.value == other.value:
            return 0.0
        least, most = sorted([self.value, other.value])
        return most / least - 1 if least else float("inf")


def compared_times(figures):
    for contender, found in figures.items():
        for workload, time in found.items():
            ours = figures["ours"].get(workload, {})
            if contender != "ours" and "ns" in time and "ns" in ours:
                yield f"{contender}, {workload}", Compared.of(time, "ns").over(Compared.of(ours, "ns"))


def compared_steps(figures):
    langgraph = figures.get("langgraph_python", {})
    for contender, found in figures.items():
        if contender != "langgraph_python" and "steps" in found and "steps" in langgraph:
            yield contender, Compared.of(found, "steps").over(Compared.of(langgraph, "steps"))


def compared_counts(figures):
    for contender, found in figures.items():
        for workload, count in found.items():
            value = count.get("count") if isinstance(count, dict) else count
            if value is not None:
                yield f"{contender}, {workload}", Compared.within(value, COUNT_NOISE)


def compared_compile_times(figures):
    by_hand = figures["by_hand"]
    for variant, found in figures.items():
        for case, commands in found.items():
            if case == "bytes":
                continue
            if count := commands.get("check", {}).get("instructions"):
                yield f"{variant}, {case}, instructions", Compared.within(count, COUNT_NOISE)
            for command, taken in commands.items() if variant != "by_hand" else ():
                if ratio := over_by_hand(taken, by_hand.get(case, {}).get(command, {})):
                    yield f"{variant}, {case}, {command}", ratio


COMPARED = {
    "times": compared_times,
    "allocations": compared_counts,
    "instructions": compared_counts,
    "durable": compared_steps,
    "compile": compared_compile_times,
}


def saved(name, svg):
    (PLOTS / f"{name}.svg").write_text(svg, encoding="utf-8")


def kind(name, contender):
    if name in ("ours", "loaded"):
        return "ours"
    if is_own(contender["source"]):
        return "hand"
    return contender["language"].lower()


def compiled_kind(variant):
    return {"ours": "ours", "by_hand": "hand"}.get(variant, "rust")


def described(case):
    flows, nodes = case
    return f"{nodes} nodes" if flows == 1 else f"{flows} × {nodes} nodes"


def bullets(reasons):
    return "\n" + "\n".join(reasons) + "\n" if reasons else ""


def spread(figure, contender):
    if figure["low"] < figure["high"]:
        return f"{duration(figure['low'])} – {duration(figure['high'])}"
    single = contender["language"] == "Python" and figure["ns"] > SINGLE_RUN_SECONDS * 1e9
    return "one run" if single else "one round"


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{digits(nanoseconds / size)} {unit}"
    return f"{digits(nanoseconds)} ns"


def digits(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def seconds(found):
    if over := found.get("over"):
        return f"> {over} s"
    if found.get("killed"):
        return "out of memory"
    return clock(found.get("seconds"))


def clock(value):
    return "–" if value is None else f"{digits(value)} s"


def times_as(ratio):
    if ratio is None:
        return "–"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}"


def allocated(count):
    if count is None:
        return "–"
    return f"{count:,.0f}" if count == int(count) else f"{count:,.2f}"
