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

/// What each end writes; `?` is written on some paths to it only.
fn ends(text: &str) -> String {
    let checked = crate::check(super::notation::graph(text)).expect("a sound flow");
    let end = |end: &crate::Action| {
        let writes = end.writes.iter();
        let writes = writes.map(|write| {
            let mark = if write.optional { "?" } else { "" };
            format!(" {}{mark}", write.key)
        });
        format!("{}:{}", end.name, writes.collect::<String>())
    };
    checked
        .ends()
        .iter()
        .map(end)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_end_writes_what_every_path_to_it_writes() {
    let flow = "
        in claim
        out claim
        out receipt?
        out letter?
        node review claim on yes on no on later
        node pay writes receipt
        node write writes letter
        start >> review
        review - yes >> pay >> end
        review - no >> write >> end:refused
        review - later >> end:refused
    ";
    assert_eq!(ends(flow), "default: claim receipt\nrefused: claim letter?");
}

#[test]
fn a_loop_may_have_written_it_in_an_earlier_round() {
    let flow = "
        out draft?
        node review on write on done
        node write writes draft
        start >> review
        review - write >> write >> review
        review - done >> end
    ";
    assert_eq!(ends(flow), "default: draft?");
}

#[test]
fn a_fork_that_fails_has_written_nothing() {
    let flow = "
        out stock?
        out price?
        fork both! [ stock , price ]
        node stock writes stock
        node price! writes price
        start >> both >> end
        both - error >> end:unknown
    ";
    assert_eq!(ends(flow), "default: stock price\nunknown:");
}

#[test]
fn an_end_of_an_inner_flow_writes_what_its_action_says() {
    let flow = "
        out parcel?
        out note?
        flow order Order on default writes parcel on unpaid writes note?
        start >> order >> end
        order - unpaid >> end:unpaid
    ";
    assert_eq!(ends(flow), "default: parcel\nunpaid: note?");
}

#[test]
fn an_input_that_may_be_left_out_may_be_missing() {
    let flow = "
        in note?
        in claim
        out note?
        out claim?
        start >> end
    ";
    assert_eq!(ends(flow), "default: note? claim");
}

/// The key is written, and holds the `Option` that the node returned.
#[test]
fn an_option_that_a_node_returned_may_be_none() {
    let flow = "
        out train? : u32
        out delay? : Option<u32>
        node find writes train : Option<u32> delay : Option<u32>
        start >> find >> end
    ";
    assert_eq!(ends(flow), "default: train? delay");
}
