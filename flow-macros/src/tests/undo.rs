//! Generated code of flows that can be undone.

use super::rustc::{Rustc, parse};

/// The code of the second half of a flow.
fn expanded(nodes: &[&str], flows: &[&str]) -> String {
    let mut rustc = Rustc::default();
    for node in nodes {
        rustc.node(parse(""), parse(node));
    }
    let mut code = String::new();
    for flow in flows {
        let expansions = rustc.flow(parse(flow));
        let [_, second_half] = &expansions[..] else {
            panic!("a flow without mistakes has two halves: {flow}");
        };
        code = second_half.to_string();
    }
    code
}

#[test]
fn a_loop_with_spread_over_a_flow_checks_that_nobody_has_to_undo_it() {
    let message = "`Item` can be undone, and the items of a loop with `spread` run as executions of their own, \
                   which nobody undoes with it [F025]";
    let help = "help: remove `spread`, or `undo` at the steps of `Item`";
    let note = ["fn note(id: &u64) -> u8 { 1 }"];
    let item = "Item(id: u64) -> (note: u8) { start >> note >> end; }";
    for (setting, is_checked) in [("spread(10)", true), ("concurrency(10)", false)] {
        let all = format!(
            "All(ids: Vec<u64>) -> (all: Vec<u8>) {{
                node all: for id in ids {{ Item }} with {setting};
                start >> all >> end;
            }}"
        );
        let code = expanded(&note, &[item, &all]);
        assert_eq!(code.contains(message), is_checked, "{code}");
        assert_eq!(code.contains(help), is_checked, "{code}");
    }
}

#[test]
fn what_an_undo_node_reads_is_kept_before_an_edge_takes_it() {
    let code = expanded(
        &[
            "fn pay(id: &u64) -> u8 { 1 }",
            "fn refund(id: u64, pay: &u8) {}",
            "fn show(shown: u64) {}",
        ],
        &["Paid(id: u64) -> () {
            node paid: pay { pay -> pay } with undo = refund;
            start >> paid >> show { shown <- id } >> end;
        }"],
    );
    let kept = code.find("undoable").unwrap();
    let moved = code.find("shown =").unwrap();
    assert!(kept < moved, "{code}");
}
