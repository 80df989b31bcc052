//! The agent: a model that calls tools.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_agents::agent::{
    Agent, AgentEnd, AgentEvent, AgentInput, AgentOutcome, AgentOutput, ApprovedAgent, CallTool,
    Listen, MessageQueue, NeedsApproval, Think,
};
use flow_agents::{
    AboutModel, Budget, Message, Messages, Model, ModelError, Money, Price, Prices, Reply, Request,
    ScriptedModel, Stop, ToolCall, Tools, Usage, is_transient, tools,
};
use flow_runtime::prelude::*;
use serde_json::json;

/// Finds a page.
#[node]
async fn search(topic: &str) -> Result<String, String> {
    match topic {
        "" => Err("there is no topic".to_owned()),
        "long" => Ok("é".repeat(1234)),
        topic => Ok(format!("a page about {topic}")),
    }
}

fn question() -> Messages {
    Messages::from_iter([Message::user("What is a crab?")])
}

fn input() -> AgentInput {
    AgentInput::builder().messages(question()).build()
}

async fn run(agent: &Agent) -> AgentOutput {
    agent.run(input()).await.unwrap()
}

/// An agent of parts that are not the defaults.
fn agent(think: Think, call_tool: CallTool) -> Agent {
    Agent::builder().think(think).call_tool(call_tool).build()
}

fn results(messages: &Messages) -> Vec<String> {
    let results = messages
        .iter()
        .filter(|it| matches!(it, Message::Tool { .. }));
    results.map(Message::text).collect()
}

#[tokio::test]
async fn tools_are_called_until_there_is_an_answer() {
    let model = Arc::new(
        ScriptedModel::new()
            .calls([
                ("search", json!({ "topic": "crabs" })),
                ("search", json!({ "topic": "sea" })),
            ])
            .usage(100, 10)
            .text("An animal.")
            .usage(200, 5),
    );
    let think = Think::new(Arc::clone(&model), tools![search])
        .system("Be brief.")
        .temperature(0.5);
    let output = run(&agent(think, CallTool::new(tools![search]))).await;
    assert_eq!((output.end, output.turns), (AgentEnd::Default, 2));
    assert_eq!(output.answer.as_deref(), Some("An animal."));
    assert_eq!(
        (output.spent.calls, output.spent.usage),
        (2, Usage::new(300, 15))
    );
    let calls = ["call_1", "call_2"].iter().zip(["crabs", "sea"]);
    let calls = calls.map(|(id, topic)| ToolCall::new(*id, "search", &json!({ "topic": topic })));
    assert_eq!(
        *output.messages,
        [
            Message::user("What is a crab?"),
            Message::Assistant {
                content: String::new(),
                tool_calls: calls.collect()
            },
            Message::tool("call_1", "a page about crabs"),
            Message::tool("call_2", "a page about sea"),
            Message::assistant("An animal."),
        ]
    );
    let requests = model.requests();
    assert_eq!(requests[1].messages[0], Message::system("Be brief."));
    assert_eq!(requests[1].messages[1..], output.messages[..4]);
    assert_eq!(*requests[0].tools, tools![search].definitions());
    assert_eq!(requests[0].temperature, Some(0.5));
    model.assert_used();
}

/// ME-05, in an agent.
#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_to_the_model() {
    let broken = ToolCall::raw("call_3", "search", r#"{"topic": "#);
    let model = ScriptedModel::new()
        .calls([("serach", json!({})), ("search", json!({ "topic": "" }))])
        .reply(Reply::new("", vec![broken], Usage::default(), Stop::Done))
        .text("Never mind.");
    let output = run(&Agent::of(model, tools![search])).await;
    assert_eq!(output.answer.as_deref(), Some("Never mind."));
    assert_eq!(
        results(&output.messages),
        [
            "Error: Tool 'serach' not found; there are: search",
            "Error: there is no topic",
            "Error: the arguments are not a JSON object: EOF while parsing a value at line 1 column 9",
        ]
    );
}

/// A model that always wants to search.
struct Insistent;

