"""What the tool of every agent calls, and how agents are measured and killed, all as in `contenders/agents-service`.

The agents are asked by a model that answers at once: it calls the tool in so many turns, and then answers.
"""

import os
import signal
import statistics
import sys
import time
from pathlib import Path

QUESTION = "What do I need in Bergen?"
ANSWER = "Take an umbrella."
# How often a duration is measured at least.
LEAST_RUNS = 3
LOG = os.environ.get("AGENT_LOG")
KILL = int(os.environ.get("AGENT_KILL", 0))


def forecast(town):
    happens("tool")
    if town != "Bergen":
        raise ValueError(f"there is no town `{town}`")
    return "rain, 9 degrees"


def happens(what):
    """Writes down that the model or the tool was called. If it is the call that is counted, the process is killed."""
    if LOG is None:
        return
    with Path(LOG).open("a", encoding="utf-8") as log:
        log.write(f"{what}\n")
    if len(Path(LOG).read_text(encoding="utf-8").splitlines()) == KILL:
        os.kill(os.getpid(), signal.SIGKILL)


def calls_the_tool(messages, turns):
    """Whether the model calls the tool once more, where it is asked with so many messages."""
    return messages < 1 + 2 * turns


def main(cases, run):
    """`cases` makes of turns a function that asks the agent; `run` asks it with turns, and goes on with what was left."""
    if sys.argv[1] == "run":
        answered(run(int(sys.argv[2])))
        return
    _, _, case, turns, milliseconds = sys.argv
    ask = cases[case](int(turns))
    print(round(nanoseconds_per_turn(int(turns), int(milliseconds), ask), 1))


def nanoseconds_per_turn(turns, milliseconds, ask):
    taken = []
    answered(ask())
    began = time.perf_counter_ns()
    while len(taken) < LEAST_RUNS or time.perf_counter_ns() < began + milliseconds * 1_000_000:
        start = time.perf_counter_ns()
        answer = ask()
        taken.append(time.perf_counter_ns() - start)
        answered(answer)
    return statistics.median(taken) / turns


def answered(answer):
    if answer != ANSWER:
        raise ValueError(f"the agent answers {answer!r}")
