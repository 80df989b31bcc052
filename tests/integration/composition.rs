//! Flows as nodes: the cases of PocketFlow's `test_flow_composition.py` and of its docs.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::arithmetic::{Add, Mul, Num};
use crate::support::{Recorder, traced};

flow! {
    Five() -> (current: i64) {
        node num: Num = Num(5);
        start >> num >> end;
    }
}

flow! {
    FivePlusTenTwice() -> (current: i64) {
        node add: Add = Add(10);
        node mul: Mul = Mul(2);
        start >> Five >> add >> mul >> end;
    }
}

flow! {
    ThreeLevels() -> (current: i64) {
        start >> FivePlusTenTwice >> end;
    }
}

/// PF-07
#[tokio::test]
async fn flows_are_nodes_three_levels_deep() {
    let (out, trace) = traced(&ThreeLevels::new(), ThreeLevelsInput::builder().build()).await;
    assert_eq!(out.current, 30);
    assert_eq!(trace, "num add mul");
}

flow! {
    FivePlusThree() -> (current: i64) {
        node add: Add = Add(3);
        start >> Five >> add >> end;
    }
}

flow! {
    FivePlusThreeTimesFour() -> (current: i64) {
        node mul: Mul = Mul(4);
        start >> FivePlusThree >> mul >> end;
    }
}

flow! {
    Wrapped() -> (current: i64) {
        start >> FivePlusThreeTimesFour >> end;
    }
}

flow! {
    TenPlusTen() -> (current: i64) {
        node num: Num = Num(10);
        node add: Add = Add(10);
        start >> num >> add >> end;
    }
}

flow! {
    Twice(current: i64) -> (current: i64) {
        node mul: Mul = Mul(2);
        start >> mul >> end;
    }
}

flow! {
    ChainedFlows() -> (current: i64) {
        start >> TenPlusTen >> Twice >> end;
    }
}

/// PF-08
#[tokio::test]
async fn flows_are_wrapped_and_chained() {
    let wrapped = Wrapped::new().run(WrappedInput::builder().build()).await;
    assert_eq!(wrapped.unwrap().current, 32);

    let (out, trace) = traced(&ChainedFlows::new(), ChainedFlowsInput::builder().build()).await;
    assert_eq!(out.current, 40);
    assert_eq!(trace, "num add mul");
}

#[node(writes = current)]
fn a() -> i64 {
    1
}

#[node(writes = current)]
fn b(current: &i64) -> i64 {
    current + 1
}

flow! {
    Both() -> (current: i64) {
        start >> a >> b >> end;
    }
}

flow! {
    OnlyA() -> (current: i64) {
        start >> a >> end;
    }
}

/// PF-47
#[tokio::test]
async fn edges_belong_to_the_flow_and_not_to_the_node() {
    let (both, trace) = traced(&Both::new(), BothInput::builder().build()).await;
    assert_eq!((both.current, trace.as_str()), (2, "a b"));

    let (only_a, trace) = traced(&OnlyA::new(), OnlyAInput::builder().build()).await;
    assert_eq!((only_a.current, trace.as_str()), (1, "a"));
}

#[node(writes = prepared)]
fn before() -> String {
    "PR".into()
}

#[derive(Action, Serialize, Deserialize)]
enum Kept {
    Last { prepared: String },
}

#[node(actions = Kept)]
fn keep(prepared: String) -> Kept {
    Kept::Last { prepared }
}

flow! {
    EndsWithLast(prepared: String) -> (prepared: String) {
        start >> keep;
        keep - "last" >> end("last");
    }
}

#[node(writes = decided)]
fn after(prepared: &str) -> String {
    format!("{prepared} and last")
}

flow! {
    DecidesItsOwnOutcome() -> (decided: String) {
        node inner: EndsWithLast = EndsWithLast::new();
        start >> before >> inner;
        inner - "last" >> after >> end("mine");
    }
}

/// PF-51: what a flow does before and after another one is a node of its own; the label decides where it goes on.
#[tokio::test]
async fn a_flow_around_another_decides_its_own_outcome() {
    let flow = DecidesItsOwnOutcome::new();
    let (out, trace) = traced(&flow, DecidesItsOwnOutcomeInput::builder().build()).await;
    assert_eq!(out.decided, "PR and last");
    assert_eq!(out.end.as_str(), "mine");
    assert_eq!(trace, "before keep after");
}

#[derive(Action, Serialize, Deserialize)]
enum Decision {
    Search,
    Answer,
}

