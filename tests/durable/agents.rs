//! Agents that are stopped anywhere: no model is asked and no tool is called again whose answer is
//! recorded.

use std::cell::RefCell;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flow_agents::agent::{
    Agent, AgentInput, Approval, ApprovedAgent, ApprovedAgentInput, ApprovedCall, CallTool,
    Failures, Inbox, KeepResults, Listen, MessageQueue, NeedsApproval, Think, ToolOutcome,
    count_failures, rejected,
};
use flow_agents::{
    Message, Messages, Model, ModelError, Reply, Request, ScriptedModel, Spent, Stop, ToolCall,
    Tools, Usage, tools,
};
use flow_durable::{OpenQuestion, Record, RecordKind, Runtime, StartOptions, Status};
use flow_loader::Registry;
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::flows::{note, take_effects};
use crate::prefixes::the_same_from_everywhere;
use crate::support::{options, store};

thread_local! {
    /// How many messages each request had.
    static REQUESTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A model that calls tools in so many turns, one at first, then two at once and so on, and then says what
/// they returned.
#[derive(Clone)]
struct Curious(u64);

#[async_trait]
impl Model for Curious {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        REQUESTS.with_borrow_mut(|requests| requests.push(request.messages.len()));
        tokio::time::sleep(Duration::from_millis(30)).await;
        let asked = |message: &&Message| !message.tool_calls().is_empty();
        let turn = request.messages.iter().filter(asked).count() as u64;
        if turn >= self.0 {
            let results = request
                .messages
                .iter()
                .filter(|it| matches!(it, Message::Tool { .. }));
            let texts: Vec<String> = results.map(Message::text).collect();
            return Ok(Reply::new(
                texts.join(" "),
                Vec::new(),
                Usage::new(5, 2),
                Stop::Done,
            ));
        }
        let calls = (0..=turn).map(|call| {
            let (id, arguments) = (
                format!("call_{turn}_{call}"),
                json!({ "number": 10 * turn + call }),
            );
            ToolCall::new(id, if call == 1 { "half" } else { "square" }, &arguments)
        });
        Ok(Reply::new(
            "",
            calls.collect(),
            Usage::new(10, 1),
            Stop::Done,
        ))
    }
}

