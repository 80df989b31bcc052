//! Sequences, branches and loops: the cases of PocketFlow's `test_flow_basic.py`.

use flow_runtime::prelude::*;

use crate::arithmetic::{Add, Mul, Num, check};
use crate::support::traced;

flow! {
    OneNode() -> (current: i64) {
        node num: Num = Num(5);
        start >> num >> end;
    }
}

/// PF-01
#[tokio::test]
async fn one_node_runs_to_the_default_end() {
    let (out, trace) = traced(&OneNode::new(), OneNodeInput::builder().build()).await;
    assert_eq!(out.current, 5);
    assert_eq!(out.end, OneNodeEnd::Default);
    assert_eq!(trace, "num");
}

flow! {
    Chain() -> (current: i64) {
        node num: Num = Num(5);
        node add: Add = Add(3);
        node mul: Mul = Mul(2);
        start >> num >> add >> mul >> end;
    }
}

flow! {
    EdgeByEdge() -> (current: i64) {
        node num: Num = Num(5);
        node add: Add = Add(3);
        node mul: Mul = Mul(2);
        start >> num;
        num >> add;
        add - "default" >> mul;
        mul >> end;
    }
}

flow! {
    Reordered() -> (current: i64) {
        mul >> end;
        node mul: Mul = Mul(2);
        add >> mul;
        start >> num >> add;
        node num: Num = Num(5);
        node add: Add = Add(3);
    }
}

/// PF-02
#[tokio::test]
async fn a_chain_and_its_edges_one_by_one_are_the_same_flow() {
    let (out, trace) = traced(&Chain::new(), ChainInput::builder().build()).await;
    assert_eq!((out.current, trace.as_str()), (16, "num add mul"));

    let (out, trace) = traced(&EdgeByEdge::new(), EdgeByEdgeInput::builder().build()).await;
    assert_eq!((out.current, trace.as_str()), (16, "num add mul"));

    assert_eq!(
        format!("{:?}", Chain::ROUTES),
        format!("{:?}", EdgeByEdge::ROUTES)
    );
}

/// A flow is a graph: the order of its statements changes nothing.
#[tokio::test]
async fn the_order_of_statements_does_not_matter() {
    let (out, trace) = traced(&Reordered::new(), ReorderedInput::builder().build()).await;
    assert_eq!((out.current, trace.as_str()), (16, "num add mul"));
}

flow! {
    Branch() -> (current: i64) {
        node num: Num;
        node add_ten: Add = Add(10);
        node subtract_twenty: Add = Add(-20);
        start >> num >> check;
        check - "positive" >> add_ten >> end;
        check - "negative" >> subtract_twenty >> end;
    }
}

/// PF-03
#[tokio::test]
async fn a_branch_runs_one_of_its_targets() {
    for (number, current, trace) in [
        (5, 15, "num check add_ten"),
        (-5, -25, "num check subtract_twenty"),
        (0, 10, "num check add_ten"),
    ] {
        let flow = Branch::builder().num(Num(number)).build();
        let (out, run) = traced(&flow, BranchInput::builder().build()).await;
        assert_eq!((out.current, run.as_str()), (current, trace));
    }
}

flow! {
    Cycle() -> (current: i64) {
        node num: Num = Num(10);
        node sub3: Add = Add(-3);
        start >> num >> check;
        check - "positive" >> sub3 >> check;
        check - "negative" >> end("cycle_done");
    }
}

/// PF-04
#[tokio::test]
async fn a_cycle_ends_at_its_label() {
    let (out, trace) = traced(&Cycle::new(), CycleInput::builder().build()).await;
    assert_eq!(out.current, -2);
    assert_eq!(out.end.as_str(), "cycle_done");
    let rounds = "check sub3 ".repeat(4);
    assert_eq!(trace, format!("num {rounds}check"));
}

flow! {
    Nothing() {
        start >> end("at_once");
    }
}

#[tokio::test]
async fn a_flow_may_have_no_nodes() {
    let (out, trace) = traced(&Nothing::new(), NothingInput::builder().build()).await;
    assert_eq!((out.end.as_str(), trace.as_str()), ("at_once", ""));
    assert_eq!(NothingNode::ALL, []);
}

sources! {
    "basics.rs":
    OneNode => OneNodeAgain,
    Chain => ChainAgain,
    EdgeByEdge => EdgeByEdgeAgain,
    Reordered => ReorderedAgain,
    Branch => BranchAgain,
    Cycle => CycleAgain,
    Nothing => NothingAgain,
}

flow_law::law! {
    nodes: [check],
    flows: [
        OneNode with [Num = Num(5)],
        Chain with [Num = Num(5), Add = Add(3), Mul = Mul(2)],
        EdgeByEdge with [Num = Num(5), Add = Add(3), Mul = Mul(2)],
        Reordered with [Mul = Mul(2), Num = Num(5), Add = Add(3)],
        Cycle with [Num = Num(10), Add = Add(-3)],
        Nothing,
    ],
    left_out: [Branch],
}
