import sqlite3

from langchain.agents import create_agent
from langchain.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from service import forecast


@tool
def weather(town: str) -> str:
    """Says what the weather is.

    Args:
        town: The name of a town.
    """
    return forecast(town)


def open_saver(file):
    return SqliteSaver(sqlite3.connect(file, check_same_thread=False))


def agent(model, saver=None):
    return create_agent(model, tools=[weather], checkpointer=saver)


def ask(graph, conversation, question, turns):
    config = {"configurable": {"thread_id": conversation}, "recursion_limit": 2 * turns}
    if graph.get_state(config).next:
        state = None  # continues what a process that died has left
    else:
        state = {"messages": [{"role": "user", "content": question}]}
    answer = graph.invoke(state, config, durability="sync")
    return answer["messages"][-1].content
