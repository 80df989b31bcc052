"""What a turn of an agent of PocketFlow takes; and the agent that is killed.

  with_pocketflow.py time plain 10 300   nanoseconds per turn: turns, milliseconds
  with_pocketflow.py run 3               asks with three turns; nothing is kept
"""

import pocketflow_agent
import service


def model(turns):
    def ask(messages):
        service.happens("model")
        if service.calls_the_tool(len(messages), turns):
            call = {"id": f"call_{len(messages)}", "name": "weather", "arguments": '{"town": "Bergen"}'}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        return {"role": "assistant", "content": service.ANSWER, "tool_calls": []}

    return ask


def plain(turns):
    flow = pocketflow_agent.agent(model(turns), turns + 1)
    return lambda: pocketflow_agent.ask(flow, service.QUESTION)


service.main({"plain": plain}, lambda turns: plain(turns)())
