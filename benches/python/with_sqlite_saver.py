"""The durable chain: LangGraph's SqliteSaver on a file, each checkpoint on the disk before the next step starts.

Each run is a thread of its own. The file is made anew in the current directory.
"""

import sqlite3
import tempfile
from pathlib import Path
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

import harness


class Total(TypedDict):
    total: int


def add(state):
    return {"total": state["total"] + 1}


def chain():
    directory = tempfile.TemporaryDirectory(dir=".", prefix="durable-")
    database = Path(directory.name, "checkpoints.sqlite")
    connection = sqlite3.connect(database, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    graph = StateGraph(Total)
    names = harness.CHAIN_NODES
    for name in names:
        graph.add_node(name, add)
    for from_, to in zip([START, *names], [*names, END]):
        graph.add_edge(from_, to)
    compiled = graph.compile(checkpointer=SqliteSaver(connection))
    threads = iter(range(2**63))

    def run(total, _kept=directory):
        config = {"configurable": {"thread_id": str(next(threads))}}
        return compiled.invoke({"total": total}, config, durability="sync")["total"]

    return harness.task(run)


harness.main({"chain": chain})
