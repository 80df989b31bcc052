//! A flow of 600 different nodes compiles without a raised recursion limit, and runs.

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
