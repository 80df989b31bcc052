import json

from pocketflow import Flow, Node

from service import forecast


class Decide(Node):
    def prep(self, shared):
        return shared["messages"]

    def exec(self, messages):
        return self.params["model"](messages)

    def post(self, shared, messages, reply):
        messages.append(reply)
        if not reply["tool_calls"]:
            return "answer"
        shared["turns"] += 1
        return "call" if shared["turns"] < self.params["turns"] else "limit"


class CallTools(Node):
    def prep(self, shared):
        return shared["messages"][-1]["tool_calls"]

    def exec(self, calls):
        return [self.result(call) for call in calls]

    def result(self, call):
        try:
            content = {"weather": forecast}[call["name"]](**json.loads(call["arguments"]))
        except Exception as error:
            content = f"Error: {error!r}"
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    def post(self, shared, _, results):
        shared["messages"] += results
        return "decide"


def agent(model, turns):
    decide, call_tools = Decide(), CallTools()
    decide - "call" >> call_tools
    call_tools - "decide" >> decide
    decide - "answer" >> Node()
    decide - "limit" >> Node()
    flow = Flow(start=decide)
    flow.set_params({"model": model, "turns": turns})
    return flow


def ask(flow, question):
    shared = {"messages": [{"role": "user", "content": question}], "turns": 0}
    flow.run(shared)
    return shared["messages"][-1]["content"]
