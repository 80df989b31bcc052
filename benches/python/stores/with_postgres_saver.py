"""The chain with LangGraph's PostgresSaver: each checkpoint is in Postgres before the next step starts. So many at once,
each in a thread with a connection of its own.

Prints how many ended, and the seconds that it took.
"""

import sys
import threading
import time
import uuid
from typing import TypedDict

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg import Connection
from psycopg.rows import dict_row

ADDRESS, AT_ONCE, SECONDS = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


class Total(TypedDict):
    total: int


def add(state):
    return {"total": state["total"] + 1}


def compiled():
    connection = Connection.connect(ADDRESS, autocommit=True, row_factory=dict_row)
    saver = PostgresSaver(connection)
    graph = StateGraph(Total)
    for name in NAMES:
        graph.add_node(name, add)
    for from_, to in zip([START, *NAMES], [*NAMES, END]):
        graph.add_edge(from_, to)
    return saver, graph.compile(checkpointer=saver)


def once(graph):
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    if graph.invoke({"total": 0}, config, durability="sync")["total"] != 10:
        raise ValueError("the chain did not come to 10")


saver, first = compiled()
saver.setup()
once(first)
graphs = [compiled()[1] for _ in range(AT_ONCE)]
began = time.monotonic()
counts = [0] * AT_ONCE


def repeat(place):
    while time.monotonic() < began + SECONDS:
        once(graphs[place])
        counts[place] += 1


threads = [threading.Thread(target=repeat, args=(place,)) for place in range(AT_ONCE)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(counts), time.monotonic() - began)
