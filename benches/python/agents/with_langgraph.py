"""What a turn of LangGraph's `create_agent` takes; and the agent that is killed.

  with_langgraph.py time plain 10 300   nanoseconds per turn: plain, memory or sqlite, turns, milliseconds
  with_langgraph.py run 3               asks with three turns, and goes on with what a process that died has left here
"""

import itertools
import tempfile
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

import langgraph_agent
import service


class AtOnce(BaseChatModel):
    turns: int

    @property
    def _llm_type(self):
        return "at once"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        service.happens("model")
        message = AIMessage(service.ANSWER)
        if service.calls_the_tool(len(messages), self.turns):
            call = {"name": "weather", "args": {"town": "Bergen"}, "id": f"call_{len(messages)}"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def most(turns):
    """Twice this many steps are enough for so many turns and the answer."""
    return turns + 2


def plain(turns):
    graph = langgraph_agent.agent(AtOnce(turns=turns))
    question = {"messages": [{"role": "user", "content": service.QUESTION}]}
    config = {"recursion_limit": 2 * most(turns)}
    return lambda: graph.invoke(question, config)["messages"][-1].content


def saved(turns, saver, kept=None):
    graph = langgraph_agent.agent(AtOnce(turns=turns), saver)
    conversations = itertools.count()

    def ask(_kept=kept):
        return langgraph_agent.ask(graph, str(next(conversations)), service.QUESTION, most(turns))

    return ask


def memory(turns):
    return saved(turns, InMemorySaver())


def sqlite(turns):
    folder = tempfile.TemporaryDirectory(dir=".", prefix="agents-")
    saver = langgraph_agent.open_saver(Path(folder.name, "agent.sqlite"))
    return saved(turns, saver, folder)


def run(turns):
    saver = langgraph_agent.open_saver("agent.sqlite")
    graph = langgraph_agent.agent(AtOnce(turns=turns), saver)
    return langgraph_agent.ask(graph, "conversation 1", service.QUESTION, most(turns))


service.main({"plain": plain, "memory": memory, "sqlite": sqlite}, run)
