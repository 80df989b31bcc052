//! Which values are moved out of the state, and which are cloned for whom.

use super::notation::graph;
use crate::graph::ReadMode;
use crate::{Reader, Take, check};

/// Each value that is taken, and how.
fn takes(text: &str) -> String {
    let checked = check(graph(text)).expect("a sound flow");
    let graph = checked.graph();
    let how = |take| match take {
        Take::Move => "moved".to_owned(),
        Take::Clone { later } => match later {
            Reader::Output => "cloned for the output".to_owned(),
            Reader::Node(id) => format!("cloned for {}", graph.node(id).name),
            Reader::Adder(id) => format!("cloned for what {} adds to", graph.node(id).name),
            Reader::Edge(edge) => format!("cloned for edge {edge}"),
        },
    };
    let mut lines = Vec::new();
    for id in graph.node_ids() {
        let node = graph.node(id);
        for (at, read) in node.reads.iter().enumerate() {
            if read.mode == ReadMode::Borrow {
                continue;
            }
            let how = how(checked.take(id, at));
            lines.push(format!("{} {}: {how}", node.name, read.key));
        }
    }
    for (edge, of) in graph.edges.iter().enumerate() {
        for (index, mapping) in of.mappings.iter().enumerate() {
            let how = how(checked.take_of_edge(edge, index));
            lines.push(format!("edge {edge} {}: {how}", mapping.source));
        }
    }
    lines.join(", ")
}

#[test]
fn nothing_reads_it_later() {
    let flow = "
        in claim
        node review claim
        node pay *claim
        start >> review >> pay >> end
    ";
    assert_eq!(takes(flow), "pay claim: moved");
}

#[test]
fn a_later_node_reads_it() {
    let flow = "
        in claim
        node pay *claim
        node check
        node file claim?
        start >> pay >> check >> file >> end
    ";
    assert_eq!(takes(flow), "pay claim: cloned for file");
}

#[test]
fn the_nearest_reader_is_named() {
    let flow = "
        in claim
        node pay *claim
        node near claim
        node far claim
        start >> pay >> near >> far >> end
    ";
    assert_eq!(takes(flow), "pay claim: cloned for near");
}

#[test]
fn it_is_written_anew_before_it_is_read() {
    let flow = "
        in claim
        node revise *claim writes claim
        node review claim on again on done
        start >> revise >> review
        review - again >> revise
        review - done >> end
    ";
    assert_eq!(takes(flow), "revise claim: moved");
}

#[test]
fn what_may_be_written_anew_may_also_not_be() {
    let flow = "
        in claim
        flow revise Revise *claim writes claim?
        node review claim
        start >> revise >> review >> end
    ";
    assert_eq!(takes(flow), "revise claim: cloned for review");
}

#[test]
fn a_loop_reads_it_again() {
    let flow = "
        in claim
        node try *claim on again on done
        start >> try
        try - again >> try
        try - done >> end
    ";
    assert_eq!(takes(flow), "try claim: cloned for try");
}

#[test]
fn it_is_read_where_the_node_has_failed() {
    let flow = "
        in claim
        node revise! *claim writes claim
        node apologise claim
        start >> revise >> end
        revise - error >> apologise >> end
    ";
    assert_eq!(takes(flow), "revise claim: cloned for apologise");
}

#[test]
fn the_flow_returns_it() {
    let flow = "
        in claim
        out claim
        node pay *claim
        start >> pay >> end
    ";
    assert_eq!(takes(flow), "pay claim: cloned for the output");
}

#[test]
fn the_same_node_reads_it_again() {
    let flow = "
        in claim
        node compare *claim *claim
        start >> compare >> end
    ";
    assert_eq!(
        takes(flow),
        "compare claim: cloned for compare, compare claim: moved"
    );
}

#[test]
fn the_same_node_borrows_it_as_well() {
    let flow = "
        in claim
        node compare claim *claim
        start >> compare >> end
    ";
    assert_eq!(takes(flow), "compare claim: cloned for compare");
}

#[test]
fn another_branch_reads_it_at_the_same_time() {
    let flow = "
        in claim
        node left *claim
        node right *claim
        fork both [ left , right ]
        start >> both >> end
    ";
    assert_eq!(
        takes(flow),
        "left claim: cloned for right, right claim: cloned for left"
    );
}

#[test]
fn a_later_step_of_the_branch_reads_it() {
    let flow = "
        in claim
        node first *claim
        node second *claim
        node other
        fork both [ first second , other ]
        start >> both >> end
    ";
    assert_eq!(
        takes(flow),
        "first claim: cloned for second, second claim: moved"
    );
}

#[test]
fn it_is_read_behind_the_fork() {
    let flow = "
        in claim
        node left *claim
        node right
        fork both [ left , right ]
        node file claim
        start >> both >> file >> end
    ";
    assert_eq!(takes(flow), "left claim: cloned for file");
}

