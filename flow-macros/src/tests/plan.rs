//! The plan of a flow for its values: where each is, and whether it is borrowed, moved or cloned.

use super::rustc::{Rustc, parse};

/// The plan of a flow with nodes that read and take a text.
fn plan(flow: &str) -> String {
    let mut rustc = Rustc::default();
    for item in [
        "fn look(text: &Text) {}",
        "fn maybe_look(text: Option<&Text>) {}",
        "fn eat(text: Text) {}",
        "fn eat_again(text: Text) {}",
        "fn written() -> Text { Text }",
        "fn counted() -> Count { Count }",
        "fn eat_item(item: Item) -> Count { Count }",
        "fn look_at_both(item: &Item, text: &Text) {}",
        "fn eat_both(item: &Item, text: Text) {}",
    ] {
        let writes = match item {
            "fn written() -> Text { Text }" => "writes = text",
            _ => "",
        };
        rustc.node(parse(writes), parse(item));
    }
    rustc.flow(parse("Eats(text: Text) { start >> eat >> end; }"));
    rustc.plan(parse(flow))
}

#[test]
fn a_value_is_moved_to_the_last_who_takes_it() {
    insta::assert_snapshot!(plan("F(text: Text) { start >> eat >> eat_again >> end; }"), @r#"
    eat
      text: of the state, cloned, since eat_again needs it later
      "default" is route 1
    eat_again
      text: of the state, moved
      "default" is route 2
    "#);
}

#[test]
fn a_value_that_the_flow_returns_is_cloned() {
    insta::assert_snapshot!(plan("F(text: Text) -> (text: Text) { start >> look >> eat >> end; }"), @r#"
    look
      text: of the state, borrowed
      "default" is route 1
    eat
      text: of the state, cloned, since the flow returns it
      "default" is route 2
    "#);
}

#[test]
fn a_value_that_nobody_writes_is_nowhere() {
    insta::assert_snapshot!(plan("F() { start >> maybe_look >> end; }"), @r#"
    maybe_look
      text: written by nobody, borrowed
      "default" is route 1
    "#);
}

#[test]
fn a_loop_clones_what_its_next_turn_needs() {
    insta::assert_snapshot!(plan(
        "F(text: Text) { branch more(text) { text > 0 => \"more\", else => \"done\" } \
         start >> eat >> more; more - \"more\" >> eat; more - \"done\" >> end; }"
    ), @r#"
    eat
      text: of the state, cloned, since more needs it later
      "default" is route 1
    more
      text: of the state, borrowed
      "more" is route 2
      "done" is route 3
    "#);
}

#[test]
fn a_branch_takes_its_values_before_it_starts() {
    insta::assert_snapshot!(plan("F(text: Text) { start >> [eat, look] >> end; }"), @r#"
    [eat, look]
      branch 0
        takes text: of the state, cloned, since look needs it later
        eat
          text: taken for read 0 of eat, moved
      branch 1
        look
          text: of the state at the fork, borrowed
      "default" is route 1
    "#);
    insta::assert_snapshot!(plan("F(text: Text) { start >> [look >> eat, counted] >> end; }"), @r#"
    [look >> eat, counted]
      branch 0
        takes text: of the state, moved
        look
          text: taken for read 0 of eat, borrowed
        eat
          text: taken for read 0 of eat, moved
      branch 1
        counted
      "default" is route 1
    "#);
}

#[test]
fn a_branch_reads_what_it_wrote_itself() {
    insta::assert_snapshot!(plan("F(item: Item) { start >> [written >> eat, eat_item] >> end; }"), @r#"
    [written >> eat, eat_item]
      branch 0
        written
        eat
          text: of the branch, moved
      branch 1
        takes item: of the state, moved
        eat_item
          item: taken for read 0 of eat_item, moved
      "default" is route 1
    "#);
}

#[test]
fn the_body_of_a_loop_over_items_gets_the_item_and_looks_at_the_state() {
    insta::assert_snapshot!(plan(
        "F(items: Vec<Item>) -> (eaten: Vec<Count>) { node eaten: for item in items { eat_item }; start >> eaten >> end; }"
    ), @r#"
    eaten
      items: of the state, borrowed
        eaten.eat_item
          item: the item, moved
      "default" is route 1
    "#);
    insta::assert_snapshot!(plan(
        "F(items: Vec<Item>, text: Text) { node both: for item in items { eat_both }; start >> both >> end; }"
    ), @r#"
    both
      items: of the state, borrowed
        both.eat_both
          item: the item, borrowed
          text: of the state, cloned, since both.eat_both needs it later
      "default" is route 1
    "#);
}

#[test]
fn a_flow_that_is_tried_again_keeps_what_it_takes() {
    insta::assert_snapshot!(plan("F(text: Text) { node eats: Eats with retry(attempts = 2); start >> eats >> end; }"), @r#"
    eats
      text: of the state, cloned, since eats needs it later
      "default" is route 1
    "#);
}

#[test]
fn an_edge_moves_or_clones_what_it_maps() {
    insta::assert_snapshot!(plan(
        "F(first: Text, second: Text) { branch more(second) { second > 0 => \"more\", else => \"done\" } \
         start >> look { text <- first } >> more; more - \"more\" >> look { text <- second }; \
         more - \"done\" >> eat { text <- second } >> end; }"
    ), @r#"
    start: text from first, moved
    look
      text: of the state, borrowed
      "default" is route 1
    more
      second: of the state, borrowed
      "more" is route 2
        text from second, cloned, since more needs it later
      "done" is route 3
        text from second, moved
    eat
      text: of the state, moved
      "default" is route 4
    "#);
}
