"""What LangGraph's dev server serves: the flows of `contenders/server`, as graphs."""

import asyncio
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class Ticking(TypedDict, total=False):
    left: int
    pause_ms: int
    begun: bool


async def begin(state: Ticking):
    await asyncio.sleep(3)
    return {"begun": True}


async def tick(state: Ticking):
    await asyncio.sleep(state["pause_ms"] / 1000)
    return {"left": state["left"] - 1}


def more(state: Ticking):
    return "tick" if state["left"] > 0 else END


ticks = StateGraph(Ticking)
ticks.add_node(begin)
ticks.add_node(tick)
ticks.add_edge(START, "begin")
ticks.add_conditional_edges("begin", more, ["tick", END])
ticks.add_conditional_edges("tick", more, ["tick", END])
ticks = ticks.compile()


class Numbers(TypedDict, total=False):
    number: int
    first: int
    second: int
    third: int


async def first(state: Numbers):
    return {"first": state["number"] + 1}


async def second(state: Numbers):
    return {"second": state["first"] * 2}


async def third(state: Numbers):
    return {"third": state["second"] - 1}


three = StateGraph(Numbers)
for before, node in [(START, first), ("first", second), ("second", third)]:
    three.add_node(node)
    three.add_edge(before, node.__name__)
three.add_edge("third", END)
three = three.compile()
