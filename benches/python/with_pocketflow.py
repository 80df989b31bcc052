"""The workloads with PocketFlow, as its cookbook writes them: what needs no waiting with `Flow`, the rest with
`AsyncFlow`.
"""

import asyncio

from pocketflow import AsyncFlow, AsyncNode, AsyncParallelBatchNode, Flow, Node

import harness


class Add(Node):
    def prep(self, shared):
        return shared["total"]

    def exec(self, total):
        return total + 1

    def post(self, shared, _, total):
        shared["total"] = total


class CheckedAdd(Add):
    def exec(self, total):
        return harness.checked_add(total)


class WaitingAdd(AsyncNode):
    async def prep_async(self, shared):
        return shared["total"]

    async def exec_async(self, total):
        await asyncio.sleep(0)
        return total + 1

    async def post_async(self, shared, _, total):
        shared["total"] = total


class Touch(Node):
    def prep(self, shared):
        return shared["payload"]

    def exec(self, payload):
        return harness.touch(payload)

    def post(self, shared, _, payload):
        shared["payload"] = payload


class Check(Node):
    def prep(self, shared):
        return shared["total"], shared["limit"]

    def exec(self, prep_res):
        total, limit = prep_res
        return "done" if total >= limit else "again"

    def post(self, shared, _, action):
        return action


class End(Node):
    """`Flow` warns where an action leads nowhere, so that the loop ends in a node."""


class Choose(Node):
    def prep(self, shared):
        return shared["value"]

    def exec(self, value):
        return harness.way(value)

    def post(self, shared, _, action):
        return action


class Plus(Node):
    def __init__(self, more):
        super().__init__()
        self.more = more

    def prep(self, shared):
        return shared["value"]

    def exec(self, value):
        return value + self.more

    def post(self, shared, _, value):
        shared["value"] = value


class Double(Plus):
    def __init__(self):
        super().__init__(0)

    def exec(self, value):
        return value * 2


class Branches(AsyncParallelBatchNode):
    """Different nodes at the same time are not to be had: one node with the branches as its items."""

    async def prep_async(self, shared):
        return [(shared["value"], more) for more in harness.BRANCHES.values()]

    async def exec_async(self, item):
        value, more = item
        return value + more

    async def post_async(self, shared, _, found):
        shared["found"] = found


class Sum(Node):
    def prep(self, shared):
        return shared["found"]

    def exec(self, found):
        return sum(found)

    def post(self, shared, _, total):
        shared["sum"] = total


class Doubled(AsyncParallelBatchNode):
    """The limit is a semaphore, as in the cookbook's example of a batch with a limit."""

    def __init__(self):
        super().__init__()
        self.permits = asyncio.Semaphore(harness.BATCH_CONCURRENCY)

    async def prep_async(self, shared):
        return shared["items"]

    async def exec_async(self, item):
        async with self.permits:
            return item * 2

    async def post_async(self, shared, _, results):
        shared["results"] = results


class SlowlyDoubled(Doubled):
    async def exec_async(self, item):
        async with self.permits:
            await asyncio.sleep(0)
            return item * 2


def wired(nodes):
    for node, following in zip(nodes, nodes[1:]):
        node >> following
    return nodes[0]


def chain(kind):
    return Flow(start=wired([kind() for _ in harness.CHAIN_NODES]))


def total_task(flow):
    def run(total):
        shared = {"total": total}
        flow.run(shared)
        return shared["total"]

    return harness.task(run)


def loop():
    add, check = Add(), Check()
    add >> check
    check - "again" >> add
    check - "done" >> End()
    flow = Flow(start=add)

    def run(total):
        shared = {"total": total, "limit": total + harness.ROUNDS}
        flow.run(shared)
        return shared["total"]

    return harness.task(run)


def branch():
    choose, meet = Choose(), Double()
    for more, action in enumerate(("left", "middle", "right"), 1):
        way = Plus(more)
        choose - action >> way
        way >> meet
    flow = Flow(start=choose)

    def run(value):
        shared = {"value": value}
        flow.run(shared)
        return shared["value"]

    return harness.task(run)


def fork():
    flow = AsyncFlow(start=wired([Branches(), Sum()]))

    async def run(value):
        shared = {"value": value}
        await flow.run_async(shared)
        return shared["sum"]

    return harness.async_task(run)


def nested():
    innermost = Flow(start=wired([Add() for _ in range(4)]))
    inner = Flow(start=wired([Add(), Add(), innermost, Add(), Add()]))
    return total_task(Flow(start=wired([Add(), inner, Add()])))


def payload():
    flow = chain(Touch)

    def run(value):
        shared = {"payload": value}
        flow.run(shared)
        return shared["payload"]

    return harness.payload_task(run)


def batch(kind):
    flow = AsyncFlow(start=kind())
    items = list(range(harness.BATCH_ITEMS))

    async def run(_seed):
        shared = {"items": items}
        await flow.run_async(shared)
        return sum(shared["results"])

    return harness.async_task(run)


def concurrent():
    flow = AsyncFlow(start=wired([WaitingAdd() for _ in harness.CHAIN_NODES]))

    async def one(total):
        shared = {"total": total}
        await flow.run_async(shared)
        return shared["total"]

    async def run(total):
        return sum(await asyncio.gather(*(one(total) for _ in range(harness.CHAINS))))

    return harness.async_task(run)


harness.main(
    {
        "single": lambda: total_task(Flow(start=Add())),
        "chain": lambda: total_task(chain(Add)),
        "fallible_chain": lambda: total_task(chain(CheckedAdd)),
        "loop": loop,
        "branch": branch,
        "fork": fork,
        "nested": nested,
        "payload": payload,
        "batch": lambda: batch(Doubled),
        "waiting_batch": lambda: batch(SlowlyDoubled),
        "concurrent": concurrent,
        "observed": "no observers",
        "observed_chain": "no observers",
        "load": "a flow is built in Python",
    }
)
