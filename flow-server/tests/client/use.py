"""Does with a generated client what a client of somebody else's would: `use.py FOLDER ADDRESS`.

`FOLDER` has the package `generated`, `ADDRESS` is that of a server with the flows `Claim` and `Order`. Whatever comes back has to be of
the type that the document promises.
"""

import sys

sys.path.insert(0, sys.argv[1])

from generated import AuthenticatedClient, Client
from generated.api.events import get_events, get_events_of_execution
from generated.api.executions import (
    cancel_execution,
    copy_execution,
    delete_execution,
    get_execution,
    get_picture,
    get_structure,
    list_executions,
)
from generated.api.flows import get_flow, get_flow_picture, list_flows, start_execution
from generated.api.looking_back import get_journal, get_state, get_writes
from generated.api.questions import (
    answer_question,
    get_question,
    list_questions,
    list_questions_of_execution,
)
from generated.api.signals import list_signals, send_signal
from generated.api.system import get_health, get_metrics, get_readiness
from generated.models import (
    CancelBody,
    CopyBody,
    CopyBodyValues,
    EventsView,
    ExecutionsView,
    ExecutionView,
    FlowView,
    JournalView,
    ProblemView,
    QuestionView,
    SignalsView,
    StartExecutionBodyType0,
    StateView,
)

ADDRESS = sys.argv[2]


def of(kind, value):
    assert isinstance(value, kind), f"{value!r} is not a {kind.__name__}"
    return value


def claim(client, amount, **options):
    body = StartExecutionBodyType0.from_dict({"employee": "Ann", "amount": amount})
    return start_execution.sync("Claim", client=client, body=body, **options)


def starts_and_lists(client):
    names = [flow.name for flow in list_flows.sync(client=client).flows]
    assert names == ["Claim", "Order"], names
    assert [signal.name for signal in list_flows.sync(client=client).flows[1].signals] == ["CancelRequest", "Vollständig"]
    assert of(FlowView, list_flows.sync(client=client).flows[0]).inputs["required"] == ["employee", "amount"]
    assert get_flow.sync("Claim", client=client)["name"] == "Claim"
    assert "<svg" in get_flow_picture.sync("Claim", client=client)

    first = of(ExecutionView, claim(client, 30, wait=10, idempotency_key="first"))
    assert (first.status, first.owner) == ("completed", "ann"), first
    assert first.output.to_dict() == {"end": "default", "receipt": "30 EUR to Ann"}
    assert claim(client, 30, idempotency_key="first").id == first.id
    listed = of(ExecutionsView, list_executions.sync(client=client, flow="Claim", status="completed"))
    assert [one.id for one in listed.executions] == [first.id]
    return first


def answers(client):
    asking = of(ExecutionView, claim(client, 950, wait=10))
    assert asking.status == "paused", asking
    (question,) = list_questions_of_execution.sync(asking.id, client=client).questions
    assert of(QuestionView, question).prompt == "Approve 950 EUR for Ann?", question
    assert [one.token for one in list_questions.sync(client=client).questions] == [question.token]
    assert get_question.sync(question.token, client=client).execution == asking.id
    refused = of(ProblemView, answer_question.sync(question.token, client=client, body={"Maybe": {}}))
    assert (refused.status, refused.type_) == (422, "urn:flow-server:wrong-type"), refused
    answer_question.sync(question.token, client=client, body={"Approve": {"comment": "have fun"}})
    done = get_execution.sync(asking.id, client=client, wait=10)
    assert done.output["receipt"] == "950 EUR to Ann", done
    return done


def sends_signals(client):
    order = of(ExecutionView, start_execution.sync("Order", client=client, body=StartExecutionBodyType0()))
    refused = of(ProblemView, send_signal.sync(order.id, "CancelRequest", client=client, body={"reason": 7}))
    assert (refused.status, refused.type_) == (422, "urn:flow-server:wrong-type"), refused
    unknown = of(ProblemView, send_signal.sync(order.id, "Cancel", client=client, body=None))
    assert unknown.signals == ["CancelRequest", "Vollständig"], unknown
    body = {"reason": "too late"}
    for _ in range(2):
        sent = of(ExecutionView, send_signal.sync(order.id, "CancelRequest", client=client, body=body, idempotency_key="a"))
        assert sent.id == order.id
    done = get_execution.sync(order.id, client=client, wait=10)
    assert done.output.to_dict() == {"end": "cancelled", "reason": "too late"}, done
    left = of(SignalsView, list_signals.sync(order.id, client=client))
    assert (left.signals, left.accepted[0].name) == ([], "CancelRequest"), left


def looks_back(client, execution):
    journal = of(JournalView, get_journal.sync(execution.id, client=client))
    assert [record.seq for record in journal.records] == list(range(execution.records))
    state = of(StateView, get_state.sync(execution.id, client=client))
    assert state.flows["claim"]["amount"] == 950, state
    assert len(get_writes.sync(execution.id, client=client).writes) > 0
    assert get_structure.sync(execution.id, client=client)["name"] == "Claim"
    assert "<svg" in get_picture.sync(execution.id, client=client)

    seen, after, over = [], 0, False
    while not over:
        page = of(EventsView, get_events_of_execution.sync(execution.id, client=client, after=after, values=True))
        seen, after, over = seen + page.events, page.next_, page.over
    assert [event["seq"] for event in seen] == list(range(execution.records))
    *_, written = [event["payload"]["writes"] for event in seen if "writes" in event["payload"]]
    assert written == [{"key": "receipt", "value": {"summary": '"950 EUR to Ann"'}}], written
    of(EventsView, get_events.sync(client=client, after=0, kind="run_completed"))
    return next(record.seq for record in journal.records if record.kind == "run_started")


def copies_and_ends(client, execution, begin):
    body = CopyBody(seq=begin, values=CopyBodyValues.from_dict({"amount": 40}))
    copy = of(ExecutionView, copy_execution.sync(execution.id, client=client, body=body))
    assert copy.copied_from == execution.id
    done = get_execution.sync(copy.id, client=client, wait=10)
    assert done.output["receipt"] == "40 EUR to Ann", done
    asking = claim(client, 200, wait=10)
    cancelled = cancel_execution.sync(asking.id, client=client, body=CancelBody(reason="by the test"))
    assert (cancelled.status, cancelled.reason) == ("cancelled", "by the test"), cancelled
    delete_execution.sync(copy.id, client=client)
    gone = of(ProblemView, get_execution.sync(copy.id, client=client))
    assert (gone.status, gone.type_) == (404, "urn:flow-server:not-found"), gone


def is_let_in(client, execution):
    ben = AuthenticatedClient(ADDRESS, token="ben's token")
    assert of(ProblemView, get_execution.sync(execution.id, client=ben)).status == 404
    assert of(ProblemView, list_flows.sync(client=Client(ADDRESS))).status == 401
    unfit = of(ProblemView, start_execution.sync("Claim", client=client, body=StartExecutionBodyType0()))
    assert (unfit.status, len(unfit.errors)) == (422, 2), unfit
    operator = AuthenticatedClient(ADDRESS, token="operator's token")
    assert "flow_" in get_metrics.sync(client=operator)
    assert get_health.sync(client=Client(ADDRESS)).status == "ok"
    assert get_readiness.sync(client=Client(ADDRESS)).status == "ok"


client = AuthenticatedClient(ADDRESS, token="ann's token")
starts_and_lists(client)
execution = answers(client)
sends_signals(client)
copies_and_ends(client, execution, looks_back(client, execution))
is_let_in(client, execution)
print("the client did it all")
