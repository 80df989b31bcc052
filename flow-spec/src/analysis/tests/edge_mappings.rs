//! The mappings of edges: what they write and read.

use super::notation::{report, report_types};

#[test]
fn an_edge_writes_the_key_only_where_it_leads() {
    let flow = "
        node review on approved writes amount on rejected writes fee
        node pay price
        start >> review
        review - approved >> pay { price <- amount } >> end
        review - rejected >> pay { price <- fee }
    ";
    assert_eq!(report(flow), "sound");
    assert_eq!(
        report(&flow.replace("{ price <- fee }", "")),
        r#"edge 3 To: `pay` reads `price`, which is not written on every path to it [F007]
this path does not write it: start >> review - "rejected" >> pay
help: write `price` before, read it as `Option<&Price>`, or add it to the flow's inputs: `price: Price`"#
    );
}

#[test]
fn an_end_and_the_start_can_map() {
    let flow = "
        in text
        out result
        node shout draft writes loud
        start >> shout { draft <- text } >> end { result <- loud }
    ";
    assert_eq!(report(flow), "sound");
    let flow = "
        in text
        out result
        start >> end { result <- text }
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn a_fork_reads_what_is_read_inside_it() {
    let flow = "
        in text
        in words
        node count draft
        node one_word word draft
        each all word one_word words
        fork both [ count , all ]
        start >> both { draft <- text } >> end
    ";
    assert_eq!(report(flow), "sound");
    assert_eq!(
        report(&flow.replace("draft <- text", "draft <- text , word <- words")),
        "edge 0 Key(1): `both` does not read `word` [F015]\nhelp: what `both` reads comes first: `words <- word`"
    );
}

#[test]
fn two_keys_can_be_swapped() {
    let flow = "
        in left
        in right
        node look left right
        node look_again left right
        start >> look >> look_again { left <- right , right <- left } >> end
    ";
    assert_eq!(report(flow), "sound");
}

#[test]
fn the_error_of_a_node_has_other_names() {
    let flow = "
        node pay!
        node log reason
        start >> pay >> end
        pay - error >> log { reason <- error } >> end
    ";
    assert_eq!(report(flow), "sound");
    assert_eq!(
        report(&flow.replace("pay >> end", "pay >> log { reason <- error }")),
        r#"edge 1 Source(0): this edge reads `error`, which is not written on every path to it [F007]
this path does not write it: start >> pay >> log
help: it exists only where an "error" edge leads"#
    );
}

#[test]
fn the_key_has_to_be_read_where_the_edge_leads() {
    let flow = "
        in text
        out result
        node shout draft writes loud
        node rest
        start >> shout { KEY <- text } >> rest >> end { OUTPUT <- loud }
    ";
    let of = |key: &str, output: &str| report(&flow.replace("KEY", key).replace("OUTPUT", output));
    assert_eq!(of("draft", "result"), "sound");
    assert_eq!(
        of("drfat", "reslut"),
        "edge 0 Key(0): `shout` does not read `drfat` [F015]
help: did you mean `draft`?

edge 2 Key(0): `reslut` is not an output of the flow [F015]
help: did you mean `result`?"
    );
    let swapped = flow
        .replace("KEY <- text", "text <- draft")
        .replace("OUTPUT", "result");
    assert_eq!(
        report(&swapped),
        "edge 0 Key(0): `shout` does not read `text` [F015]
help: what `shout` reads comes first: `draft <- text`"
    );
    let nothing = flow.replace(">> rest", ">> rest { draft <- loud }");
    assert_eq!(
        report(&nothing.replace("KEY", "draft").replace("OUTPUT", "result")),
        "edge 1 Key(0): `rest` does not read `draft` [F015]\nhelp: `rest` reads nothing: write this on the edge to the node that reads `draft`, or remove this"
    );
}

#[test]
fn the_source_has_to_exist_and_to_be_written() {
    let flow = "
        in note?
        node review note? on approved writes amount on rejected
        node pay price
        start >> review
        review - approved >> pay { price <- amount } >> end
        review - rejected >> pay { price <- SOURCE }
    ";
    let of = |source: &str| report(&flow.replace("SOURCE", source));
    assert_eq!(
        of("amonut"),
        "edge 3 Source(0): nothing writes `amonut` [F015]\nhelp: did you mean `amount`?"
    );
    assert_eq!(
        of("amount"),
        r#"edge 3 Source(0): this edge reads `amount`, which is not written on every path to it [F007]
this path does not write it: start >> review - "rejected" >> pay
`review` writes `amount` only on "approved"
help: write `amount` before"#
    );
    assert_eq!(
        of("note"),
        "edge 3 Source(0): this edge reads `note`, which the caller may leave out [F007]\n\
         help: make the input required: `note: Note`\n\
         see input note: `note` is declared as an `Option` here"
    );
}

#[test]
fn each_key_and_each_source_once() {
    let flow = "
        in left
        in right
        node look a b
        start >> look { MAPPINGS } >> end
    ";
    let of = |mappings: &str| report(&flow.replace("MAPPINGS", mappings));
    assert!(of("a <- left , b <- right").starts_with("sound"));
    assert_eq!(
        of("a <- left , a <- right , b <- left"),
        "edge 0 Key(1): this edge writes both `left` and `right` to `a` [F021]
help: give each its own key

edge 0 Source(2): this edge reads `left` twice [F021]
help: let `look` read both from `a`: `node look: … { b <- a };`"
    );
    assert_eq!(
        of("error <- left , a <- right"),
        "edge 0 Key(0): `error` is reserved for the failed node's error [F017]
help: use another key, such as `problem`"
    );
}

#[test]
fn the_types_are_those_of_the_sources() {
    let flow = "
        in count : u64
        node write writes draft : String
        node look draft : str
        start >> write >> look { draft <- count } >> end
    ";
    assert_eq!(
        report_types(flow),
        "edge 1 Source(0): this edge gives `draft` a value of type `u64`, but `write` writes it as `String` [F008]
help: name a key of type `String`
see input count: `count` is `u64` here
see node write: `draft` is `String` here"
    );
    let flow = "
        in count : u64
        node pass seen : u64
        node look draft : str
        out result : String
        start >> pass { seen <- count } >> look { draft <- seen } >> end { result <- draft }
    ";
    assert_eq!(
        report_types(flow),
        "edge 1 Source(0): `look` reads `draft` as `str`, but `seen`, whose value an edge gives it, is `u64` [F008]
help: read the type that is written, or map the read to another key

edge 2 Source(0): the output `result` is declared as `String`, but `draft`, whose value an edge gives it, is `u64` [F008]
help: declare it as `result: u64`"
    );
}
