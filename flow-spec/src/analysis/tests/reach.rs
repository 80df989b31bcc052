//! Whether start leads to every node, and every node to an end.

use super::notation::report;

#[test]
fn a_declared_node_without_edges() {
    let flow = "
        node a
        node audit
        start >> a >> end
    ";
    let expected = r#"node audit: `audit` is declared but no edge leads to it [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_help_names_an_action_that_is_free() {
    let flow = "
        node review on approved on rejected
        node pay
        start >> review - rejected >> end
        pay >> end
    ";
    let expected = r#"node review: action "approved" of `review` goes nowhere [F002]
help: say where it goes, such as `review - "approved" >> end;`

node pay: no edge leads to `pay` [F005]
help: lead an edge to it, such as `review - "approved" >> pay;`, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn only_the_first_of_an_unreachable_row() {
    let flow = "
        node a
        node b
        node c
        start >> a >> end
        b >> c >> end
    ";
    let expected = r#"node b: no edge leads to `b` [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_that_only_leads_to_itself() {
    let flow = "
        node a
        node b on again on done
        node c
        start >> a >> end
        b - again >> c >> b
        b - done >> end
    ";
    let expected = r#"node b: no path leads from `start` to `b` [F005]
only its own loop leads to it: b - "again" >> c >> b
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nodes_behind_a_wrong_edge_are_reached() {
    let flow = "
        node a
        node b
        start >> a
        a - wrong >> b >> end
    ";
    let expected = r#"edge 1 Action: `a` has no action "wrong" [F001]
help: to let it decide, return an enum with `#[derive(Action)]`, and name that: `#[node(actions = …)]`; else write `a >> b`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_without_a_way_out() {
    let flow = "
        node a
        node b
        node c
        start >> a >> b >> c >> b
    ";
    let expected = r#"node b: no path leads from `b` to an `end` [F006]
this loop has no way out: b >> c >> b
help: let a node of the loop choose between two actions, one of which leads out of it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_of_choices_without_a_way_out() {
    let flow = "
        node a on more on less
        start >> a - more >> a
        a - less >> a
    ";
    let expected = r#"node a: no path leads from `a` to an `end` [F006]
this loop has no way out: a - "more" >> a
help: lead an action out of it, such as `a - "less" >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn one_report_for_each_trap() {
    let flow = "
        node a on left on right
        node b
        node c
        start >> a
        a - left >> b >> b
        a - right >> c >> c
    ";
    let expected = r#"node b: no path leads from `b` to an `end` [F006]
this loop has no way out: b >> b
help: let a node of the loop choose between two actions, one of which leads out of it

node c: no path leads from `c` to an `end` [F006]
this loop has no way out: c >> c
help: let a node of the loop choose between two actions, one of which leads out of it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn failing_is_no_way_out() {
    let flow = "
        node a!
        start >> a >> a
    ";
    let expected = r#"node a: no path leads from `a` to an `end` [F006]
this loop has no way out: a >> a
help: let a node of the loop choose between two actions, one of which leads out of it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_error_edge_to_an_end_is_one() {
    let flow = "
        node a!
        start >> a >> a
        a - error >> end:failed
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_unrouted_action_excuses_the_loop() {
    let flow = "
        node a on again on done
        start >> a
        a - again >> a
    ";
    let expected = r#"node a: action "done" of `a` goes nowhere [F002]
help: say where it goes, such as `a - "done" >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_with_a_way_out_is_right() {
    let flow = "
        node a on again on done
        start >> a
        a - again >> a
        a - done >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_branch_that_leads_to_itself() {
    let flow = "
        in number
        branch big number on yes on again
        start >> big - yes >> end
        big - again >> big
    ";
    let expected = r#"edge 2 To: `big` leads to itself for ever: a branch changes no value [F006]
the loop: big - "again" >> big
help: put a step into the loop that writes what a condition reads, or lead the action somewhere else"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_of_branches() {
    let flow = "
        in number
        node work number on yes on again
        branch one number on yes on again
        branch two number on yes on again
        start >> one - again >> two - again >> one
        one - yes >> work - again >> one
        two - yes >> end
        work - yes >> end
    ";
    let expected = r#"edge 2 To: this loop never ends: it consists of branches, which change no value [F006]
the loop: one - "again" >> two - "again" >> one
help: put a step into the loop that writes what a condition reads, or lead the action somewhere else"#;
    assert_eq!(report(flow), expected);
    // What an edge maps is another value.
    let maps = flow.replace(
        "two - again >> one",
        "two - again >> one { number <- number }",
    );
    assert!(!report(&maps).contains("never ends"), "{}", report(&maps));
    let ends = flow.replace("two - again >> one", "two - again >> work");
    assert_eq!(report(&ends), "sound");
}
