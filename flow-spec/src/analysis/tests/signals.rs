//! Nodes that wait for a signal.

use super::notation::report;

#[test]
fn a_signal_in_a_race_writes_its_fields() {
    let flow = "
        out receipt?
        node fulfil writes receipt
        signal CancelRequest writes reason
        wait pause
        node apologise reason
        first outcome [ fulfil = shipped , CancelRequest = cancelled , pause = late ]
        start >> outcome - shipped >> end
        outcome - cancelled >> apologise >> end:cancelled
        outcome - late >> end:late
    ";
    assert_eq!(report(flow), "sound");
    let behind = flow.replace("late >> end:late", "late >> apologise");
    let expected = r#"edge 4 To: `apologise` reads `reason`, which is not written on every path to it [F007]
this path does not write it: start >> outcome - "late" >> apologise
`outcome` writes `reason` only on "cancelled"
help: write `reason` before, read it as `Option<&Reason>`, or add it to the flow's inputs: `reason: Reason`"#;
    assert_eq!(report(&behind), expected);
}

#[test]
fn the_variants_of_a_signal_are_its_actions() {
    let flow = "
        signal change on cancel writes reason on address writes street
        node mail street
        start >> change - cancel >> end:cancelled
        change - address >> mail >> end
    ";
    assert_eq!(report(flow), "sound");
    let forgotten = flow.replace("- cancel >> end:cancelled", "- address >> end");
    let expected = r#"node change: action "cancel" of `change` goes nowhere [F002]
help: say where it goes, such as `change - "cancel" >> end;`"#;
    let said = report(&forgotten.replace("change - address >> mail >> end", ""));
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_error_of_a_signal_without_a_timeout() {
    let flow = "
        signal stop
        start >> stop >> end
        stop - error >> end
    ";
    let expected = r#"edge 2 Action: `stop` cannot fail, so it never takes "error" [F013]
help: say how long `stop` waits, by a `timeout`, or remove this edge"#;
    assert_eq!(report(flow), expected);
    let limited = flow.replace("signal stop", "signal stop!");
    assert_eq!(report(&limited), "sound");
}

#[test]
fn an_error_of_a_signal_whose_timeout_is_routed() {
    let flow = "
        signal stop on default on timeout
        start >> stop >> end
        stop - timeout >> end:late
        stop - error >> end:failed
    ";
    let expected = r#"edge 3 Action: `stop` cannot fail, so it never takes "error" [F013]
help: it takes "timeout" if no signal comes in time; remove this edge"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_timeout_of_a_signal_that_is_awaited_for_ever() {
    let flow = "
        signal stop
        signal change on yes on no
        start >> stop >> change
        stop - timeout >> end
        change - yes >> end
        change - no >> end
        change - timeout >> end
    ";
    let expected = r##"edge 2 Action: `stop` has no action "timeout" [F001]
help: give it a `timeout` where it is defined: `#[node(signal, timeout = "24h")]`; or remove this edge

edge 5 Action: `change` has no action "timeout" [F001]
help: give it a `timeout` where it is defined: `#[node(signal, timeout = "24h")]`; or remove this edge"##;
    assert_eq!(report(flow), expected);
}

/// A field of a signal that is written as a whole is not a key.
#[test]
fn a_field_of_the_whole_signal() {
    let flow = "
        signal CancelRequest writes request : CancelRequest
        node apologise why
        start >> CancelRequest >> apologise >> end
    ";
    let expected = r#"read why of apologise: `apologise` reads `why`, which nothing writes [F007]
help: write `why` before, read it as `Option<&Why>`, or add it to the flow's inputs: `why: Why`; a field of `CancelRequest` is read from the whole, `request: &CancelRequest`"#;
    assert_eq!(report(flow), expected);
    let in_fields = flow.replace("writes request : CancelRequest", "writes reason : String");
    let expected = expected
        .split("; a field")
        .next()
        .expect("there is one part");
    assert_eq!(report(&in_fields), expected);
}

/// The help has the word without which a declared signal is refused.
#[test]
fn a_signal_or_a_question_in_two_forks() {
    let flow = "
        signal stop
        human ask
        fork one [ stop , ask ]
        fork two [ stop , ask ]
        start >> one >> two >> end
    ";
    let expected = "node stop: `stop` stands in `one` and again in `two` [F020]
help: give the second place a node of its own: `node stop_again: signal stop;`

node ask: `ask` stands in `one` and again in `two` [F020]
help: give the second place a node of its own: `node ask_again: human ask;`";
    assert_eq!(report(flow), expected);
}