#[async_trait::async_trait]
impl Model for Insistent {
    fn about(&self) -> AboutModel {
        AboutModel::new("test", "insistent")
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let id = format!("call_{}", request.messages.len());
        let call = ToolCall::new(id, "search", &json!({ "topic": "more" }));
        Ok(Reply::new(
            "",
            vec![call],
            Usage::new(1000, 500),
            Stop::Done,
        ))
    }
}

/// ME-07
#[tokio::test(start_paused = true)]
async fn a_limit_of_turns_ends_with_the_calls_that_are_pending() {
    let think = Think::new(Insistent, tools![search]).turns(20);
    let output = run(&agent(think, CallTool::new(tools![search]))).await;
    assert_eq!((output.turns, output.spent.calls), (20, 20));
    assert_eq!(results(&output.messages).len(), 19);
    let AgentOutcome::Limit {
        pending, messages, ..
    } = output.into_outcome()
    else {
        panic!("it ended elsewhere");
    };
    assert_eq!(pending.len(), 1);
    assert_eq!(messages.pending_calls(), [&pending[0]]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_may_not_ask_at_all() {
    let think = Think::new(Insistent, tools![search]).turns(0);
    let output = run(&agent(think, CallTool::new(tools![search]))).await;
    assert_eq!((output.end, output.turns), (AgentEnd::Limit, 0));
    assert_eq!(output.pending, Some(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_budget_ends_it_and_says_what_was_spent() {
    let price = Price::new("2".parse().unwrap(), "4".parse().unwrap());
    let prices = Prices::new().with(AboutModel::new("test", "insistent"), price);
    for (budget, calls, exhausted) in [
        (Budget::new().calls(3), 3, "calls: 3"),
        (Budget::new().tokens(4000), 3, "tokens: 4000"),
        (Budget::new().time(Duration::from_secs(2)), 2, "time: 2s"),
        (
            Budget::new().money("0.02".parse().unwrap()),
            5,
            "money: 0.02",
        ),
    ] {
        let think = Think::new(Insistent, tools![search])
            .budget(budget)
            .prices(prices.clone());
        let output = run(&agent(think, CallTool::new(tools![search]))).await;
        assert_eq!(
            (output.end, output.spent.calls),
            (AgentEnd::Budget, calls),
            "{exhausted}"
        );
        let text = output.exhausted.unwrap();
        let begins =
            format!("nothing is left of a budget ({exhausted}); spent on models: calls: {calls},");
        assert!(text.starts_with(&begins), "{text}");
    }
}

/// What a conversation has spent so far counts.
#[tokio::test(start_paused = true)]
async fn a_budget_over_several_runs() {
    let think = Think::new(Insistent, tools![search])
        .turns(2)
        .budget(Budget::new().calls(3));
    let agent = agent(think, CallTool::new(tools![search]));
    let first = run(&agent).await;
    assert_eq!((first.end, first.spent.calls), (AgentEnd::Limit, 2));
    let input = AgentInput::builder()
        .messages(question())
        .spent(first.spent)
        .build();
    let second = agent.run(input).await.unwrap();
    assert_eq!((second.end, second.spent.calls), (AgentEnd::Budget, 3));
}

#[tokio::test]
async fn without_a_price_no_money_is_spent() {
    let model = Arc::new(ScriptedModel::new());
    for money in [Money::ZERO, "1".parse().unwrap()] {
        let budget = Budget::new().money(money);
        let think = Think::new(Arc::clone(&model), Tools::new()).budget(budget);
        let agent = agent(think, CallTool::new(Tools::new()));
        let error = agent.run(input()).await.unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "node `agent.think` failed after 1 attempt: the budget limits money: the table of prices has \
             no price for the model \"scripted\" of \"\""
        );
    }
    assert_eq!(model.requests(), []);
}

/// M-074
#[tokio::test]
async fn a_tool_that_keeps_failing_is_stopped() {
    let search_for = |topic: &'static str| [("search", json!({ "topic": topic }))];
    let mut model = ScriptedModel::new()
        .calls(search_for(""))
        .calls(search_for("crabs"));
    for _ in 0..4 {
        model = model.calls(search_for(""));
    }
    let tools = tools![search];
    let two = NonZeroU32::new(2).unwrap();
    let call_tool = CallTool::new(tools.clone()).failures(two);
    let output = run(&agent(
        Think::new(model.text("I give up."), tools),
        call_tool,
    ))
    .await;
    let failed = "Error: there is no topic";
    let stopped = "Error: the tool 'search' has failed in 2 turns in a row, and is not called any more. \
                   Continue without it.";
    assert_eq!(
        results(&output.messages),
        [
            failed,
            "a page about crabs",
            failed,
            failed,
            stopped,
            stopped
        ]
    );
}

/// What a model does wrong in one turn, or before a tool is called, is not the failure of the tool.
#[tokio::test]
async fn mistakes_of_a_model_do_not_stop_a_tool() {
    let wrong = || ("search", json!({ "tpic": "crabs" }));
    let failing = || ("search", json!({ "topic": "" }));
    let model = ScriptedModel::new()
        .calls([wrong(), wrong(), wrong()])
        .calls([wrong(), wrong(), wrong()])
        .calls([wrong(), wrong(), wrong()])
        .calls([failing(), failing(), failing()])
        .calls([("search", json!({ "topic": "crabs" }))])
        .text("An animal.");
    let output = run(&Agent::of(model, tools![search])).await;
    let last = results(&output.messages).pop();
    assert_eq!(last.as_deref(), Some("a page about crabs"));
}

#[tokio::test]
async fn an_answer_that_is_not_complete_has_an_end_of_its_own() {
    let cut = Reply::new("An ani", Vec::new(), Usage::new(50, 7), Stop::Length);
    let model = ScriptedModel::new()
        .calls([("search", json!({ "topic": "crabs" }))])
        .usage(10, 1)
        .reply(cut);
    let output = run(&Agent::of(model, tools![search])).await;
    assert_eq!(output.spent.usage, Usage::new(60, 8));
    let AgentOutcome::Incomplete {
        reason, messages, ..
    } = output.into_outcome()
    else {
        panic!("it ended elsewhere");
    };
    assert_eq!(messages.len(), 3);
    assert_eq!(
        reason,
        "the answer reached the limit of tokens before its end; characters before that: 6, tool calls: \
         0; allow more with `max_tokens`, or ask for a shorter answer"
    );
}

#[tokio::test]
async fn a_model_that_does_not_say_what_it_used_is_no_match_for_a_budget() {
    let model = || ScriptedModel::new().text("An animal.");
    let budget = Budget::new().tokens(1000);
    let think = Think::new(model(), Tools::new()).budget(budget);
    let error = agent(think, CallTool::new(Tools::new()))
        .run(input())
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `agent.think` failed after 1 attempt: the budget limits tokens, and the model \
         \"scripted\" of \"\" does not say how many it used"
    );
    let think = Think::new(model(), Tools::new()).budget(Budget::new().calls(5));
    let output = run(&agent(think, CallTool::new(Tools::new()))).await;
    assert_eq!(output.end, AgentEnd::Default);
}

flow! {
    Patient(messages: Messages) -> (messages: Messages) {
        node think: Think with retry(attempts = 2, if = is_transient);
        start >> think;
        think - "done" >> end;
        think - "call" >> end("call");
        think - "incomplete" >> end("incomplete");
        think - "limit" >> end("limit");
        think - "budget" >> end("budget");
    }
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let cut = ModelError::CutOff {
        characters: 1,
        calls: 0,
    };
    let model = ScriptedModel::new().error(cut).text("An animal.");
    let flow = Patient::builder()
        .think(Think::new(model, Tools::new()))
        .build();
    let messages = question();
    let output = flow.run(PatientInput { messages }).await.unwrap();
    assert_eq!(output.messages[1], Message::assistant("An animal."));
}

#[test]
fn people_are_not_asked_about_tools_that_are_not_there() {
    let of = |asks| ApprovedAgent::of(ScriptedModel::new(), tools![search], asks).map(drop);
    assert_eq!(of(NeedsApproval::always()), Ok(()));
    assert_eq!(of(NeedsApproval::of(["search"])), Ok(()));
    assert_eq!(of(NeedsApproval::except(["search"])), Ok(()));
    for asks in [
        NeedsApproval::of(["serach"]),
        NeedsApproval::except(["serach"]),
    ] {
        assert_eq!(
            of(asks).unwrap_err().to_string(),
            "whether people are asked about `serach` is said, and there is no tool of this name"
        );
    }
}

/// A person sees what the tool will read, and nothing that changes what a terminal shows.
#[test]
fn a_call_as_people_see_it() {
    for (call, shown) in [
        (
            ToolCall::raw("1", "pay", "{\"to\": \"a\\u001b[2Kb\", \"to\": \"ann\"}"),
            r#"pay({"to":"ann"})"#,
        ),
        (
            ToolCall::raw("1", "pay\n", "\u{1b}[2K\rnothing"),
            r#"pay\n("\u{1b}[2K\rnothing")"#,
        ),
        (ToolCall::raw("1", "pay", ""), "pay({})"),
    ] {
        assert_eq!(call.to_string(), shown);
    }
}

/// M-074
#[tokio::test]
async fn what_people_say_meanwhile_is_read_behind_the_results() {
    let queue = MessageQueue::new();
    let model = ScriptedModel::new()
        .calls([("search", json!({ "topic": "crabs" }))])
        .text("An animal.");
    let tools = tools![search];
    let agent = Agent::builder()
        .think(Think::new(model, tools.clone()))
        .call_tool(CallTool::new(tools))
        .listen(Listen::to(queue.clone()))
        .build();
    queue.send("In one sentence.");
    let output = run(&agent).await;
    let texts: Vec<String> = output.messages.iter().skip(2).map(Message::text).collect();
    assert_eq!(
        texts,
        ["a page about crabs", "In one sentence.", "An animal."]
    );
}

/// What an observer is told, a line each.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Observer for Told {
    fn on_event(&self, event: &Event<'_>) {
        let path = event.path().to_string();
        let line = match event.kind() {
            EventKind::Delta(text) => format!("{path}: {text}"),
            EventKind::DeltaJson(json) => match serde_json::from_str(json).unwrap() {
                AgentEvent::ToolStarted {
                    id,
                    tool,
                    arguments,
                } => {
                    format!("{path}: {id} {tool}({arguments})")
                }
                AgentEvent::ToolFinished {
                    id, status, output, ..
                } => {
                    let (shown, length) = (output.replace('é', ""), output.chars().count());
                    format!("{path}: {id} {status:?} {length} {shown}")
                }
                other => panic!("{other:?}"),
            },
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

/// M-052
#[tokio::test]
async fn calls_are_told_to_observers_and_long_results_cut() {
    let model = ScriptedModel::new()
        .calls([("search", json!({ "topic": "long" }))])
        .calls([("search", json!({ "topic": "" }))])
        .text("Done.");
    let tools = tools![search];
    let call_tool = CallTool::new(tools.clone()).longest_result(1100);
    let told = Arc::new(Told::default());
    let options = RunOptions::new().observer(told.clone());
    let output = agent(Think::new(model, tools), call_tool)
        .run_with(input(), options)
        .await
        .unwrap();
    assert_eq!(
        *told.0.lock().unwrap(),
        [
            r#"agent.results[0]: call_1 search({"topic":"long"})"#,
            "agent.results[0]: call_1 Returned 1023 … (234 more characters)",
            r#"agent.results[0]: call_2 search({"topic":""})"#,
            "agent.results[0]: call_2 Failed 24 Error: there is no topic",
            "agent.think: Done.",
        ]
    );
    let long = &results(&output.messages)[0];
    assert_eq!(long.replace('é', ""), "… (134 more characters)");
    assert_eq!(long.matches('é').count(), 1100);
}
