//! Forks and item loops.

use super::notation::report;

#[test]
fn a_fork_writes_what_its_branches_write() {
    let flow = "
        in topic
        out text
        node web topic writes pages
        node books topic writes titles
        fork both [ web , books ]
        node merge pages titles writes text
        start >> both >> merge >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_chain_sees_what_it_wrote() {
    let flow = "
        node a writes x
        node b x writes y
        node c writes z
        fork both [ a b , c ]
        node d x y z
        start >> both >> d >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn branches_that_write_the_same_key() {
    let flow = "
        node a writes note
        node b writes note
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node b: `b` writes `note`, and so does `a` at the same time [F010]
help: let one of them write another key: `node b: … { note -> note_2 };`
see node a: `a` writes `note`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn branches_that_update_the_same_key() {
    let flow = "
        in claim
        node a claim writes claim
        node b claim writes claim
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node b: `b` writes `claim`, and so does `a` at the same time [F010]
help: let one of them write another key: `node b: … { claim -> claim_2 };`
see node a: `a` writes `claim`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_branch_that_reads_what_another_writes() {
    let flow = "
        node a writes note
        node b note
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node b: `b` reads `note` while `a` writes it in another branch [F010]
help: put it after `a`, or read a key that no other branch writes
see node a: `a` writes `note`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_branch_that_reads_before_another_writes() {
    let flow = "
        in note
        node a *note?
        node b writes note
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node a: `a` reads `note` while `b` writes it in another branch [F010]
help: put it after `b`, or read a key that no other branch writes
see node b: `b` writes `note`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_nested_fork_is_refused_and_seen_from_outside() {
    let flow = "
        node a writes note
        node b writes other
        fork inner [ a , b ]
        node c note?
        fork outer [ inner , c ]
        start >> outer >> end
    ";
    let expected = r#"node inner: `inner` is a fork directly inside a fork [F020]
help: make a flow of the inner fork, and put that flow here

node c: `c` reads `note` while `a` writes it in another branch [F010]
help: put it after `a`, or read a key that no other branch writes
see node a: `a` writes `note`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_read_inside_a_fork_that_nothing_writes() {
    let flow = "
        node a key
        node b
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"read key of a: `a` reads `key`, which nothing writes [F007]
help: write `key` before, read it as `Option<&Key>`, or add it to the flow's inputs: `key: Key`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_fork_that_leads_nowhere() {
    let flow = "
        node a
        node b
        fork both [ a , b ]
        start >> both
    ";
    let expected = r#"node both: `both` leads nowhere [F002]
help: say where it goes, such as `both >> end;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_fork_that_has_failed_wrote_nothing() {
    let flow = "
        node a! writes x
        node b
        fork both [ a , b ]
        node c x
        start >> both >> c >> end
        both - error >> c
    ";
    let expected = r#"edge 3 To: `c` reads `x`, which is not written on every path to it [F007]
this path does not write it: start >> both - "error" >> c
`both` has failed on this path, so it wrote nothing
help: write `x` before, read it as `Option<&X>`, or add it to the flow's inputs: `x: X`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn an_action_inside_a_fork() {
    let flow = "
        node a on yes on no
        node b
        fork both [ a , b ]
        start >> both >> end
    ";
    let expected = r#"node a: `a` stands in a fork, so its action "yes" cannot lead out of it [F020]
help: put `a` before or after the fork, or make a flow of its own that routes the actions of `a` to its `end`, and put that flow here"#;
    assert_eq!(report(flow), expected);
    // Edges for these actions are the same mistake, and then nothing leads out of the fork.
    let routed = "
        node a on yes on no
        node b
        fork both [ a , b ]
        start >> both
        a - yes >> end
        a - no >> end:no
    ";
    assert_eq!(report(routed), expected);
}

#[test]
fn edges_into_and_out_of_a_fork() {
    let flow = "
        node a!
        node b
        fork both [ a , b ]
        node c
        start >> both >> end
        both - error >> a
        b >> c >> end
    ";
    let expected = r#"edge 2 To: `a` stands inside `both`, so no edge can enter it [F020]
help: lead the edge to `both`

edge 3 From: `b` stands inside `both`, so no edge can leave it [F020]
help: write the step after it into the branch, `[b >> …]`, or after the whole of it: `both >> …`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_node_twice_in_a_fork() {
    let flow = "
        node a
        fork both [ a , a ]
        start >> both >> end
    ";
    let expected = r#"node a: `a` stands twice in `both` [F020]
help: give the second place a node of its own: `node a_again: a;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_node_in_two_forks() {
    let flow = "
        node a
        node b
        fork one [ a , b ]
        fork two [ a , b ]
        start >> one >> two >> end
    ";
    let expected = r#"node a: `a` stands in `one` and again in `two` [F020]
help: give the second place a node of its own: `node a_again: a;`

node b: `b` stands in `one` and again in `two` [F020]
help: give the second place a node of its own: `node b_again: b;`"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_fork_that_contains_itself() {
    let flow = "
        node a
        fork both [ both , a ]
        start >> both >> end
    ";
    let expected = r#"node both: `both` contains itself [F020]
help: use an edge that goes back, if it has to run again"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn two_forks_that_contain_each_other() {
    let flow = "
        fork one [ two ]
        fork two [ one ]
        start >> one >> end
    ";
    let expected = r#"node one: `one` contains itself [F020]
help: use an edge that goes back, if it has to run again

node two: `two` is a fork directly inside a fork [F020]
help: make a flow of the inner fork, and put that flow here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_branch_that_does_not_exist() {
    let flow = "
        fork both [ nobody ]
        start >> both >> end
    ";
    let expected = r#"node both: `both` contains node number 99, which does not exist [F004]"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_collects_under_its_name() {
    let flow = "
        in chunks
        out summaries
        node summarize chunk writes summary
        each summaries chunk summarize chunks writes summaries
        start >> summaries >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn what_a_body_writes_stays_inside() {
    let flow = "
        in chunks
        node summarize chunk writes summary
        each summaries chunk summarize chunks writes summaries
        node show summary chunk
        start >> summaries >> show >> end
    ";
    let expected = r#"read summary of show: `show` reads `summary`, which nothing writes [F007]
help: `summary` exists only inside `summaries`, for one item at a time

read chunk of show: `show` reads `chunk`, which nothing writes [F007]
help: `chunk` exists only inside `summaries`, for one item at a time"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_body_reads_what_was_written_before() {
    let flow = "
        in chunks
        node prepare writes style
        node summarize chunk style
        each all chunk summarize chunks
        start >> prepare >> all >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn an_action_of_a_body() {
    let flow = "
        in chunks
        node judge chunk on good on bad
        each all chunk judge chunks
        start >> all >> end
    ";
    let expected = r#"node judge: `judge` runs once for each item, so its action "good" leads nowhere [F020]
help: make a flow of its own that routes the actions of `judge` to its `end`, and put that flow here"#;
    assert_eq!(report(flow), expected);
}

#[test]
fn a_loop_whose_body_is_itself() {
    let flow = "
        in chunks
        each all chunk all chunks
        start >> all >> end
    ";
    let expected = r#"node all: `all` contains itself [F020]
help: use an edge that goes back, if it has to run again"#;
    assert_eq!(report(flow), expected);
}