/// Notes the step that calls a tool, if it is one of an execution.
async fn called(cx: &Context, millis: u64) {
    let id = cx.step_id();
    // The id of the execution, that of the step, the number of the call, and the tool.
    let [execution, step, "1", _] = id.split('/').collect::<Vec<_>>()[..] else {
        panic!("{id}");
    };
    note(format!("{execution}/{step}"));
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Squares a number.
#[node]
async fn square(cx: &Context, number: u64) -> u64 {
    called(cx, 40).await;
    number * number
}

/// Halves an even number.
#[node]
async fn half(cx: &Context, number: u64) -> Result<u64, String> {
    called(cx, 20).await;
    match number % 2 {
        0 => Ok(number / 2),
        _ => Err(format!("{number} is odd")),
    }
}

fn all() -> Tools {
    tools![square, half]
}

fn question() -> Messages {
    Messages::from_iter([Message::user("What are they?")])
}

fn agent() -> Agent {
    Agent::of(Curious(3), all())
}

const ANSWER: &str = "0 100 Error: 11 is odd 400 Error: 21 is odd 484";

fn input() -> AgentInput {
    AgentInput::builder().messages(question()).build()
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_stopped_anywhere_ends_as_if_it_had_not_been() {
    let output = the_same_from_everywhere(agent, input, |_| None).await;
    assert_eq!(output["answer"], ANSWER);
    assert_eq!(output["turns"], 4);
    assert_eq!(output["spent"]["calls"], 4);
    assert_eq!(
        output["spent"]["usage"],
        json!({ "input_tokens": 35, "output_tokens": 5 })
    );
}

/// A person who says something after the first results. A step that is repeated hears it again.
pub(crate) struct Impatient;

#[async_trait]
impl Inbox for Impatient {
    async fn take(&self, cx: &Context) -> Result<Vec<Message>, Box<dyn Error + Send + Sync>> {
        let is_first = !cx.step_id().contains(".listen#");
        let said = is_first.then(|| Message::user("Quickly."));
        Ok(said.into_iter().collect())
    }
}

/// What a person says meanwhile is added once, whichever record was the last.
#[tokio::test(start_paused = true)]
async fn an_agent_that_listens_and_is_stopped_anywhere() {
    let agent = || {
        let think = Think::new(Curious(2), all());
        let agent = Agent::builder().think(think);
        let agent = agent.call_tool(CallTool::new(all()));
        agent.listen(Listen::to(Impatient)).build()
    };
    let output = the_same_from_everywhere(agent, input, |_| None).await;
    let said = json!([{ "text": "Quickly." }]);
    let messages = output["messages"].as_array().unwrap();
    let places = (0..messages.len()).filter(|at| messages[*at]["content"] == said);
    assert_eq!(places.collect::<Vec<_>>(), [3]);
}

/// The steps of which the journal has an outcome, up to a record.
fn steps(journal: &[Record], seq: u64, part: &str) -> usize {
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    outcomes
        .filter(|record| record.seq <= seq && record.step.contains(part))
        .count()
}

/// Whoever continues after a record asks the model and calls the tools exactly as often as is left.
#[tokio::test(start_paused = true)]
async fn each_call_is_made_once_whichever_record_was_the_last() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(agent()).unwrap();
    runtime.recover().await.unwrap();
    let started = runtime
        .executions()
        .start::<Agent>(input(), StartOptions::new());
    let first = started.await.unwrap().settled().await.unwrap();
    let journal = first.journal().await.unwrap();
    let (requests, calls) = (REQUESTS.take(), take_effects());
    assert_eq!((requests.as_slice(), calls.len()), (&[1, 3, 6, 10][..], 6));

    for record in &journal {
        let copy = runtime
            .executions()
            .copy(first.id(), record.seq)
            .await
            .unwrap();
        let copy = copy.settled().await.unwrap();
        assert_eq!(copy.status(), Status::Completed);
        assert_eq!(copy.output_json().unwrap(), first.output_json().unwrap());
        let thought = steps(&journal, record.seq, ".think");
        let called = steps(&journal, record.seq, ".results");
        assert_eq!(REQUESTS.take(), requests[thought..], "after {record:?}");
        assert_eq!(
            take_effects().len(),
            calls.len() - called,
            "after {record:?}"
        );
    }
}

/// The same where a flow is compiled and where it is loaded.
fn needs_approval() -> NeedsApproval {
    NeedsApproval::except(["half"])
}

fn approved_agent(turns: u64) -> ApprovedAgent {
    ApprovedAgent::of(Curious(turns), all(), needs_approval()).unwrap()
}

/// People are asked about some calls, and the others are made.
#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_people() {
    fn answers(question: &OpenQuestion) -> Option<Value> {
        match question.prompt() {
            r#"Call square({"number":0})?"# => Some(json!("approved")),
            r#"Call square({"number":10})?"# => {
                Some(json!({ "rejected": { "reason": "not that" } }))
            }
            other => panic!("{other}"),
        }
    }
    let input = || {
        let input = ApprovedAgentInput::builder();
        input.messages(question()).build()
    };
    let output = the_same_from_everywhere(|| approved_agent(2), input, answers).await;
    assert_eq!(
        output["answer"],
        "0 Error: a person rejected the call: not that Error: 11 is odd"
    );
}

