"""What is aimed at, and whether it is reached."""

import math
from dataclasses import dataclass

from report import agents
from report.contenders import is_own
from report.workloads import BY_NAME, WORKLOADS

STEPWISE = ["chain", "fallible_chain", "loop", "branch", "payload"]


@dataclass(frozen=True)
class Target:
    what: str
    limit: str
    reached: str
    is_met: bool | None = None


class Figures:
    """The newest figures of all parts."""

    def __init__(self, newest):
        self.newest = newest

    def of(self, part):
        return self.newest[part]["figures"] if self.newest.get(part) else {}

    def nanoseconds(self, contender, workload):
        return self.time(contender, workload).get("ns")

    def time(self, contender, workload):
        return self.of("times").get(contender, {}).get(workload, {})

    def instructions(self, contender, workload):
        count = self.of("instructions").get(contender, {}).get(workload)
        return None if isinstance(count, dict) else count

    def why_not(self, part, contender, workload):
        found = self.of(part).get(contender, {}).get(workload)
        return found.get("wrong") if isinstance(found, dict) else None

    def allocations(self, contender, workload):
        return self.of("allocations").get(contender, {}).get(workload, {}).get("count")

    def steps(self, contender):
        return self.of("durable").get(contender, {}).get("steps")

    def compiled(self, variant, case, command):
        return self.of("compile").get(variant, {}).get(case, {}).get(command, {})

    def contenders(self, part):
        return self.newest[part]["contenders"] if self.newest.get(part) else {}


def all_of(figures):
    return [
        *(at_most(figures, name, "by_hand", 1.3) for name in STEPWISE),
        *(at_most(figures, name, "by_hand_bare", 3.0) for name in STEPWISE),
        *(no_allocation(figures, name) for name in STEPWISE),
        nested(figures),
        at_most(figures, "fork", "by_hand", 1.5),
        at_most(figures, "batch", "by_hand", 1.2),
        *observers(figures),
        *loaded(figures),
        *others(figures),
        *compile_times(figures),
        durable(figures),
        *on_postgres(figures),
        *of_agents(figures),
    ]


def judged(what, limit, value, unit, is_met):
    if value is None:
        return Target(what, limit, "not measured")
    return Target(what, limit, written(value, is_met) + unit, is_met(value))


def written(value, is_met=lambda _: True):
    """Three digits, and more where what is written would be judged otherwise."""
    if value == int(value):
        return f"{value:,.0f}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    while is_met(round(value, decimals)) != is_met(value):
        decimals += 1
    return f"{value:,.{decimals}f}"


def quotient(dividend, divisor):
    return dividend / divisor if dividend is not None and divisor else None


def at_most(figures, workload, floor, limit):
    value = quotient(figures.instructions("ours", workload), figures.instructions(floor, workload))
    names = {"by_hand": "by hand", "by_hand_bare": "by hand, bare"}
    what = f"{BY_NAME[workload].title}: instructions, against {names[floor]}"
    return judged(what, f"at most {limit}", value, "", lambda value: value <= limit)


def no_allocation(figures, workload):
    count = figures.allocations("ours", workload)
    what = f"{BY_NAME[workload].title}: allocations"
    return judged(what, "0", count, "", lambda count: count == 0)


def nested(figures):
    value = quotient(figures.instructions("ours", "nested"), figures.instructions("ours", "chain"))
    what = "Flow in flow: instructions, against the flat chain"
    return judged(what, "at most 1.1", value, "", lambda value: value <= 1.1)


def observers(figures):
    for observed, plain in (("observed", "loop"), ("observed_chain", "chain")):
        what = f"{BY_NAME[plain].title}: what an observer that ignores everything adds to a step"
        with_it, without = (figures.time("ours", name) for name in (observed, plain))
        value, unit = None, ""
        if "ns" in with_it and "ns" in without:
            value, least, most = (
                (with_it[figure] - without[other]) / BY_NAME[plain].transitions
                for figure, other in (("ns", "ns"), ("low", "high"), ("high", "low"))
            )
            unit = f" ns ({written(least)} to {written(most)})"
        yield judged(what, "at most 5 ns", value, unit, lambda value: value <= 5)


