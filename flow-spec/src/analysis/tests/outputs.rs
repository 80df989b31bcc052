//! What a flow returns is written at its ends.

use super::notation::report;

#[test]
fn every_end_has_it() {
    let flow = "
        out receipt
        node pay writes receipt
        start >> pay >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_end_without_it() {
    let flow = "
        out receipt
        node review on yes on no
        node pay writes receipt
        start >> review
        review - yes >> pay >> end
        review - no >> end:rejected
    ";
    let expected = r#"edge 3 To: this end leaves the output `receipt` unwritten [F011]
this path does not write it: start >> review - "no" >> end("rejected")
help: write `receipt` before, or declare it `receipt: Option<Receipt>`
see output receipt: the output is declared here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_optional_output() {
    let flow = "
        out receipt?
        node review on yes on no
        node pay writes receipt
        start >> review
        review - yes >> pay >> end
        review - no >> end:rejected
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_output_that_nothing_writes() {
    let flow = "
        out invoice?
        node pay
        start >> pay >> end
    ";
    let expected = r#"output invoice: nothing writes the output `invoice` [F015]
help: let a node write it: `#[node(writes = invoice)]`, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_misspelt_output() {
    let flow = "
        out reciept
        node pay writes receipt
        start >> pay >> end
    ";
    let expected = r#"output reciept: nothing writes the output `reciept` [F015]
help: did you mean `receipt`?"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_input_may_be_returned() {
    let flow = "
        in claim
        out claim
        start >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_input_that_nothing_reads() {
    let flow = "
        in claim
        in policy
        node a claim
        start >> a >> end
    ";
    let expected = r#"input policy: nothing reads the input `policy` [F019]
help: remove it, or let a node read it"#;
    assert_eq!(report(flow), expected);
}
