//! Nodes that add to a key.

use super::notation::{graph, report};
use crate::{NodeId, check};

#[test]
fn an_addition_writes_its_key() {
    let flow = "
        out log
        node note writes +log
        node more writes +log
        start >> note >> more >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_key_that_is_only_added_to_has_no_type() {
    let flow = "
        node note writes +log
        node more writes +log
        start >> note >> more >> end
    ";
    let expected = r#"node note: `note` adds to `log`, and nothing says of which type it is [F024]
help: return it as an output of the flow, such as `log: Vec<_>`, or let a node read it
see node more: `more` adds to it too"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_question_and_a_branch_do_not_say_the_type() {
    let flow = "
        node note writes +log
        human ask log
        start >> note >> ask >> end
    ";
    assert!(report(flow).starts_with("node note: `note` adds to `log`, and nothing says"));
}

#[test]
fn branches_may_add_to_the_same_key_and_read_it() {
    let flow = "
        in log
        out log
        node a log writes +log
        node b log writes +log
        fork both [ a , b ]
        start >> both >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_branch_that_adds_to_what_another_one_writes() {
    let flow = "
        in log
        out log
        node a log writes log
        node b writes +log
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node b: `b` adds to `log` while `a` writes it in another branch [F010]
help: put it after `a`
see node a: `a` writes `log`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_node_that_reads_what_it_adds_to_is_reported_once() {
    let flow = "
        in log
        out log
        node a log writes log
        node b log writes +log
        fork both [ a , b ]
        start >> both >> end
    ";
    assert_eq!(report(flow).matches("F010").count(), 1, "{}", report(flow));
}

#[test]
fn an_end_without_an_addition_lacks_the_output() {
    let flow = "
        out log
        node review on approved on rejected
        node note writes +log
        start >> review
        review - approved >> end
        review - rejected >> note >> end
    ";
    assert!(report(flow).contains("this end leaves the output `log` unwritten [F011]"));
}

/// The nodes that may begin the value of a key.
fn first(text: &str, key: &str) -> Vec<String> {
    let checked = check(graph(text)).expect("a sound flow");
    let nodes = checked.graph().nodes.iter().enumerate();
    let first = nodes.filter(|(at, _)| checked.may_add_first(NodeId(*at), key));
    first.map(|(_, node)| node.name.clone()).collect()
}

#[test]
fn the_first_addition_on_a_path_begins_the_value() {
    let flow = "
        in log
        out log
        node a writes +log
        start >> a >> end
    ";
    assert_eq!(first(flow, "log"), Vec::<String>::new());
    let flow = "
        out log
        node a writes +log
        node again on more on done
        start >> a >> again
        again - more >> a
        again - done >> end
    ";
    assert_eq!(first(flow, "log"), ["a"]);
    let flow = "
        out log
        node choose on left on right
        node a writes +log
        node b writes +log
        start >> choose
        choose - left >> a >> b
        choose - right >> b
        b >> end
    ";
    assert_eq!(first(flow, "log"), ["a", "b"]);
    let flow = "
        out log
        node a writes +log
        node b writes +log
        fork both [ a , b ]
        start >> both >> end
    ";
    assert_eq!(first(flow, "log"), ["a", "b"]);
}

#[test]
fn a_branch_does_not_see_what_another_one_adds() {
    let flow = "
        out log
        node a writes +log
        node b log
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node b: `b` reads `log`, which is not written on every path to it [F007]
this path does not write it: start >> both
what `a` adds at the same time is not seen in this branch
help: write `log` before, read it as `Option<&Log>`, or add it to the flow's inputs: `log: Log`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_actions_of_a_node_treat_a_key_alike() {
    let flow = "
        out log
        node review on approved writes log on rejected writes +log
        start >> review
        review - approved >> end
        review - rejected >> end
    ";
    let expected = r#"node review: `review` replaces `log` with "approved", and adds to it with "rejected" [F024]
help: give one of the fields another name, or let another node add"#;
    assert_eq!(report(flow), expected);
    let flow = "
        out log
        node review on approved writes +log : A on rejected writes +log : B
        start >> review
        review - approved >> end
        review - rejected >> end
    ";
    let expected = r#"node review: `review` adds `A` to `log` with "approved", and `B` with "rejected" [F024]
help: give one of the fields another name, or let another node add"#;
    assert_eq!(report(flow), expected);
}
