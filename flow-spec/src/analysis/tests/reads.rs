//! What is read is written before.

use super::notation::{graph, report};
use crate::check;
use crate::graph::NodeKind;

#[test]
fn an_input_is_there() {
    let flow = "
        in claim
        node review claim
        start >> review >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_value_missing_on_one_path() {
    let flow = "
        in claim
        node review claim on approved on rejected
        node pay claim writes receipt
        node notify receipt
        start >> review
        review - approved >> pay >> notify >> end
        review - rejected >> notify
    ";
    let expected = r#"edge 4 To: `notify` reads `receipt`, which is not written on every path to it [F007]
this path does not write it: start >> review - "rejected" >> notify
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_written_on_both_branches() {
    let flow = "
        node review on yes on no
        node left writes letter
        node right writes letter
        node send letter
        start >> review
        review - yes >> left >> send >> end
        review - no >> right >> send
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn the_fields_of_an_action_are_written_on_its_edge_only() {
    let flow = "
        node review on approved writes amount on rejected
        node pay amount
        start >> review
        review - approved >> pay >> end
        review - rejected >> pay
    ";
    let expected = r#"edge 3 To: `pay` reads `amount`, which is not written on every path to it [F007]
this path does not write it: start >> review - "rejected" >> pay
`review` writes `amount` only on "approved"
help: write `amount` before, read it as `Option<&Amount>`, or add it to the flow's inputs: `amount: Amount`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_that_writes_before_it_reads() {
    let flow = "
        node draft writes text
        node review text on again writes feedback on done
        node revise text feedback writes text
        start >> draft >> review
        review - again >> revise >> review
        review - done >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_optional_read_in_the_first_round() {
    let flow = "
        node draft feedback? writes text
        node review text on again writes feedback on done
        start >> draft >> review
        review - again >> draft
        review - done >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_required_read_in_the_first_round() {
    let flow = "
        node draft feedback writes text
        node review text on again writes feedback on done
        start >> draft >> review
        review - again >> draft
        review - done >> end
    ";
    let expected = r#"edge 0 To: `draft` reads `feedback`, which is not written on every path to it [F007]
this path does not write it: start >> draft
help: write `feedback` before, read it as `Option<&Feedback>`, or add it to the flow's inputs: `feedback: Feedback`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nothing_writes_it() {
    let flow = "
        node notify *receipt
        start >> notify >> end
    ";
    let expected = r#"read receipt of notify: `notify` reads `receipt`, which nothing writes [F007]
help: write `receipt` before, read it as `Option<Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nothing_writes_it_but_something_near() {
    let flow = "
        node pay writes receipt
        node notify reciept
        start >> pay >> notify >> end
    ";
    let expected = r#"read reciept of notify: `notify` reads `reciept`, which nothing writes [F007]
help: did you mean `receipt`? Rename the parameter, or map it: `node notify: … { reciept <- receipt };`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nothing_writes_it_but_something_with_one_more_word_and_the_same_type() {
    let flow = |ty: &str| {
        format!(
            "
            node weigh writes weight_kg : f64
            node label weight : {ty}
            start >> weigh >> label >> end
            "
        )
    };
    let expected = r#"read weight of label: `label` reads `weight`, which nothing writes [F007]
help: did you mean `weight_kg`? Rename the parameter, or map it: `node label: … { weight <- weight_kg };`; otherwise write `weight` before, read it as `Option<&f64>`, or add it to the flow's inputs: `weight: f64`"#;
    assert_eq!(report(&flow("f64")), expected);
    let expected = r#"read weight of label: `label` reads `weight`, which nothing writes [F007]
help: write `weight` before, read it as `Option<&u64>`, or add it to the flow's inputs: `weight: u64`"#;
    assert_eq!(report(&flow("u64")), expected);
}

#[test]
fn nothing_writes_it_but_a_key_that_nobody_reads_has_its_type() {
    let flow = |ty: &str| {
        format!(
            "
            node geocode writes geocode : {ty}
            node nearest position : {ty}
            start >> geocode >> nearest >> end
            "
        )
    };
    let expected = r#"read position of nearest: `nearest` reads `position`, which nothing writes [F007]
help: `geocode` writes what it returns as `geocode`: say `#[node(writes = position)]` there, rename the parameter, or map it: `node nearest: … { position <- geocode };`"#;
    assert_eq!(report(&flow("Position")), expected);
    // Many values are of a type of the standard library.
    let expected = r#"read position of nearest: `nearest` reads `position`, which nothing writes [F007]
help: write `position` before, read it as `Option<&u64>`, or add it to the flow's inputs: `position: u64`"#;
    assert_eq!(report(&flow("u64")), expected);
}

#[test]
fn what_the_reader_itself_writes_or_a_later_node_is_not_meant() {
    let flow = "
        node revise draft : Draft writes revise : Draft
        node polish writes polish : Draft
        start >> revise >> polish >> end
    ";
    let expected = r#"read draft of revise: `revise` reads `draft`, which nothing writes [F007]
help: write `draft` before, read it as `Option<&Draft>`, or add it to the flow's inputs: `draft: Draft`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_key_that_others_read_keeps_its_name() {
    let flow = "
        node weight_kg writes weight_kg : f64
        node pack weight_kg : f64
        node label weight : f64
        start >> weight_kg >> pack >> label >> end
    ";
    assert!(!report(flow).contains("#[node(writes"), "{}", report(flow));
}

#[test]
fn two_nodes_read_what_nothing_writes() {
    let flow = "
        node label weight
        node weigh weight
        start >> label >> weigh >> end
    ";
    let expected = r#"read weight of label: `label` reads `weight`, which nothing writes [F007]
help: write `weight` before, read it as `Option<&Weight>`, or add it to the flow's inputs: `weight: Weight`
see node weigh: `weigh` reads it too"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_field_of_an_answer() {
    let flow = "
        human Review writes review : Review
        node publish stars : u8
        start >> Review >> publish >> end
    ";
    let expected = r#"read stars of publish: `publish` reads `stars`, which nothing writes [F007]
help: write `stars` before, read it as `Option<&u8>`, or add it to the flow's inputs: `stars: u8`; a field of `Review` is read from the whole, `review: &Review`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_key_of_the_body_of_a_loop() {
    let text = "
        in chapters
        each summaries chapter summarize writes summaries
        node summarize chapter
        node blurb summary : [String]
        start >> summaries >> blurb >> end
    ";
    let mut graph = graph(text);
    if let NodeKind::Each { writes, .. } = &mut graph.nodes[0].kind {
        writes.push("summary".to_owned());
    }
    let found = check(graph).expect_err("nothing writes `summary`");
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["`blurb` reads `summary`, which nothing writes [F007]\n\
          help: did you mean `summaries`? Rename the parameter, or map it: `node blurb: … { summary <- summaries };`"]
    );
}

#[test]
fn what_an_inner_flow_may_have() {
    let flow = "
        flow pricing Pricing writes gross
        node bill net
        start >> pricing >> bill >> end
    ";
    let expected = r#"read net of bill: `bill` reads `net`, which nothing writes [F007]
help: write `net` before, read it as `Option<&Net>`, or add it to the flow's inputs: `net: Net`; if `Pricing` has it, make it an output there"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_near_thing_is_an_input_that_is_not_unused() {
    let flow = "
        in policy
        node review polcy
        start >> review >> end
    ";
    let expected = r#"read polcy of review: `review` reads `polcy`, which nothing writes [F007]
help: did you mean `policy`? Rename the parameter, or map it: `node review: … { polcy <- policy };`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_optional_input() {
    let flow = "
        in policy?
        node review policy
        start >> review >> end
    ";
    let expected = r#"edge 0 To: `review` reads `policy`, which the caller may leave out [F007]
help: read it as `Option<&Policy>`, or make the input required: `policy: Policy`
see input policy: `policy` is declared as an `Option` here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_optional_input_read_as_such() {
    let flow = "
        in policy?
        node review policy?
        start >> review >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_step_that_has_failed_wrote_nothing() {
    let flow = "
        node pay! writes receipt
        node file receipt
        start >> pay >> file >> end
        pay - error >> file
    ";
    let expected = r#"edge 3 To: `file` reads `receipt`, which is not written on every path to it [F007]
this path does not write it: start >> pay - "error" >> file
`pay` has failed on this path, so it wrote nothing
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_error_exists_on_its_edge() {
    let flow = "
        node pay!
        node apologise error
        start >> pay >> end
        pay - error >> apologise >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn the_error_where_there_is_none() {
    let flow = "
        node pay!
        node apologise error
        start >> pay >> apologise >> end
        pay - error >> end
    ";
    let expected = r#"edge 1 To: `apologise` reads `error`, which is not written on every path to it [F007]
this path does not write it: start >> pay >> apologise
help: it exists only where an "error" edge leads: `pay - "error" >> apologise`; where other edges lead there too, read it as `Option<&Error>`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_flow_may_leave_its_output_unwritten() {
    let flow = "
        flow sub Sub writes receipt?
        node file receipt
        start >> sub >> file >> end
    ";
    let expected = r#"edge 1 To: `file` reads `receipt`, which is not written on every path to it [F007]
this path does not write it: start >> sub >> file
`sub` may leave `receipt` unwritten
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_slice_is_added_as_a_vector() {
    let flow = "
        node sum numbers : [u64] name : str
        start >> sum >> end
    ";
    let expected = r#"read numbers of sum: `sum` reads `numbers`, which nothing writes [F007]
help: write `numbers` before, read it as `Option<&[u64]>`, or add it to the flow's inputs: `numbers: Vec<u64>`

read name of sum: `sum` reads `name`, which nothing writes [F007]
help: write `name` before, read it as `Option<&str>`, or add it to the flow's inputs: `name: String`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_flow_that_reads_what_is_missing() {
    let flow = "
        flow sub Sub claim
        start >> sub >> end
    ";
    let expected = r#"read claim of sub: `sub` reads `claim`, which nothing writes [F007]
help: write `claim` before, declare it in `Sub` as `claim: Option<Claim>`, or add it to the flow's inputs: `claim: Claim`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_prompt_cannot_be_optional() {
    let flow = "
        human deploy version
        start >> deploy >> end
    ";
    let expected = r#"read version of deploy: `deploy` reads `version`, which nothing writes [F007]
help: write `version` before, or add it to the flow's inputs: `version: Version`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn once_for_each_node_and_key() {
    let flow = "
        node a on yes on no
        node b key key writes key
        start >> a
        a - yes >> b >> end
        a - no >> b
    ";
    let expected = r#"edge 1 To: `b` reads `key`, which is not written on every path to it [F007]
this path does not write it: start >> a - "yes" >> b
help: write `key` before, read it as `Option<&Key>`, or add it to the flow's inputs: `key: Key`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn only_an_unreachable_node_writes_it() {
    let flow = "
        node lost writes key
        node a key
        start >> a >> end
        lost >> a
    ";
    let expected = r#"node lost: no edge leads to `lost` [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn unreachable_nodes_may_read_anything() {
    let flow = "
        node a
        node lost key
        start >> a >> end
        lost >> end
    ";
    let expected = r#"node lost: no edge leads to `lost` [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_wrong_edge_hides_what_it_may_have_written() {
    let flow = "
        node review on approved writes amount on rejected
        node pay amount
        start >> review
        review - xyz >> pay >> end
        review - rejected >> end
    ";
    let expected = r#"edge 1 Action: `review` has no action "xyz" [F001]
help: it takes "approved", "rejected""#;
    assert_eq!(report(flow), expected);
}