#[node(actions = Decision)]
fn decide(found: Option<&String>) -> Decision {
    match found {
        None => Decision::Search,
        Some(_) => Decision::Answer,
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Searched {
    Decide { found: String },
}

#[node(actions = Searched)]
async fn search(question: &str) -> Searched {
    tokio::task::yield_now().await;
    Searched::Decide {
        found: format!("facts about {question}"),
    }
}

#[node]
async fn answer(question: &str, found: Option<&str>) -> String {
    format!("{question}? {}", found.unwrap_or("no idea"))
}

flow! {
    ResearchAgent(question: String, found: Option<String>) -> (answer: String, found: Option<String>) {
        start >> decide;
        decide - "search" >> search - "decide" >> decide;
        decide - "answer" >> answer >> end;
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Review {
    Accept,
    Retry,
}

#[node(writes = rejections, actions = Review)]
fn supervisor(answer: &str, rejections: Option<&u32>) -> (u32, Review) {
    assert_eq!(answer, "rust? facts about rust");
    match rejections.copied().unwrap_or_default() {
        2 => (2, Review::Accept),
        rejections => (rejections + 1, Review::Retry),
    }
}

flow! {
    SupervisedAgent(question: String) -> (answer: String, rejections: u32) {
        node agent: ResearchAgent = ResearchAgent::new();
        start >> agent >> supervisor;
        supervisor - "retry" >> agent;
        supervisor - "accept" >> end;
    }
}

/// CB-09
#[tokio::test]
async fn a_supervised_agent_searches_once() {
    let input = SupervisedAgentInput::builder()
        .question("rust".into())
        .build();
    let (out, trace) = traced(&SupervisedAgent::new(), input).await;
    assert_eq!(out.answer, "rust? facts about rust");
    assert_eq!(out.rejections, 2);
    let again = " decide answer supervisor".repeat(2);
    assert_eq!(
        trace,
        format!("decide search decide answer supervisor{again}")
    );
}

/// The order pipeline of PocketFlow's docs, with the message that each node leaves.
mod orders {
    use flow_runtime::prelude::*;

    macro_rules! steps {
        ($($step:ident),*) => {
            $(
                #[node]
                pub(crate) fn $step(order: &u32) -> String {
                    format!("{} {order}", stringify!($step))
                }
            )*
        };
    }

    steps!(
        validate, process, confirm, check, reserve, update, label, carrier, pickup
    );

    flow! {
        pub(crate) Payment(order: u32) -> (confirm: String) {
            start >> validate >> process >> confirm >> end;
        }
    }

    flow! {
        pub(crate) Inventory(order: u32) -> (update: String) {
            start >> check >> reserve >> update >> end;
        }
    }

    flow! {
        pub(crate) Shipping(order: u32) -> (pickup: String) {
            start >> label >> carrier >> pickup >> end;
        }
    }

    flow! {
        pub(crate) OrderPipeline(order: u32) -> (confirm: String, update: String, pickup: String) {
            start >> Payment >> Inventory >> Shipping >> end;
        }
    }
}

/// CB-16, the trace
#[tokio::test]
async fn an_order_passes_three_flows() {
    use orders::{OrderPipeline, OrderPipelineInput};

    let input = OrderPipelineInput::builder().order(7).build();
    let (out, trace) = traced(&OrderPipeline::new(), input).await;
    assert_eq!(
        [out.confirm, out.update, out.pickup],
        ["confirm 7", "update 7", "pickup 7"]
    );
    assert_eq!(
        trace,
        "validate process confirm check reserve update label carrier pickup"
    );
}

#[node]
fn place(cx: &Context) -> String {
    cx.namespace().to_owned()
}

flow! {
    Search() -> (place: String) {
        namespace "unused.as_a_node";
        start >> place >> end;
    }
}

flow! {
    Agent() -> (place: String) {
        start >> Search >> end;
    }
}

flow! {
    Research() -> (place: String) {
        node agent: Agent = Agent::new();
        start >> agent >> end;
    }
}

flow! {
    Sales() -> (place: String) {
        namespace "sales.emea";
        node agent: Agent = Agent::new();
        start >> agent >> end;
    }
}

/// BP-01
#[tokio::test]
async fn the_namespace_of_an_inner_flow_is_that_of_its_node() {
    let out = Research::new().run(ResearchInput::builder().build()).await;
    assert_eq!(out.unwrap().place, "research.agent.search.place");
    assert_eq!(Research::NAMESPACE, "research");

    let out = Sales::new().run(SalesInput::builder().build()).await;
    assert_eq!(out.unwrap().place, "sales.emea.agent.search.place");
    assert_eq!(Sales::NAMESPACE, "sales.emea");

    let out = Search::new().run(SearchInput::builder().build()).await;
    assert_eq!(out.unwrap().place, "unused.as_a_node.place");
}

/// BP-01
#[tokio::test]
async fn an_inner_flow_tells_the_same_observer_of_the_same_run() {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let input = ResearchInput::builder().build();
    Research::new().run_with(input, options).await.unwrap();
    assert_eq!(recorder.runs().len(), 1);
    assert_eq!(
        recorder.events(),
        [
            "research.agent started",
            "research.agent.search started",
            "research.agent.search.place started",
            "research.agent.search.place finished: default",
            "research.agent.search ended: default",
            "research.agent.search finished: default",
            "research.agent ended: default",
            "research.agent finished: default",
            "research ended: default",
        ]
    );
}

sources! {
    "composition.rs":
    Five => FiveAgain,
    TenPlusTen => TenPlusTenAgain,
    OnlyA => OnlyAAgain,
    EndsWithLast => EndsWithLastAgain,
    ResearchAgent => ResearchAgentAgain,
}

flow_law::law! {
    nodes: [a, b, before, keep, after, decide, search, answer, supervisor, place],
    flows: [
        Five with [Num = Num(5)],
        FivePlusTenTwice with [Num = Num(5), Add = Add(10), Mul = Mul(2)],
        ThreeLevels with [Num = Num(5), Add = Add(10), Mul = Mul(2)],
        FivePlusThree with [Num = Num(5), Add = Add(3)],
        FivePlusThreeTimesFour with [Num = Num(5), Add = Add(3), Mul = Mul(4)],
        Wrapped with [Num = Num(5), Add = Add(3), Mul = Mul(4)],
        TenPlusTen with [Num = Num(10), Add = Add(10)],
        Twice with [Mul = Mul(2)],
        ChainedFlows with [Num = Num(10), Add = Add(10), Mul = Mul(2)],
        Both,
        OnlyA,
        EndsWithLast,
        DecidesItsOwnOutcome,
        ResearchAgent,
        SupervisedAgent,
        Search,
        Agent,
        Research,
        Sales,
    ],
}