def loaded(figures):
    """A step of a loaded flow, which is what the steps after the first one take, against one that is boxed by hand."""

    def of_steps(figure, contender, workload):
        run, single = (figure(contender, name) for name in (workload, "single"))
        return run - single if run is not None and single is not None else None

    for unit, figure in (("instructions", figures.instructions), ("time", figures.nanoseconds)):
        for workload in ("chain", "loop", "branch"):
            steps = (of_steps(figure, name, workload) for name in ("loaded", "by_hand_boxed"))
            value = quotient(*steps)
            what = f"{BY_NAME[workload].title}, loaded: {unit} of a step, against by hand, boxed"
            yield judged(what, "at most 2.5", value, "", lambda value: value <= 2.5)
    for other in ("pocketflow_rs", "graph_flow", "pocketflow_python"):
        ratios = [
            quotient(figures.nanoseconds(other, workload), figures.nanoseconds("loaded", workload))
            for workload in ("chain", "loop", "branch")
        ]
        least = None if None in ratios else min(ratios)
        label = figures.contenders("times").get(other, {}).get("label", other)
        what = f"{label}: times slower than a loaded chain, loop and branch, where it comes nearest"
        yield judged(what, "more than 1", least, "", lambda value: value > 1)
    load = figures.nanoseconds("loaded", "load")
    seconds = load / 1e9 if load is not None else None
    yield judged(f"{BY_NAME['load'].title}", "under 1 s", seconds, " s", lambda value: value < 1)


def others(figures):
    """Of each other library, the workload where it comes nearest."""
    for name, contender in figures.contenders("times").items():
        if is_own(contender["source"]):
            continue
        limit = 1_000 if contender["language"] == "Python" else 50
        ratios = [
            (ratio, workload)
            for workload in WORKLOADS
            if (
                ratio := quotient(
                    figures.nanoseconds(name, workload.name),
                    figures.nanoseconds("ours", workload.name),
                )
            )
        ]
        what = f"{contender['label']}: times slower than ours, where it comes nearest"
        if not ratios:
            yield Target(what, f"at least {limit:,}", "not measured")
            continue
        least, workload = min(ratios, key=lambda pair: pair[0])
        slower = sum(ratio >= limit for ratio, _ in ratios)
        nearest = written(least, lambda value: value >= limit)
        reached = f"{nearest} ({workload.name}); {slower} of {len(ratios)} workloads reach it"
        is_met = least >= limit
        failed = [
            workload.name
            for workload in WORKLOADS
            if any("wrong" in figures.time(contender, workload.name) for contender in (name, "ours"))
        ]
        if failed:
            reached += f"; not measured: {', '.join(failed)}"
            # It could come nearer in one of these.
            is_met = None if is_met else False
        yield Target(what, f"at least {limit:,}", reached, is_met)


def compile_times(figures):
    """Ratios are of instructions, which repeat."""

    def checked(case, figure):
        return figures.compiled("ours", case, "check").get(figure)

    yield judged(
        "`cargo check` of a flow of 300 nodes",
        "under 1 s",
        checked("flows_1_of_300", "seconds"),
        " s",
        lambda value: value < 1,
    )
    of_300, of_600, spread, whole = (
        checked(case, "instructions")
        for case in ("flows_1_of_300", "flows_1_of_600", "flows_20_of_10", "flows_1_of_200")
    )
    yield judged(
        "`cargo check` of 600 nodes, against 300 (linear is 2): instructions of rustc",
        "at most 2.2",
        quotient(of_600, of_300),
        "",
        lambda value: value <= 2.2,
    )
    yield judged(
        "`cargo check` of 20 flows of 10 nodes, against one of 200: instructions of rustc",
        "at most 1",
        quotient(spread, whole),
        "",
        lambda value: value <= 1,
    )


def on_postgres(figures):
    """With one execution at once, and with eight."""
    for case, title in (("one", "one at once"), ("eight", "eight at once")):
        ours, dbos, by_hand = (
            figures.of("stores").get(name, {}).get(case, {}).get("steps")
            for name in ("ours_postgres", "dbos", "by_hand")
        )
        what = f"Postgres, {title}: steps per second, against DBOS"
        yield judged(what, "at least 3", quotient(ours, dbos), "", lambda value: value >= 3)
        what = f"Postgres, {title}: times slower than one insert a step by hand"
        yield judged(what, "at most 1.5", quotient(by_hand, ours), "", lambda value: value <= 1.5)


def durable(figures):
    value = quotient(figures.steps("ours"), figures.steps("langgraph_python"))
    what = "Durable chain: steps per second, against LangGraph's SqliteSaver"
    return judged(what, "at least 10", value, "", lambda value: value >= 10)


def of_agents(figures):
    """Kept in the same way, where LangGraph comes nearest."""
    for case, title in (("plain", "plain"), ("memory", "kept in memory"), ("sqlite", "kept in SQLite")):
        ratios = []
        for turns in agents.TURNS:
            theirs, ours = (
                agents.nanoseconds(figures.newest.get("agents"), name, case, turns) for name in ("langgraph", "ours")
            )
            if ratio := quotient(theirs, ours):
                ratios.append((ratio, turns))
        what = f"Agent, {title}: times that a turn of LangGraph's takes longer, where it comes nearest"
        if not ratios:
            yield Target(what, "at least 20", "not measured")
            continue
        least, turns = min(ratios)
        nearest = written(least, lambda value: value >= 20)
        yield Target(what, "at least 20", f"{nearest} ({turns} turns)", least >= 20)
