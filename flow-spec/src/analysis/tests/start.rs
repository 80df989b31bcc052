//! Where a flow begins.

use super::notation::report;

#[test]
fn one_start_is_right() {
    let flow = "
        node a
        start >> a >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_edge_from_start_to_end_is_a_flow() {
    let flow = "
        start >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn nothing_at_all() {
    let flow = "

    ";
    let expected = r#"flow: the flow has no `start`: nothing would run [F018]
help: say where it begins: `start >> first_step;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn no_start() {
    let flow = "
        node a
        node b
        a >> b >> end
    ";
    let expected = r#"flow: the flow has no `start`: nothing would run [F018]
help: say where it begins: `start >> a;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn two_starts() {
    let flow = "
        node a
        node b
        start >> a >> end
        start >> b >> end
    ";
    let expected = r#"edge 2 From: the flow starts twice: at `a` and at `b` [F018]
help: to run both at the same time, write `start >> [a, b] >> …`
see edge 0 From: the first `start` is here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_same_start_twice() {
    let flow = "
        node a
        start >> a >> end
        start >> a
    ";
    let expected = r#"edge 2 From: `start >> a` stands here twice [F018]
help: remove one of them
see edge 0 From: the first `start` is here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn start_has_no_actions() {
    let flow = "
        node a
        start - yes >> a >> end
    ";
    let expected = r#"edge 0 Action: `start` has no action "yes" [F001]
help: write `start >> a`"#;
    assert_eq!(report(flow), expected);
}
