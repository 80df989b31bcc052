//! Which actions a node has, and where they go.

use super::notation::report;

#[test]
fn a_misspelt_action() {
    let flow = "
        node review on approved on rejected
        start >> review
        review - aproved >> end
        review - rejected >> end
    ";
    let expected = r#"edge 1 Action: `review` has no action "aproved" [F001]
help: did you mean "approved"?"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_unknown_action_with_no_name_near() {
    let flow = "
        node review on approved on rejected
        start >> review
        review - maybe >> end
        review - rejected >> end
    ";
    let expected = r#"edge 1 Action: `review` has no action "maybe" [F001]
help: it takes "approved", "rejected""#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_action_of_a_node_that_has_none() {
    let flow = "
        node pay
        start >> pay
        pay - done >> end
    ";
    let expected = r#"edge 1 Action: `pay` has no action "done" [F001]
help: to let it decide, return an enum with `#[derive(Action)]`, and name that: `#[node(actions = …)]`; else write `pay >> end`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_plain_edge_from_a_node_that_chooses() {
    let flow = "
        node review on approved on rejected
        node pay
        start >> review >> pay >> end
    ";
    let expected = r#"edge 1 Action: this edge does not say which action of `review` it is for: it takes "approved", "rejected" [F001]
help: write an edge for each: `review - "approved" >> pay; review - "rejected" >> pay;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_plain_edge_from_a_node_with_an_action_that_has_none_yet() {
    let flow = "
        node review on approved on rejected
        node pay
        start >> review >> pay >> end
        review - approved >> end
    ";
    let expected = r#"edge 1 Action: this edge does not say which action of `review` it is for: it takes "approved", "rejected" [F001]
help: write `review - "rejected" >> pay`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_plain_edge_from_a_node_of_many_actions() {
    let flow = "
        node review on a on b on c on d
        start >> review >> end
    ";
    let expected = r#"edge 1 Action: this edge does not say which action of `review` it is for: it takes "a", "b", "c", "d" [F001]
help: write an edge for each: `review - "a" >> end; review - "b" >> end; review - "c" >> end; …`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_writes_of_a_misspelt_action_are_those_of_the_meant_one() {
    let flow = "
        node review on approved writes amount on rejected
        node pay amount
        start >> review
        review - aproved >> pay >> end
        review - rejected >> end
    ";
    let expected = r#"edge 1 Action: `review` has no action "aproved" [F001]
help: did you mean "approved"?"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_unrouted_action() {
    let flow = "
        node review on approved on rejected
        start >> review
        review - approved >> end
    ";
    let expected = r#"node review: action "rejected" of `review` goes nowhere [F002]
help: say where it goes, such as `review - "rejected" >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_node_that_leads_nowhere() {
    let flow = "
        node pay
        start >> pay
    ";
    let expected = r#"node pay: `pay` leads nowhere [F002]
help: say where it goes, such as `pay >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_error_need_not_be_routed() {
    let flow = "
        node pay!
        start >> pay >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_error_of_a_person_who_has_all_the_time() {
    let flow = "
        human approval
        start >> approval >> end
        approval - error >> end
    ";
    let expected = r#"edge 2 Action: `approval` cannot fail, so it never takes "error" [F013]
help: say how long there is to answer, by a `timeout` of `approval`, or remove this edge"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_error_of_a_person_whose_timeout_is_routed() {
    let flow = "
        human approval on default on timeout
        start >> approval >> end
        approval - timeout >> end:late
        approval - error >> end:failed
    ";
    let expected = r#"edge 3 Action: `approval` cannot fail, so it never takes "error" [F013]
help: it takes "timeout" if nobody answers in time; remove this edge"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_timeout_of_a_person_who_has_all_the_time() {
    let flow = "
        human approval
        human choice on yes on no
        start >> approval >> choice
        approval - timeout >> end
        choice - yes >> end
        choice - no >> end
        choice - timeout >> end
    ";
    let expected = r##"edge 2 Action: `approval` has no action "timeout" [F001]
help: give it a `timeout` where it is defined: `#[node(human = "…", timeout = "24h")]`; or remove this edge

edge 5 Action: `choice` has no action "timeout" [F001]
help: give it a `timeout` where it is defined: `#[node(human = "…", timeout = "24h")]`; or remove this edge"##;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_error_of_a_node_that_cannot_fail() {
    let flow = "
        node pay
        node apologise
        start >> pay >> end
        pay - error >> apologise >> end
    ";
    let expected = r#"edge 2 Action: `pay` cannot fail, so it never takes "error" [F013]
help: let `pay` return a `Result`, or remove this edge"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_action_of_its_own_may_be_called_error() {
    let flow = "
        node parse on parsed on error
        start >> parse
        parse - parsed >> end
        parse - error >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_misspelt_error() {
    let flow = "
        node pay!
        node apologise error
        start >> pay >> end
        pay - eror >> apologise >> end
    ";
    let expected = r#"edge 2 Action: `pay` has no action "eror" [F001]
help: did you mean "error"?"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn two_edges_offer_a_fork() {
    let flow = "
        node dispatch
        node mail
        node store
        node close
        start >> dispatch >> mail >> close >> end
        dispatch >> store >> close
    ";
    let expected = r#"edge 4 Action: `dispatch` leads to two places: to `mail` and to `store` [F003]
help: to run both at the same time, write `dispatch >> [mail, store] >> close`; else remove one of them
see edge 1 Action: it is routed here already"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn two_edges_for_an_action() {
    let flow = "
        node review on yes on no
        node pay
        start >> review - yes >> pay >> end
        review - yes >> end
        review - no >> end
    ";
    let expected = r#"edge 3 Action: action "yes" of `review` goes to two places: to `pay` and to `end` [F003]
help: remove one of them
see edge 1 Action: it is routed here already"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn two_edges_for_an_error() {
    let flow = "
        node pay!
        node a
        node b
        start >> pay >> end
        pay - error >> a >> end
        pay - error >> b >> end
    ";
    let expected = r#"edge 4 Action: action "error" of `pay` goes to two places: to `a` and to `b` [F003]
help: to run both at the same time, write `pay - "error" >> [a, b] >> end`; else remove one of them
see edge 2 Action: it is routed here already"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_same_edge_twice() {
    let flow = "
        node pay
        node close
        start >> pay >> close >> end
        pay >> close
    ";
    let expected = r#"edge 3 Action: `pay` leads to `close` already: this edge stands here twice [F003]
help: remove one of them
see edge 1 Action: it is routed here already"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_edge_to_a_node_that_does_not_exist() {
    let flow = "
        node a
        start >> a >> nobody
    ";
    let expected = r#"edge 1 To: this edge names node number 99, which does not exist [F004]"#;
    assert_eq!(report(flow), expected);
}
