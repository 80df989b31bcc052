//! Names that are reserved or taken.

use super::notation::report;

#[test]
fn reserved_and_repeated_nodes() {
    let flow = "
        node for
        node a
        node a
        start >> for >> a >> end
    ";
    let expected = r#"node for: a node cannot be called `for`, which is a word of the language [F017]
help: give it another name: `node for_step: …;`

node a: a second node is called `a` [F017]
help: give it another name: `node second_a: …;`
see node a: the first one is here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn anonymous_forks_and_waits_may_share_a_name() {
    let flow = "
        node a
        node b
        fork [a] [ a ]
        fork [a] [ b ]
        wait wait
        wait wait
        start >> [a] >> end
    ";
    let expected = r#"node wait: `wait` is declared but no edge leads to it [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn reserved_keys() {
    let flow = "
        in error
        out error?
        node a writes error
        node b error
        start >> a >> b >> end
    ";
    let expected = r#"input error: `error` is reserved for the failed node's error [F017]
help: use another key, such as `problem`

output error: `error` is reserved for the failed node's error [F017]
help: use another key, such as `problem`

node a: `a` writes `error`, which is reserved for the failed node's error [F017]
help: use another key, such as `problem`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn repeated_inputs_and_outputs() {
    let flow = "
        in claim
        in claim
        out claim
        out claim
        start >> end
    ";
    let expected = r#"input claim: the input `claim` is declared twice [F017]
help: remove one of them, or give it another name
see input claim: it is declared here already

output claim: the output `claim` is declared twice [F017]
help: remove one of them, or give it another name
see output claim: it is declared here already"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn repeated_actions() {
    let flow = "
        node a on yes on yes on yes
        start >> a - yes >> end
    ";
    let expected = r#"node a: `a` has two actions "yes" [F017]
help: give one of them another name"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_reserved_label() {
    let flow = "
        node a
        start >> a >> end:error
    ";
    let expected = r#"edge 1 Label: the label "error" is reserved for a flow that has failed [F017]
help: call it something else, such as `end("failed")`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn labels_with_one_variant() {
    let flow = "
        node a on yes on no on later
        start >> a - yes >> end:not_paid
        a - no >> end:not-paid
        a - later >> end:not-paid
    ";
    let expected = r#"edge 2 Label: the labels "not_paid" and "not-paid" are both `NotPaid` [F017]
help: write both alike, or name one of them otherwise
see edge 1 Label: the first one is here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_flow_that_contains_itself() {
    let flow = "
        flow again Test
        start >> again >> end
    ";
    let expected = r#"node again: `Test` contains itself [F014]
help: lead an edge back to the step from which it has to run again"#;
    assert_eq!(report(flow), expected);
}
