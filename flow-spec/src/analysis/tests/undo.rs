//! What undo nodes read is there when the visit that they take back is done.

use super::notation::{report, report_types};

#[test]
fn a_chain_that_is_taken_back() {
    let flow = "
        in order
        node release reservation
        node refund *payment order
        node reserve order writes reservation undo release
        node charge! order writes payment undo refund
        node ship! payment
        node mail
        undo undo
        commit commit
        start >> reserve >> charge >> ship >> commit >> mail >> end
        ship - error >> undo >> end:refused
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn two_nodes_may_share_an_undo_node() {
    let flow = "
        node refund receipt
        node charge writes receipt undo refund
        node charge_more undo refund
        undo undo
        start >> charge >> charge_more >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_visit_that_failed_or_timed_out_is_not_taken_back() {
    let flow = "
        node refund receipt
        node charge! on paid writes receipt on timeout undo refund
        undo undo
        start >> charge - paid >> end
        charge - timeout >> undo >> end:late
        charge - error >> undo
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_value_that_one_action_does_not_write() {
    let flow = "
        node refund receipt
        node charge on paid writes receipt on declined undo refund
        undo undo
        start >> charge - paid >> end
        charge - declined >> undo >> end:declined
    ";
    let expected = r#"undo of charge: `refund` reads `receipt`, which is not there if `charge` takes "declined" [F007]
this path does not write it: start >> charge - "declined"
`charge` writes `receipt` only on "paid"
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_that_may_be_missing() {
    let flow = "
        node refund receipt?
        node charge on paid writes receipt on declined undo refund
        undo undo
        start >> charge - paid >> end
        charge - declined >> undo >> end:declined
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_value_that_an_earlier_node_may_not_write() {
    let flow = "
        node look on yes writes claim on no
        node refund claim
        node charge undo refund
        undo undo
        start >> look - yes >> charge >> undo >> end
        look - no >> charge
    ";
    let expected = r#"undo of charge: `refund` reads `claim`, which is not there after every visit to `charge` [F007]
this path does not write it: start >> look - "no" >> charge
`look` writes `claim` only on "yes"
help: write `claim` before, read it as `Option<&Claim>`, or add it to the flow's inputs: `claim: Claim`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_that_is_there_for_one_of_two_nodes() {
    let flow = "
        node refund receipt
        node charge_first undo refund
        node charge writes receipt undo refund
        undo undo
        start >> charge_first >> charge >> undo >> end
    ";
    let expected = r#"undo of charge_first: `refund` reads `receipt`, which is not there after every visit to `charge_first` [F007]
this path does not write it: start >> charge_first
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_that_a_later_node_writes() {
    let flow = "
        node refund parcel
        node charge undo refund
        node ship writes parcel
        undo undo
        start >> charge >> ship >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` reads `parcel`, which is not there after every visit to `charge` [F007]
this path does not write it: start >> charge
help: write `parcel` before, read it as `Option<&Parcel>`, or add it to the flow's inputs: `parcel: Parcel`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_that_nothing_writes() {
    let flow = "
        node refund recipt
        node charge writes receipt undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"read recipt of refund: `refund` reads `recipt`, which nothing writes [F007]
help: did you mean `receipt`? Rename the parameter, or map it: `node refund: … { recipt <- receipt };`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_optional_input() {
    let flow = "
        in claim?
        node refund claim
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` reads `claim`, which the caller may leave out [F007]
help: read it as `Option<&Claim>`, or make the input required: `claim: Claim`
see input claim: `claim` is declared as an `Option` here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_input_that_only_an_undo_node_reads() {
    let flow = "
        in claim
        node refund claim
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn the_error_of_an_earlier_node() {
    let flow = "
        node ask!
        node refund error
        node charge! undo refund
        undo undo
        start >> ask >> charge >> end
        ask - error >> charge
        charge - error >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` reads `error`, which is not there after every visit to `charge` [F007]
this path does not write it: start >> ask >> charge
help: it exists only where an "error" edge leads: `ask - "error" >> charge`; where other edges lead there too, read it as `Option<&Error>`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_edge_gives_it_its_value() {
    let flow = "
        in paid
        node refund amount
        node charge undo refund
        undo undo
        start >> charge { amount <- paid } >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn undo_leads_on() {
    let flow = "
        node refund
        node charge undo refund
        undo undo
        start >> charge >> undo
    ";
    let expected = r#"node undo: `undo` leads nowhere [F002]
help: continue the edge that leads to it: `>> undo >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_undo_node_is_no_way_out() {
    let flow = "
        node refund
        node charge undo refund
        start >> charge >> charge
    ";
    let expected = r#"node charge: no path leads from `charge` to an `end` [F006]
this loop has no way out: charge >> charge
help: let a node of the loop choose between two actions, one of which leads out of it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_node_that_it_takes_back_is_not_reached() {
    let flow = "
        node refund nothing
        node charge undo refund
        start >> end
    ";
    let expected = r#"node charge: `charge` is declared but no edge leads to it [F005]
help: lead an edge to it from the step before it, or remove it"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_branch_does_not_see_what_another_one_writes() {
    let flow = "
        node refund parcel
        node charge undo refund
        node ship writes parcel
        fork both [ charge , ship ]
        undo undo
        start >> both >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` takes back `charge`, and reads `parcel` while `ship` writes it in another branch [F010]
help: put `charge` after `ship`, or read a key that no other branch writes
see node ship: `ship` writes `parcel`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn what_its_branch_writes() {
    let flow = "
        node reserve writes reservation
        node refund receipt reservation
        node charge writes receipt undo refund
        node ship writes parcel
        fork both [ reserve charge , ship ]
        undo undo
        start >> both >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn branches_that_add_may_share_an_undo_node() {
    let flow = "
        out log
        node a writes +log undo u
        node b writes +log undo u
        node u log
        fork both [ a , b ]
        start >> both >> end
    ";
    assert_eq!(report(flow), "sound");
    let silent = flow.replace("node b writes +log", "node b");
    let expected = r#"undo of b: `u` reads `log`, which is not there after every visit to `b` [F007]
this path does not write it: start >> both
what `a` adds at the same time is not seen in this branch
help: write `log` before, read it as `Option<&Log>`, or add it to the flow's inputs: `log: Log`"#;
    assert_eq!(report(&silent), expected);
}

#[test]
fn a_fork_to_which_one_path_does_not_write() {
    let flow = "
        node look on yes writes claim on no
        node refund claim
        node charge undo refund
        node ship
        fork both [ charge , ship ]
        undo undo
        start >> look - yes >> both >> undo >> end
        look - no >> both
    ";
    let expected = r#"undo of charge: `refund` reads `claim`, which is not there after every visit to `charge` [F007]
this path does not write it: start >> look - "no" >> both
`look` writes `claim` only on "yes"
help: write `claim` before, read it as `Option<&Claim>`, or add it to the flow's inputs: `claim: Claim`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_node_that_decides_a_race() {
    let flow = "
        node refund receipt
        node charge on paid writes receipt on declined undo refund
        wait pause
        first paid [ charge , pause = late ]
        undo undo
        start >> paid - paid >> end
        paid - declined >> undo >> end:declined
        paid - late >> undo
    ";
    let expected = r#"undo of charge: `refund` reads `receipt`, which is not there if `charge` takes "declined" [F007]
this path does not write it: start >> paid
help: write `receipt` before, read it as `Option<&Receipt>`, or add it to the flow's inputs: `receipt: Receipt`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_race_that_times_out() {
    let flow = "
        node refund receipt
        node charge on paid writes receipt on timeout undo refund
        wait pause
        first paid [ charge , pause = late ]
        undo undo
        start >> paid - paid >> end
        paid - timeout >> undo >> end:late
        paid - late >> undo
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_action_that_is_misspelt_is_one_mistake() {
    let flow = "
        node refund receipt
        node charge on paid writes receipt on declined undo refund
        undo undo
        start >> charge - payd >> end
        charge - declined >> undo >> end:declined
    ";
    let expected = r#"edge 1 Action: `charge` has no action "payd" [F001]
help: did you mean "paid"?"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_types_of_what_it_reads() {
    let flow = "
        in claim : Claim
        node refund claim : Text receipt : Receipt
        node charge writes receipt : Receipt undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"node refund: `refund` reads `claim` as `Text`, but the input is `Claim` [F008]
help: read the type that is written, or map the read to another key
see input claim: `claim` is `Claim` here"#;
    assert_eq!(report_types(flow), expected);
}

#[test]
fn what_it_writes_has_a_type_of_its_own() {
    let flow = "
        node refund writes note : Text
        node recall writes note : Other
        node charge undo refund
        node ship undo recall
        undo undo
        start >> charge >> ship >> undo >> end
    ";
    assert_eq!(report_types(flow), "");
}
