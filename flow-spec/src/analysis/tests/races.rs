//! Races: `first { … }`.

use crate::graph::NodeId;
use crate::{Reader, Take, check};

use super::notation::{graph, report};

#[test]
fn what_a_branch_writes_is_there_on_its_action_only() {
    let flow = "
        out receipt?
        node ship writes parcel
        node cancel writes reason
        first outcome [ ship = shipped , cancel = cancelled ]
        node mail parcel writes receipt
        node note reason
        start >> outcome
        outcome - shipped >> mail >> end
        outcome - cancelled >> note >> end:cancelled
    ";
    assert_eq!(report(flow), "sound");
    let swapped = flow.replace("node note reason", "node note parcel");
    let expected = r#"edge 3 To: `note` reads `parcel`, which is not written on every path to it [F007]
this path does not write it: start >> outcome - "cancelled" >> note
`outcome` writes `parcel` only on "shipped"
help: write `parcel` before, read it as `Option<&Parcel>`, or add it to the flow's inputs: `parcel: Parcel`"#;
    assert_eq!(report(&swapped), expected);
}

#[test]
fn branches_may_share_an_action_and_a_key() {
    let flow = "
        out text
        node fast writes text
        node slow writes text
        first answer [ fast , slow ]
        start >> answer >> end
    ";
    assert_eq!(report(flow), "sound");
    let one_of_two = flow.replace("node slow writes text", "node slow");
    let expected = r#"edge 1 To: this end leaves the output `text` unwritten [F011]
this path does not write it: start >> answer >> end
not every branch of `answer` writes `text`
help: write `text` before, or declare it `text: Option<Text>`
see output text: the output is declared here"#;
    assert_eq!(report(&one_of_two), expected);
}

#[test]
fn a_branch_without_an_action_takes_those_of_its_last_node() {
    let flow = "
        in claim
        out amount?
        node check claim writes note
        human approval note on approved writes amount on rejected
        wait pause
        first outcome [ check approval , pause = late ]
        start >> outcome - approved >> end
        outcome - rejected >> end:rejected
        outcome - late >> end:late
    ";
    assert_eq!(report(flow), "sound");
    let forgotten = flow.replace("outcome - rejected >> end:rejected", "");
    let expected = r#"node outcome: action "rejected" of `outcome` goes nowhere [F002]
help: say where it goes, such as `outcome - "rejected" >> end;`"#;
    assert_eq!(report(&forgotten), expected);
}

#[test]
fn a_branch_has_one_action_or_those_of_its_last_node() {
    let flow = "
        node review on approved on rejected
        wait pause
        first outcome [ review = done , pause = late ]
        start >> outcome - done >> end
        outcome - late >> end
    ";
    let expected = r#"node review: `review` decides between actions, and its branch takes "done" whatever it decides [F020]
help: remove `=> "done"`: then the actions of `review` are those of the race; or make a flow of its own that routes the actions of `review` to its `end`, and put that flow here"#;
    assert_eq!(report(flow), expected);
    let before = flow
        .replace("[ review = done", "[ review pay = done")
        .replace("wait pause", "wait pause\n        node pay");
    let expected = r#"node review: `review` is not the last step of its branch, so its action "approved" leads nowhere [F020]
help: put it last, or make a flow of its own that routes the actions of `review` to its `end`, and put that flow here"#;
    assert_eq!(report(&before), expected);
}