#[test]
fn it_is_read_where_the_fork_has_failed() {
    let flow = "
        in claim
        node left *claim
        node right!
        fork both [ left , right ]
        node apologise claim
        start >> both >> end
        both - error >> apologise >> end
    ";
    assert_eq!(takes(flow), "left claim: cloned for apologise");
}

#[test]
fn each_item_is_a_new_one_but_nothing_else_is() {
    let flow = "
        in chunks
        in style
        node summarize *chunk *style
        each all chunk summarize *chunks
        start >> all >> end
    ";
    assert_eq!(
        takes(flow),
        "summarize chunk: moved, summarize style: cloned for summarize, all chunks: moved"
    );
}

#[test]
fn a_mapping_moves_what_nothing_reads_later() {
    let flow = "
        in text
        node look text
        node eat *draft
        start >> look >> eat { draft <- text } >> end
    ";
    assert_eq!(takes(flow), "eat draft: moved, edge 1 text: moved");
    let again = "
        in text
        node look text on more on enough
        node eat *draft
        start >> look
        look - more >> eat { draft <- text } >> look
        look - enough >> end
    ";
    assert_eq!(
        takes(again),
        "eat draft: moved, edge 1 text: cloned for look"
    );
}

#[test]
fn a_node_leaves_what_an_edge_reads_later() {
    let flow = "
        in text
        node eat *text
        node look draft
        start >> eat >> look { draft <- text } >> end
    ";
    assert_eq!(
        takes(flow),
        "eat text: cloned for edge 1, edge 1 text: moved"
    );
}

#[test]
fn swapped_keys_are_both_moved() {
    let flow = "
        in left
        in right
        node look left right
        start >> look { left <- right , right <- left } >> end
    ";
    assert_eq!(takes(flow), "edge 0 right: moved, edge 0 left: moved");
}

#[test]
fn a_later_node_adds_to_it() {
    let flow = "
        in log
        out log
        node send *log
        node note writes +log
        start >> send >> note >> end
    ";
    assert_eq!(takes(flow), "send log: cloned for what note adds to");
}

#[test]
fn a_node_adds_to_what_it_takes() {
    let flow = "
        in log
        node note *log writes +log
        start >> note >> end
    ";
    assert_eq!(takes(flow), "note log: cloned for what note adds to");
}

#[test]
fn another_branch_adds_to_it() {
    let flow = "
        in log
        node note writes +log
        node send *log
        fork both [ note , send ]
        start >> both >> end
    ";
    assert_eq!(takes(flow), "send log: cloned for what note adds to");
}

#[test]
fn an_addition_after_a_new_value_is_not_a_later_reader() {
    let flow = "
        in log
        out log
        node send *log
        node begin writes log
        node note writes +log
        start >> send >> begin >> note >> end
    ";
    assert_eq!(takes(flow), "send log: moved");
}

#[test]
fn its_undo_node_reads_it() {
    let flow = "
        in order
        node refund order *receipt
        node charge *order writes receipt undo refund
        node mail *receipt
        undo undo
        start >> charge >> mail >> undo >> end
    ";
    assert_eq!(
        takes(flow),
        "refund receipt: moved, charge order: cloned for refund, mail receipt: moved"
    );
}

#[test]
fn the_undo_node_of_a_later_node_reads_it() {
    let flow = "
        in order
        node refund *order *order
        node check *order
        node charge undo refund
        node mail *order
        undo undo
        start >> check >> charge >> mail >> undo >> end
    ";
    assert_eq!(
        takes(flow),
        "refund order: cloned for refund, refund order: moved, check order: cloned for refund, mail order: moved"
    );
}

#[test]
fn a_node_that_fails_needs_no_copy_for_its_undo_node() {
    let flow = "
        in order
        node refund receipt
        node charge! *order on paid writes receipt on timeout undo refund
        node file order
        undo undo
        start >> charge - paid >> undo >> end
        charge - timeout >> file >> end
    ";
    assert_eq!(takes(flow), "charge order: cloned for file");
    let alone = flow.replace("node file order", "node file");
    assert_eq!(takes(&alone), "charge order: moved");
}

#[test]
fn an_undo_node_in_a_loop_of_edges_takes_its_own_copy() {
    let flow = "
        in order
        node refund *order
        node charge on more on enough undo refund
        undo undo
        start >> charge - more >> charge
        charge - enough >> undo >> end
    ";
    assert_eq!(takes(flow), "refund order: moved");
}

#[test]
fn the_undo_node_of_another_branch_reads_it_at_the_same_time() {
    let flow = "
        in order
        node refund *order
        node charge undo refund
        node pack *order
        fork both [ charge , pack ]
        undo undo
        start >> both >> undo >> end
    ";
    assert_eq!(
        takes(flow),
        "refund order: moved, pack order: cloned for refund"
    );
    let race = flow.replace("fork both", "first both");
    assert_eq!(takes(&race), takes(flow));
}
