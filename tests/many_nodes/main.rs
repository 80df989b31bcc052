//! A flow of 600 different nodes compiles without a raised recursion limit, and runs; so does one
//! that goes round.

use flow_runtime::prelude::*;

include!(concat!(env!("OUT_DIR"), "/many_nodes.rs"));

#[tokio::test]
async fn six_hundred_nodes_run_in_order() {
    let input = ManyNodesInput::builder().total(0).build();
    let out = ManyNodes::new().run(input).await.unwrap();
    assert_eq!(NODES, 600);
    assert_eq!(out.total, NODES * (NODES + 1) / 2);
    assert_eq!(ManyNodesNode::ALL.len(), 600);
    assert_eq!(ManyNodesNode::ALL[599].as_str(), "node600");
}

#[tokio::test]
async fn a_hundred_nodes_go_back_into_their_middle() {
    let sum = |from: u64| (from..=ROUND).sum::<u64>();
    let mut total = sum(1);
    while total < 10_000 {
        total += sum(BACK_TO);
    }
    let input = ManyRoundsInput::builder().total(0).build();
    let out = ManyRounds::new().run(input).await.unwrap();
    assert_eq!(out.total, total);
    assert_eq!(out.total, 5_050 + 4_860 + 4_860);
}