#[test]
fn no_edge_leaves_a_branch() {
    let flow = "
        human review on approved on rejected
        wait pause
        first outcome [ review , pause = late ]
        start >> outcome - late >> end
        review - approved >> end
        outcome - rejected >> end
    ";
    let expected = r#"edge 2 From: `review` stands inside `outcome`, so no edge can leave it [F020]
help: an edge leads on from the race: `outcome - "approved" >> …`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn error_is_not_the_action_of_a_branch() {
    let flow = "
        node a!
        node b
        first outcome [ a = error , b ]
        start >> outcome >> end
        outcome - error >> end
    ";
    let expected = r#"node outcome: `outcome` takes "error" if a branch fails, so no branch has this action [F017]
help: give it another name"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_race_that_only_leads_to_itself() {
    let flow = "
        node a
        wait pause
        first outcome [ a = again , pause = late ]
        start >> outcome - again >> outcome
        outcome - late >> outcome
    ";
    let expected = r#"node outcome: no path leads from `outcome` to an `end` [F006]
this loop has no way out: outcome - "again" >> outcome
help: lead an action out of it, such as `outcome - "late" >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_is_moved_if_no_other_branch_and_nothing_behind_it_reads_it() {
    let take = |text: &str| check(graph(text)).expect("it is sound").take(NodeId(0), 0);
    let flow = "
        in claim
        node send *claim
        node look
        first outcome [ send = sent , look = seen ]
        node file claim
        start >> outcome - sent >> end
        outcome - seen >> end
        outcome - error >> file >> end
    ";
    let alone = flow
        .replace("outcome - error >> file >> end", "")
        .replace("node file claim", "");
    assert_eq!(take(&alone), Take::Move);
    let beside = alone.replace("node look", "node look claim");
    let later = |id| Take::Clone {
        later: Reader::Node(NodeId(id)),
    };
    assert_eq!(take(&beside), later(1));
    // The branch may lose after it has taken the value.
    let behind = flow
        .replace("outcome - error >> file >> end", "")
        .replace("seen >> end", "seen >> file >> end");
    assert_eq!(take(&behind), later(3));
    let behind_itself = behind
        .replace("seen >> file", "seen")
        .replace("sent >> end", "sent >> file >> end");
    assert_eq!(take(&behind_itself), later(3));
    let failed = flow.replace("node look", "node look!");
    assert_eq!(take(&failed), later(3));
}

#[test]
fn a_race_stands_neither_in_a_fork_nor_in_a_loop() {
    let flow = "
        in orders
        node a
        wait pause
        first inner [ a , pause ]
        node b
        fork both [ inner , b ]
        each all order inner orders
        start >> both >> end
    ";
    let in_a_fork = flow.replace("        each all order inner orders\n", "");
    let expected = r#"node inner: `inner` is a race directly inside a fork [F020]
help: make a flow of the inner race, and put that flow here"#;
    assert!(
        report(&in_a_fork).contains(expected),
        "{}",
        report(&in_a_fork)
    );
    let in_a_loop = flow
        .replace("        fork both [ inner , b ]\n", "")
        .replace("both", "all");
    let expected = r#"node inner: `inner` is a race directly inside a loop over items [F020]
help: make a flow of the inner race, and put that flow here"#;
    assert!(
        report(&in_a_loop).contains(expected),
        "{}",
        report(&in_a_loop)
    );
}

#[test]
fn a_branch_of_conditions_decides_whatever_its_actions_are_called() {
    let flow = "
        in n
        branch pick n on default
        node a
        first outcome [ pick a , a2 ]
        node a2
        start >> outcome >> end
    ";
    let expected = r#"node pick: `pick` is not the last step of its branch, so its action "default" leads nowhere [F020]
help: put it last, or make a flow of its own that routes the actions of `pick` to its `end`, and put that flow here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_value_that_the_branch_has_written_itself_is_moved() {
    let flow = "
        in text
        node fetch writes text
        node polish *text
        wait pause
        first outcome [ fetch polish = ok , pause = late ]
        node show text
        start >> outcome - ok >> end
        outcome - late >> show >> end
    ";
    let checked = check(graph(flow)).expect("it is sound");
    assert_eq!(checked.take(NodeId(1), 0), Take::Move);
}

#[test]
fn a_branch_with_a_step_that_does_not_exist() {
    let flow = "
        out text
        node a writes text
        node b
        first outcome [ a nobody , b ]
        start >> outcome >> end
    ";
    let expected = r#"node outcome: `outcome` contains node number 99, which does not exist [F004]

edge 1 To: this end leaves the output `text` unwritten [F011]
this path does not write it: start >> outcome >> end
not every branch of `outcome` writes `text`
help: write `text` before, or declare it `text: Option<Text>`
see output text: the output is declared here"#;
    assert_eq!(report(flow), expected);
}
