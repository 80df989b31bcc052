//! Advice: which of several hints is given, and what a list or a path leaves out.

use super::notation::{graph, report, report_types};
use crate::check;

#[test]
fn a_list_of_eight_is_whole_and_one_of_nine_is_not() {
    let flow = |actions: &[&str]| {
        let on: String = actions.iter().map(|name| format!(" on {name}")).collect();
        let edges: String = actions
            .iter()
            .map(|name| format!("sort - {name} >> end\n"))
            .collect();
        format!("node sort{on}\nstart >> sort\nsort - unheard_of >> end\n{edges}")
    };
    insta::assert_snapshot!(report(&flow(&["a", "b", "c", "d", "e", "f", "g", "h"])), @r#"
    edge 1 Action: `sort` has no action "unheard_of" [F001]
    help: it takes "a", "b", "c", "d", "e", "f", "g", "h"
    "#);
    insta::assert_snapshot!(report(&flow(&["a", "b", "c", "d", "e", "f", "g", "h", "i"])), @r#"
    edge 1 Action: `sort` has no action "unheard_of" [F001]
    help: it takes "a", "b", "c", "d", "e", "f", "g", "h", and 1 more
    "#);
}

#[test]
fn a_path_of_sixteen_edges_is_whole_and_one_of_seventeen_is_not() {
    let flow = |nodes: usize| {
        let names: Vec<String> = (0..nodes).map(|number| format!("n{number}")).collect();
        let mut text: String = names
            .iter()
            .map(|name| format!("node {name} on on on off\n"))
            .collect();
        text.push_str("node writer writes missing\nnode last missing\nstart >> n0\n");
        for pair in names.windows(2) {
            text.push_str(&format!("{} - on >> {}\n", pair[0], pair[1]));
        }
        text.push_str(&format!("n{} - on >> last >> end\n", nodes - 1));
        for name in &names {
            text.push_str(&format!("{name} - off >> writer\n"));
        }
        text + "writer >> last\n"
    };
    insta::assert_snapshot!(report(&flow(15)), @r#"
    edge 15 To: `last` reads `missing`, which is not written on every path to it [F007]
    this path does not write it: start >> n0 - "on" >> n1 - "on" >> n2 - "on" >> n3 - "on" >> n4 - "on" >> n5 - "on" >> n6 - "on" >> n7 - "on" >> n8 - "on" >> n9 - "on" >> n10 - "on" >> n11 - "on" >> n12 - "on" >> n13 - "on" >> n14 - "on" >> last
    help: write `missing` before, read it as `Option<&Missing>`, or add it to the flow's inputs: `missing: Missing`
    "#);
    insta::assert_snapshot!(report(&flow(16)), @r#"
    edge 16 To: `last` reads `missing`, which is not written on every path to it [F007]
    this path does not write it: start >> n0 - "on" >> n1 - "on" >> n2 - "on" >> n3 >> … >> n13 - "on" >> n14 - "on" >> n15 - "on" >> last
    help: write `missing` before, read it as `Option<&Missing>`, or add it to the flow's inputs: `missing: Missing`
    "#);
}

#[test]
fn an_owner_spells_its_type_in_full() {
    insta::assert_snapshot!(report("node a file : Path bytes : [u8;4]\nstart >> a >> end"), @r#"
    read file of a: `a` reads `file`, which nothing writes [F007]
    help: write `file` before, read it as `Option<&Path>`, or add it to the flow's inputs: `file: PathBuf`

    read bytes of a: `a` reads `bytes`, which nothing writes [F007]
    help: write `bytes` before, read it as `Option<&[u8;4]>`, or add it to the flow's inputs: `bytes: [u8;4]`
    "#);
}

#[test]
fn an_error_is_read_where_the_node_before_failed() {
    let flow = "
        node load!
        node pay!
        node log error
        start >> load >> pay >> log >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 2 To: `log` reads `error`, which is not written on every path to it [F007]
    this path does not write it: start >> load >> pay >> log
    help: it exists only where an "error" edge leads: `pay - "error" >> log`; where other edges lead there too, read it as `Option<&Error>`
    "#);
}

#[test]
fn an_error_is_read_after_a_node_that_cannot_fail() {
    let flow = "
        node log! error
        node tidy
        node pay!
        start >> pay >> tidy >> log >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 2 To: `log` reads `error`, which is not written on every path to it [F007]
    this path does not write it: start >> pay >> tidy >> log
    help: it exists only where an "error" edge leads: `pay - "error" >> log`; where other edges lead there too, read it as `Option<&Error>`
    "#);
}

#[test]
fn a_loop_over_an_input_that_may_be_left_out() {
    let flow = "
        in items?
        node one item
        each all item one items
        start >> all >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 0 To: `all` reads `items`, which the caller may leave out [F007]
    help: make the input required: `items: Items`
    see input items: `items` is declared as an `Option` here
    "#);
}

#[test]
fn a_branch_has_no_parameter_to_rename() {
    let flow = "
        in amount
        branch large amuont on yes on no
        node pay amount
        start >> large
        large - yes >> pay >> end
        large - no >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    read amuont of large: `large` reads `amuont`, which nothing writes [F007]
    help: did you mean `amount`?
    "#);
}

#[test]
fn the_key_error_is_meant_only_where_something_fails() {
    let flow = |pay: &str, edge: &str| {
        format!("node {pay}\nnode log eror\nstart >> pay >> log >> end\n{edge}")
    };
    insta::assert_snapshot!(report(&flow("pay!", "pay - error >> log")), @r#"
    read eror of log: `log` reads `eror`, which nothing writes [F007]
    help: did you mean `error`? Rename the parameter, or map it: `node log: … { eror <- error };`
    "#);
    insta::assert_snapshot!(report(&flow("pay", "")), @r#"
    read eror of log: `log` reads `eror`, which nothing writes [F007]
    help: write `eror` before, read it as `Option<&Eror>`, or add it to the flow's inputs: `eror: Eror`
    "#);
}

#[test]
fn a_misspelt_action_is_not_also_a_second_edge() {
    let flow = "
        node review on approved on rejected
        node pay
        node file
        start >> review
        review - approved >> pay >> end
        review - aproved >> file >> end
        review - rejected >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 3 Action: `review` has no action "aproved" [F001]
    help: did you mean "approved"?
    "#);
    let flow = "
        node pay!
        node log
        node file
        start >> pay >> end
        pay - error >> log >> end
        pay - eror >> file >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 4 Action: `pay` has no action "eror" [F001]
    help: did you mean "error"?
    "#);
}

#[test]
fn two_places_that_lead_on_to_different_ones() {
    let flow = "
        node a
        node b
        node c
        start >> a
        a >> b >> end
        a >> c >> end:other
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 3 Action: `a` leads to two places: to `b` and to `c` [F003]
    help: to run both at the same time, write `a >> [b, c] >> …`; else remove one of them
    see edge 1 Action: it is routed here already
    "#);
}

#[test]
fn an_edge_without_an_action_is_not_taken_for_a_similar_one() {
    let flow = "
        node sort on defaults on other
        start >> sort
        sort >> end
        sort - other >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 1 Action: this edge does not say which action of `sort` it is for: it takes "defaults", "other" [F001]
    help: write `sort - "defaults" >> end`
    "#);
}

#[test]
fn only_a_person_is_given_time() {
    let flow = "
        node ship on fast on slow
        human approve on yes on no
        start >> ship
        ship - timeout >> end
        ship - fast >> approve
        ship - slow >> end
        approve - yes >> end
        approve - no >> end
        approve - unheard_of >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 1 Action: `ship` has no action "timeout" [F001]
    help: it takes "fast", "slow"

    edge 6 Action: `approve` has no action "unheard_of" [F001]
    help: it takes "yes", "no"
    "#);
}

#[test]
fn of_two_edges_for_one_action_neither_is_the_only_way() {
    let flow = "
        node a
        node b writes x
        node c
        node d x
        start >> a
        a >> b >> d
        a >> c >> d >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 3 Action: `a` leads to two places: to `b` and to `c` [F003]
    help: to run both at the same time, write `a >> [b, c] >> d`; else remove one of them
    see edge 1 Action: it is routed here already
    "#);
    let flow = "
        node pay!
        node b writes x
        node c
        node d x
        start >> pay >> end
        pay - error >> b >> d
        pay - error >> c >> d >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 4 Action: action "error" of `pay` goes to two places: to `b` and to `c` [F003]
    help: to run both at the same time, write `pay - "error" >> [b, c] >> d`; else remove one of them
    see edge 2 Action: it is routed here already
    "#);
    let flow = "
        node b writes x
        node c
        node d x
        start >> b >> d
        start >> c >> d >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 2 From: the flow starts twice: at `b` and at `c` [F018]
    help: to run both at the same time, write `start >> [b, c] >> …`
    see edge 0 From: the first `start` is here
    "#);
}

#[test]
fn a_circle_that_nothing_leads_to_is_reported_once() {
    let flow = "
        node a
        node b
        node c
        start >> a >> end
        b >> c >> b
    ";
    insta::assert_snapshot!(report(flow), @r#"
    node b: no path leads from `start` to `b` [F005]
    only its own loop leads to it: b >> c >> b
    help: lead an edge to it from the step before it, or remove it
    "#);
}

#[test]
fn branches_that_take_what_another_writes() {
    let flow = "
        in claim
        node eat *claim
        node renew writes claim
        fork both [ eat , renew ]
        start >> both >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    node eat: `eat` reads `claim` while `renew` writes it in another branch [F010]
    help: put it after `renew`, or read a key that no other branch writes
    see node renew: `renew` writes `claim`
    "#);
}

#[test]
fn forks_without_a_name_may_be_written_twice() {
    let flow = "
        node a
        node b
        node c
        node d
        fork [a,b] [ a , b ]
        fork [c,d] [ c , d ]
        start >> [a,b] >> [c,d] >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    sound
    "#);
}

#[test]
fn types_of_items_and_of_unknown_writers() {
    let flow = "
        node named writes item : Number
        node one item : Text
        each all item one
    ";
    insta::assert_snapshot!(report_types(flow), @"");
    let flow = "
        node unknown writes x : _
        node known writes x : Number
        node reader x : Text
    ";
    insta::assert_snapshot!(report_types(flow), @r#"
    node reader: `reader` reads `x` as `Text`, but `known` writes it as `Number` [F008]
    help: read the type that is written, or map the read to another key
    see node known: `x` is `Number` here
    "#);
    let flow = "
        node a writes error : Text
        node b writes error : Number
    ";
    insta::assert_snapshot!(report_types(flow), @"");
    let flow = "
        in x : My_Type
        node reader x : Text
    ";
    insta::assert_snapshot!(report_types(flow), @r#"
    node reader: `reader` reads `x` as `Text`, but the input is `My_Type` [F008]
    help: read the type that is written, or map the read to another key
    see input x: `x` is `My_Type` here
    "#);
    let flow = "
        in x : Of<Item:A>
        node reader x : Of<Other:A>
    ";
    insta::assert_snapshot!(report_types(flow), @r#"
    node reader: `reader` reads `x` as `Of<Other:A>`, but the input is `Of<Item:A>` [F008]
    help: read the type that is written, or map the read to another key
    see input x: `x` is `Of<Item:A>` here
    "#);
}

#[test]
fn a_branch_that_reads_what_only_another_writes_is_told_of_that_alone() {
    let flow = "
        node show x
        node make writes x
        fork both [ show , make ]
        start >> both >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    node show: `show` reads `x` while `make` writes it in another branch [F010]
    help: put it after `make`, or read a key that no other branch writes
    see node make: `make` writes `x`
    "#);
}

#[test]
fn an_edge_that_stands_there_twice_leads_where_it_leads() {
    let flow = "
        node a
        node b
        start >> a >> b >> a
        a >> b
    ";
    insta::assert_snapshot!(report(flow), @r#"
    node a: no path leads from `a` to an `end` [F006]
    this loop has no way out: a >> b >> a
    help: let a node of the loop choose between two actions, one of which leads out of it

    edge 3 Action: `a` leads to `b` already: this edge stands here twice [F003]
    help: remove one of them
    see edge 1 Action: it is routed here already
    "#);
}

#[test]
fn forks_that_their_author_did_not_name_may_look_alike() {
    let flow = "
        node a
        node b
        node c
        node d
        fork [a] [ a , b ]
        fork [b] [ c , d ]
        start >> [a] >> [b] >> end
    ";
    let mut graph = graph(flow);
    for name in ["[…]", "same"] {
        for node in &mut graph.nodes[4..] {
            node.name = name.to_owned();
        }
        assert_eq!(check(graph.clone()).is_ok(), name == "[…]");
    }
}

#[test]
fn a_node_that_chooses_nothing_is_told_once() {
    let flow = "
        node review writes verdict : Verdict
        start >> review
        review - approved >> end
        review - rejected >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 1 Action: `review` has no action "approved" [F001]
    help: if what it returns decides, say so where it is defined: `#[node(actions = Verdict)]`; else write `review >> end`
    "#);
    let flow = "
        node review writes text : String writes more : Text
        start >> review
        review - approved >> end
    ";
    insta::assert_snapshot!(report(flow), @r#"
    edge 1 Action: `review` has no action "approved" [F001]
    help: to let it decide, return an enum with `#[derive(Action)]`, and name that: `#[node(actions = …)]`; else write `review >> end`
    "#);
}