/// Nobody is asked about a tool that there is not, or about arguments that do not fit: the model reads what
/// is wrong at once.
#[tokio::test(start_paused = true)]
async fn people_are_asked_only_about_calls_that_can_be_made() {
    let model = ScriptedModel::new()
        .calls([
            ("cube", json!({ "number": 2 })),
            ("square", json!({ "number": "two" })),
            ("square", json!({ "numbers": 2 })),
        ])
        .calls([("square", json!({ "number": 2 }))])
        .text("4");
    let model = Arc::new(model);
    let agent = ApprovedAgent::of(model.clone(), all(), NeedsApproval::always()).unwrap();
    let runtime = Runtime::with_options(store(), options());
    runtime.register(agent).unwrap();
    runtime.recover().await.unwrap();
    let input = ApprovedAgentInput::builder().messages(question()).build();
    let started = runtime
        .executions()
        .start::<ApprovedAgent>(input, StartOptions::new());
    let paused = started.await.unwrap().settled().await.unwrap();
    let questions = paused.questions().await.unwrap();
    let prompts: Vec<&str> = questions.iter().map(OpenQuestion::prompt).collect();
    assert_eq!(prompts, [r#"Call square({"number":2})?"#]);
    let read = &model.requests()[1].messages;
    let read: Vec<String> = read.iter().skip(2).map(Message::text).collect();
    assert_eq!(
        read[0],
        "Error: Tool 'cube' not found; there are: square, half"
    );
    assert!(
        read[1].starts_with("Error: `number`: invalid type"),
        "{read:?}"
    );
    assert!(
        read[2].contains("the tool has no argument `numbers`"),
        "{read:?}"
    );
    let token = questions[0].token();
    runtime
        .executions()
        .resume(token, json!("approved"))
        .await
        .unwrap();
    let ended = runtime
        .executions()
        .get(paused.id())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(ended.output_json().unwrap().unwrap()["answer"], "4");
    take_effects();
}

/// A conversation goes on in another execution, in another process.
#[tokio::test(start_paused = true)]
async fn a_conversation_continues_in_a_later_execution() {
    let store = store();
    let mut input = input();
    for (turn, messages) in [(1, 11), (2, 13)] {
        let runtime = Runtime::with_options(store.clone(), options());
        runtime.register(agent()).unwrap();
        runtime.recover().await.unwrap();
        let started = runtime
            .executions()
            .start::<Agent>(input, StartOptions::new());
        let ended = started.await.unwrap().settled().await.unwrap();
        let output = ended.output::<Agent>().unwrap().expect("it ended");
        assert_eq!(output.messages.len(), messages, "turn {turn}");
        assert_eq!(output.answer.as_deref(), Some(ANSWER));
        runtime.shut_down().await;
        let mut all = output.messages;
        all.add_user("Are you sure?");
        input = AgentInput::builder()
            .messages(all)
            .spent(output.spent)
            .build();
    }
    assert_eq!(input.spent.map(|spent| spent.calls), Some(5));
}

fn approved_call() -> ApprovedCall {
    let call_tool = CallTool::new(all());
    ApprovedCall::builder()
        .needs_approval(needs_approval().unless_refused_by(&call_tool))
        .call_tool(call_tool)
        .build()
}

fn call(tool: &str) -> Value {
    json!({ "call": ToolCall::new("call_1", tool, &json!({ "number": 4 })) })
}

/// Asks an agent. The law makes up texts, and cannot make up messages.
#[node(writes = messages)]
fn ask(text: &str) -> Messages {
    Messages::from_iter([Message::user(text)])
}

flow! {
    Asks(text: String) -> (answer: Option<String>, spent: Spent) {
        node agent: Agent;
        start >> ask >> agent;
        agent - "default" >> end;
        agent - "incomplete" >> end("incomplete");
        agent - "limit" >> end("limit");
        agent - "budget" >> end("budget");
    }
}

flow! {
    AsksWithApproval(text: String) -> (answer: Option<String>, turns: u32) {
        node agent: ApprovedAgent;
        start >> ask >> agent;
        agent - "default" >> end;
        agent - "incomplete" >> end("incomplete");
        agent - "limit" >> end("limit");
        agent - "budget" >> end("budget");
    }
}

fn asks() -> Asks {
    Asks::builder().agent(agent()).build()
}

fn asks_with_approval() -> AsksWithApproval {
    AsksWithApproval::builder().agent(approved_agent(3)).build()
}

/// What the nodes of agents add to messages. A loaded flow learns from the program how.
pub(crate) fn adds_messages() -> Registry {
    Registry::new()
        .accumulate::<Messages, Message>()
        .accumulate::<Messages, Option<Message>>()
        .accumulate::<Messages, Vec<Message>>()
        .accumulate::<Messages, Vec<ToolOutcome>>()
}

flow_law::law! {
    nodes: [
        Think = Think::new(Curious(3), all()),
        NeedsApproval = needs_approval().unless_refused_by(&CallTool::new(all())),
        CallTool = CallTool::new(all()),
        Listen = Listen::to(MessageQueue::new()),
        Approval,
        ask,
        count_failures,
        rejected,
    ],
    flows: [
        Asks(asks()),
        AsksWithApproval(asks_with_approval()),
        KeepResults,
        ApprovedCall(approved_call()) { inputs: [call("half"), call("square")] },
    ],
    registries: [adds_messages()],
    types: [ToolCall, Failures, Vec<ToolOutcome>],
    left_out: [Agent, ApprovedAgent],
}
