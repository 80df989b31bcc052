"""The workloads with LangGraph: what needs no waiting with `invoke`, the rest with `ainvoke`."""

import asyncio
import operator
from typing import Annotated, TypedDict

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

import harness


class Total(TypedDict):
    total: int
    limit: int


class Value(TypedDict):
    value: int


class Payload(TypedDict):
    payload: bytearray


Branches = TypedDict("Branches", {"value": int, **dict.fromkeys(harness.BRANCHES, int), "sum": int})


class Batch(TypedDict):
    items: list[int]
    results: Annotated[list[int], operator.add]


def add(state):
    return {"total": state["total"] + 1}


def checked_add(state):
    return {"total": harness.checked_add(state["total"])}


async def waiting_add(state):
    await asyncio.sleep(0)
    return {"total": state["total"] + 1}


def touch(state):
    return {"payload": harness.touch(state["payload"])}


def check(state):
    return "done" if state["total"] >= state["limit"] else "again"


def chain(schema, nodes):
    """`nodes` by name, in their order."""
    graph = StateGraph(schema)
    names = list(nodes)
    for name in names:
        graph.add_node(name, nodes[name])
    for from_, to in zip([START, *names], [*names, END]):
        graph.add_edge(from_, to)
    return graph.compile()


def chain_of(schema, node):
    return chain(schema, dict.fromkeys(harness.CHAIN_NODES, node))


def total_task(graph, config=None):
    return harness.task(lambda total: graph.invoke({"total": total}, config)["total"])


def loop_task(**config):
    graph = StateGraph(Total)
    graph.add_node("one", add)
    graph.add_node("check", lambda state: {})
    graph.add_edge(START, "one")
    graph.add_edge("one", "check")
    graph.add_conditional_edges("check", check, {"again": "one", "done": END})
    compiled = graph.compile()
    config["recursion_limit"] = 3 * harness.ROUNDS

    def run(total):
        return compiled.invoke({"total": total, "limit": total + harness.ROUNDS}, config)["total"]

    return harness.task(run)


class Ignorant(BaseCallbackHandler):
    """An observer that ignores everything."""


def branch():
    graph = StateGraph(Value)
    graph.add_node("choose", lambda state: {})
    graph.add_node("left", lambda state: {"value": state["value"] + 1})
    graph.add_node("middle", lambda state: {"value": state["value"] + 2})
    graph.add_node("right", lambda state: {"value": state["value"] + 3})
    graph.add_node("meet", lambda state: {"value": state["value"] * 2})
    graph.add_edge(START, "choose")
    graph.add_conditional_edges(
        "choose", lambda state: harness.way(state["value"]), ["left", "middle", "right"]
    )
    for way in ("left", "middle", "right"):
        graph.add_edge(way, "meet")
    graph.add_edge("meet", END)
    compiled = graph.compile()
    return harness.task(lambda value: compiled.invoke({"value": value})["value"])


def fork():
    graph = StateGraph(Branches)

    def adding(name, more):
        async def node(state):
            return {name: state["value"] + more}

        return node

    async def add_up(state):
        return {"sum": sum(state[name] for name in harness.BRANCHES)}

    for name, more in harness.BRANCHES.items():
        graph.add_node(f"add_{name}", adding(name, more))
        graph.add_edge(START, f"add_{name}")
    graph.add_node("add_up", add_up)
    graph.add_edge([f"add_{name}" for name in harness.BRANCHES], "add_up")
    graph.add_edge("add_up", END)
    compiled = graph.compile()

    async def run(value):
        return (await compiled.ainvoke({"value": value}))["sum"]

    return harness.async_task(run)


def nested():
    innermost = chain(Total, dict.fromkeys(["four", "five", "six", "seven"], add))
    inner = chain(
        Total,
        {"two": add, "three": add, "innermost": innermost, "eight": add, "nine": add},
    )
    return total_task(chain(Total, {"one": add, "inner": inner, "ten": add}))


def payload():
    graph = chain_of(Payload, touch)
    return harness.payload_task(lambda value: graph.invoke({"payload": value})["payload"])


def batch(node):
    graph = StateGraph(Batch)
    graph.add_node("doubled", node)
    graph.add_conditional_edges(
        START, lambda state: [Send("doubled", item) for item in state["items"]], ["doubled"]
    )
    graph.add_edge("doubled", END)
    compiled = graph.compile()
    config = {"max_concurrency": harness.BATCH_CONCURRENCY}
    items = list(range(harness.BATCH_ITEMS))

    async def run(_seed):
        state = await compiled.ainvoke({"items": items, "results": []}, config)
        return sum(state["results"])

    return harness.async_task(run)


async def doubled(item):
    return {"results": [item * 2]}


async def slowly_doubled(item):
    await asyncio.sleep(0)
    return {"results": [item * 2]}


def concurrent():
    graph = chain_of(Total, waiting_add)

    async def run(total):
        runs = (graph.ainvoke({"total": total}) for _ in range(harness.CHAINS))
        return sum(state["total"] for state in await asyncio.gather(*runs))

    return harness.async_task(run)


harness.main(
    {
        "single": lambda: total_task(chain(Total, {"one": add})),
        "chain": lambda: total_task(chain_of(Total, add)),
        "fallible_chain": lambda: total_task(chain_of(Total, checked_add)),
        "loop": loop_task,
        "branch": branch,
        "fork": fork,
        "nested": nested,
        "payload": payload,
        "batch": lambda: batch(doubled),
        "waiting_batch": lambda: batch(slowly_doubled),
        "concurrent": concurrent,
        "observed": lambda: loop_task(callbacks=[Ignorant()]),
        "observed_chain": lambda: total_task(chain_of(Total, add), {"callbacks": [Ignorant()]}),
        "load": "a graph is built in Python",
    }
)
