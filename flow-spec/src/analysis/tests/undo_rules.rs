//! Nodes that cannot be undone or cannot undo, and the steps `undo` and `commit`.

use super::notation::report;

#[test]
fn it_is_no_step() {
    let flow = "
        node refund receipt
        node charge writes receipt undo refund
        undo undo
        start >> charge >> refund >> undo >> end
    ";
    let expected = r#"edge 1 To: `refund` takes back `charge`, so it cannot be a step as well [F025]
help: declare another node of it for this place: `node refund_step: …;`
see undo of charge: it takes back `charge` here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_is_no_step_in_a_fork() {
    let flow = "
        node refund receipt
        node mail
        node charge writes receipt undo refund
        fork both [ refund , mail ]
        undo undo
        start >> charge >> both >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` takes back `charge`, so it cannot be a step in `both` as well [F025]
help: declare another node of it for this place: `node refund_step: …;`
see node both: it is a step in `both` here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_has_no_undo_node_itself() {
    let flow = "
        node again
        node refund receipt undo again
        node charge writes receipt undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of refund: `refund` takes back `charge`, so it cannot have an undo node itself [F025]
help: remove this
see undo of charge: it takes back `charge` here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_takes_no_actions() {
    let flow = "
        node refund receipt on refunded on refused
        node charge writes receipt undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` takes back `charge`, so its action "refunded" leads nowhere [F025]
help: let it take no actions; an error that it returns says that it has failed"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_what_another_node_reads() {
    let flow = "
        node refund receipt writes note
        node charge writes receipt undo refund
        node mail note
        undo undo
        start >> charge >> mail >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `note`, which `mail` reads: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { note -> note_2 };`
see node mail: `note` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_what_another_node_writes() {
    let flow = "
        node refund receipt writes note
        node charge writes receipt undo refund
        node mail writes note
        undo undo
        start >> charge >> mail >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `note`, which `mail` writes: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { note -> note_2 };`
see node mail: `note` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_an_input() {
    let flow = "
        in claim
        node refund claim writes claim
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `claim`, which is an input of the flow: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { claim -> claim_2 };`
see input claim: `claim` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_an_output() {
    let flow = "
        out note?
        node refund writes note
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `note`, which is an output of the flow: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { note -> note_2 };`
see output note: `note` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_what_an_edge_reads() {
    let flow = "
        node refund writes note
        node charge undo refund
        node mail text
        undo undo
        start >> charge >> mail { text <- note } >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `note`, which an edge reads: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { note -> note_2 };`
see edge 1 Source(0): `note` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_writes_what_it_reads() {
    let flow = "
        node refund note writes note
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `note`, which it reads itself: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { note -> note_2 };`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn it_adds_to_a_list_that_is_returned() {
    let flow = "
        out log
        node refund writes +log
        node charge writes +log undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `refund` writes `log`, which is an output of the flow: what an undo node writes is not kept [F025]
help: let it return nothing, or map it to a key of its own: `node refund: … { log -> log_2 };`
see output log: `log` is used here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn undo_nodes_may_write_what_nobody_uses() {
    let flow = "
        node refund writes note
        node recall writes note : Other
        node charge undo refund
        node ship undo recall
        undo undo
        start >> charge >> ship >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_node_that_takes_back_itself() {
    let flow = "
        node charge undo charge
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `charge` cannot take back itself [F025]
help: name the function or type that takes it back"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_undo_node_that_does_not_exist() {
    let flow = "
        node charge undo nobody
        undo undo
        start >> charge >> undo >> end
    ";
    let expected =
        r#"undo of charge: `charge` is taken back by node number 99, which does not exist [F004]"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_flow_has_no_undo_node() {
    let flow = "
        node refund
        flow fulfil Fulfil undo refund
        undo undo
        start >> fulfil >> undo >> end
    ";
    let expected = r#"undo of fulfil: `fulfil` is a flow, which cannot have an undo node [F025]
help: set `undo` at the steps inside `Fulfil`: they are taken back with those of this flow"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_fork_has_no_undo_node() {
    let flow = "
        node refund
        node charge
        node mail
        fork both [ charge , mail ] undo refund
        undo undo
        start >> both >> undo >> end
    ";
    let expected = r#"undo of both: `both` is a fork, which cannot have an undo node [F025]
help: set `undo` at the steps in its branches"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_race_has_no_undo_node() {
    let flow = "
        node refund
        node charge
        node pay
        first paid [ charge , pay ] undo refund
        undo undo
        start >> paid >> undo >> end
    ";
    let expected = r#"undo of paid: `paid` is a race, which cannot have an undo node [F025]
help: set `undo` at the steps in its branches"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_has_no_undo_node() {
    let flow = "
        in orders
        node recall
        node parcels.ship order
        each parcels order parcels.ship orders undo recall
        undo undo
        start >> parcels >> undo >> end
    ";
    let expected = r#"undo of parcels: `parcels` is a loop over items, which cannot have an undo node [F025]
help: make a flow of `ship`, set `undo` at its step, and let the loop run that flow: then each item is taken back"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn the_body_of_a_loop_has_no_undo_node() {
    let flow = "
        in orders
        node recall order parcel *nothing
        node ship *order writes parcel undo recall
        each parcels order ship orders
        undo undo
        start >> parcels >> undo >> end
    ";
    let expected = r#"undo of ship: `ship` runs for each item of `parcels`, so it cannot have an undo node [F025]
help: make a flow of `ship`, set `undo` at its step, and let the loop run that flow: then each item is taken back"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nodes_that_do_no_work_have_no_undo_node() {
    let flow = "
        in amount
        node refund
        branch pick amount on small on large undo refund
        wait pause undo refund
        human ask amount writes answer undo refund
        signal cancel writes cancelled undo refund
        undo undo undo refund
        start >> pick - small >> pause >> ask >> cancel >> undo >> end
        pick - large >> end
    ";
    let expected = r#"undo of pick: `pick` is a branch, which cannot have an undo node [F025]
help: it changes nothing that could be taken back: remove this

undo of pause: `pause` is a pause, which cannot have an undo node [F025]
help: it changes nothing that could be taken back: remove this

undo of ask: `ask` is a human node, which cannot have an undo node [F025]
help: an answer cannot be taken back: set `undo` at the step that acts on it

undo of cancel: `cancel` is a signal, which cannot have an undo node [F025]
help: a signal cannot be taken back: set `undo` at the step that acts on it

undo of undo: `undo` is a step of the language, which cannot have an undo node [F025]
help: remove this"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn only_code_takes_back() {
    let flow = "
        flow refund Refund
        human ask writes answer
        node mail
        fork both [ mail ]
        undo undo
        node charge undo refund
        node ship undo ask
        node pack undo both
        node book undo undo
        start >> charge >> ship >> pack >> book >> end
    ";
    let expected = r#"undo of charge: `refund` is a flow, which cannot take back `charge` [F025]
help: name a function or a type: `undo = path::to::a_node`

undo of ship: `ask` is a human node, which cannot take back `ship` [F025]
help: name a function or a type: `undo = path::to::a_node`

undo of pack: `both` is a fork, which cannot take back `pack` [F025]
help: name a function or a type: `undo = path::to::a_node`

undo of book: `undo` is a step of the language, which cannot take back `book` [F025]
help: name a function or a type: `undo = path::to::a_node`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn undo_and_commit_stand_in_no_fork() {
    let flow = "
        node refund
        node charge undo refund
        undo undo
        commit commit
        fork both [ charge undo , commit ]
        start >> both >> end
    ";
    let expected = r#"node undo: `undo` cannot stand in a branch of a fork [F020]
help: put it behind the fork, or make a flow of the branch

node commit: `commit` cannot stand in a branch of a fork [F020]
help: put it behind the fork, or make a flow of the branch"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn undo_stands_in_no_race() {
    let flow = "
        node refund
        node charge undo refund
        undo undo
        wait pause
        first paid [ undo , pause ]
        start >> charge >> paid >> end
    ";
    let expected = r#"node undo: `undo` cannot stand in a branch of a race [F020]
help: put it behind the race, or make a flow of the branch"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn commit_stands_in_no_loop() {
    let flow = "
        in orders
        node refund
        node charge undo refund
        commit commit
        each all order commit orders
        start >> charge >> all >> end
    ";
    let expected = r#"node commit: `commit` cannot stand in a loop over items [F020]
help: put it behind the loop, or make a flow of the body"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn nothing_can_be_undone() {
    let flow = "
        node charge
        undo undo
        commit commit
        undo undo_2
        start >> charge >> undo >> commit >> undo_2 >> end
    ";
    let expected = r#"node undo: `undo` has nothing to undo: no node of this flow has an undo node, or is a flow [F025]
help: give a step its undo node, such as `node charge: … with undo = refund;`, or remove `undo`

node commit: `commit` has nothing to forget: no node of this flow has an undo node, or is a flow [F025]
help: give a step its undo node, such as `node charge: … with undo = refund;`, or remove `commit`

node undo_2: `undo` has nothing to undo: no node of this flow has an undo node, or is a flow [F025]
help: give a step its undo node, such as `node charge: … with undo = refund;`, or remove `undo`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_inner_flow_may_be_undone() {
    let flow = "
        flow fulfil! Fulfil
        undo undo
        start >> fulfil >> end
        fulfil - error >> undo >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn nodes_that_take_back_each_other() {
    let flow = "
        node refund undo charge
        node charge undo refund
        undo undo
        start >> charge >> undo >> end
    ";
    let expected = r#"undo of charge: `charge` takes back `refund`, so it cannot have an undo node itself [F025]
help: remove this
see undo of refund: it takes back `refund` here

edge 0 To: `charge` takes back `refund`, so it cannot be a step as well [F025]
help: declare another node of it for this place: `node charge_step: …;`
see undo of refund: it takes back `refund` here"#;
    assert_eq!(report(flow), expected);
}
