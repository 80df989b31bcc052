//! The notations that other programs draw. Both were drawn by those programs and looked at: Mermaid
//! 11 and Graphviz 2.

use std::collections::BTreeSet;

use flow_render as render;
use flow_render::Direction;
use flow_spec::FlowDocument;
use flow_spec::document::{EndDocument, NodeDocument, Property};
use proptest::prelude::*;
use serde_json::{Map, json};

use crate::flows::{any_flow, edge, fulfilment, node, order, research_desk, subscription};

#[test]
fn a_title_stands_above_the_name() {
    let mut flow = research_desk();
    let node = flow.nodes.iter_mut().find(|node| node.id == "plan");
    node.unwrap().title = Some("Plan the research".to_owned());
    let node = flow.nodes.iter_mut().find(|node| node.id == "revise");
    node.unwrap().title = Some("Mend it".to_owned());
    let mermaid = render::mermaid(&flow);
    assert!(
        mermaid.contains("Plan the research<br/>plan: desk::plan"),
        "{mermaid}"
    );
    assert!(mermaid.contains("Mend it<br/>revise"), "{mermaid}");
}

/// B-067
#[test]
fn the_tree_has_a_line_for_each_node_and_indents_those_inside() {
    insta::assert_snapshot!(render::tree(&research_desk()), @r"
    📦 desk::plan (plan)
    📦 Research (research)
      📦 ask (ask)
      📦 AnswerOne (answer_one)
        📦 lookup (lookup)
        📦 Cite (cite)
          📦 locate (locate)
          📦 quote (quote)
        📦 guess (guess)
      📦 flow.each (answers)
      📦 weigh (weigh)
    📦 write_up (write_up)
    📦 translate (translate)
    📦 proofread (proofread)
    📦 illustrate (illustrate)
    📦 flow.fork (enrich)
    📦 flow.branch (size)
    📦 shorten (shorten)
    📦 flow.wait (end)
    📦 flow.human (approve)
    📦 revise (revise)
    📦 apologise (apologise)
    ");
}

/// The whole text, with the arrows in the order of a run.
#[test]
fn the_text_goes_through_every_level() {
    insta::assert_snapshot!(render::text(&research_desk()));
}

#[test]
fn a_race_says_that_the_first_branch_decides() {
    let flow = order();
    insta::assert_snapshot!(render::text(&flow), @r#"
    Order (order)
    start
    ↓ outcome · first of · [fulfil >> pack => "shipped", approval, wait => "late"]
    ├ approved → end "cancelled"
    ├ late → end "late"
    ↓ shipped → mail
    ↓ end
    "#);
    let lines = |picture: &str, parts: &[&str]| {
        let lines = picture.lines().map(str::trim);
        let lines = lines.filter(|line| parts.iter().any(|part| line.contains(part)));
        lines.collect::<Vec<_>>().join("\n")
    };
    let of_race = ["outcome", "n_pack", "legend["];
    insta::assert_snapshot!(lines(&render::mermaid(&flow), &of_race), @r##"
    subgraph n_outcome["outcome · first of"]
    n_outcome_fork["first of"]:::bar
    n_pack["pack"]
    n_outcome_join["first done"]:::bar
    n_start --> n_outcome_fork
    n_outcome_join -->|"shipped"| n_mail
    n_outcome_join -->|"approved"| n_end_cancelled
    n_outcome_join -->|"late"| n_end_late
    n_outcome_fork --> n_fulfil
    n_fulfil -->|"#123;parcel#125;"| n_pack
    n_pack -->|"shipped"| n_outcome_join
    n_outcome_fork --> n_approval
    n_approval --> n_outcome_join
    n_outcome_fork --> n_wait
    n_wait -->|"late"| n_outcome_join
    n_legend["action: the action that takes the arrow<br/>#123;keys#125;: keys that are written before it and read after it"]:::legend
    "##);
    let of_race = ["outcome", "\"pack\"", "/legend"];
    insta::assert_snapshot!(lines(&render::dot(&flow), &of_race), @r##"
    subgraph "cluster/outcome" {
    label="outcome\nfirst of"
    "outcome/fork" [label="" style=filled height=0.08 width=1.5 fixedsize=true fillcolor="#6b7280"]
    "pack" [label="pack"]
    "outcome/join" [label="" style=filled height=0.08 width=1.5 fixedsize=true fillcolor="#6b7280"]
    "/start" -> "outcome/fork"
    "outcome/join" -> "mail" [label="shipped"]
    "outcome/join" -> "/end/cancelled" [label="approved"]
    "outcome/join" -> "/end/late" [label="late"]
    "outcome/fork" -> "fulfil"
    "fulfil" -> "pack" [label="{parcel}"]
    "pack" -> "outcome/join" [label="shipped"]
    "outcome/fork" -> "approval"
    "approval" -> "outcome/join"
    "outcome/fork" -> "wait"
    "wait" -> "outcome/join" [label="late"]
    "/legend" [label="action: the action that takes the arrow\n{keys}: keys that are written before it and read after it" shape=note style=filled fillcolor="#ffffff" fontsize=10]
    "##);
}

#[test]
fn a_signal_says_what_it_waits_for() {
    let flow = subscription();
    insta::assert_snapshot!(render::text(&flow), @r#"
    Subscription (subscription)
    start
    ↓ start_it · waits for: Start · at most 2days
    ├ timeout → end "late"
    ↓ month · first of · [cancel_request => "cancelled", wait => "over"]
    ├ cancelled → Why? · reason: waits for: survey
    │ ↓ end
    ↓ over → charge
    ↓ month ↑
    "#);
    insta::assert_snapshot!(render::tree(&flow), @"
    📦 flow.signal (start_it)
    📦 flow.first (month)
    📦 flow.signal (cancel_request)
    📦 flow.wait (wait)
    📦 charge (charge)
    📦 flow.signal (reason)
    ");
    let lines = |picture: &str, part: &str| {
        let lines = picture.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains(part));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(lines(&render::mermaid(&flow), "signal"), @r#"
    n_start_it>"start_it<br/>waits for: Start<br/>at most 2days"]:::signal
    n_cancel_request>"cancel_request<br/>waits for: CancelRequest"]:::signal
    n_reason>"Why?<br/>reason: waits for: survey"]:::signal
    classDef signal fill:#f3e8ff,stroke:#9333ea,color:#581c87
    "#);
    insta::assert_snapshot!(lines(&render::dot(&flow), "waits"), @r##"
    "start_it" [label="start_it\nwaits for: Start\nat most 2days" shape=cds style=filled fillcolor="#f3e8ff" color="#9333ea"]
    "cancel_request" [label="cancel_request\nwaits for: CancelRequest" shape=cds style=filled fillcolor="#f3e8ff" color="#9333ea"]
    "reason" [label="Why?\nreason: waits for: survey" shape=cds style=filled fillcolor="#f3e8ff" color="#9333ea"]
    "##);
}

#[test]
fn an_undo_node_hangs_at_the_node_that_it_takes_back() {
    let flow = fulfilment();
    insta::assert_snapshot!(render::text(&flow), @r#"
    Fulfilment (fulfilment)
    start
    ↓ reserve · undone by release
    ┆ release · takes back reserve
    ↓ charge · Charge · undone by refund, 5 attempts  {reservation}
    ┆ Give back · takes back charge, bill · refund: Refund · 3 attempts
    ↓ both · in parallel · [ship, bill >> announce]
    ┆ call_back · takes back ship
    ├ error → undo · undoes what was done
    │ ↓ end "refused"
    ↓ commit · keeps what was done
    ↓ mail
    ↓ end
    "#);
    let lines = |picture: &str, parts: &[&str]| {
        let lines = picture.lines().map(str::trim);
        let lines = lines.filter(|line| parts.iter().any(|part| line.contains(part)));
        lines.collect::<Vec<_>>().join("\n")
    };
    let of_undo = ["undo", "refund", "commit", "call_back"];
    insta::assert_snapshot!(lines(&render::mermaid(&flow), &of_undo), @r#"
    n_reserve["reserve<br/>undone by release"]
    n_charge["charge<br/>Charge<br/>undone by refund, 5 attempts"]
    n_refund["Give back<br/>refund: Refund<br/>3 attempts"]
    n_ship["ship<br/>undone by call_back"]
    n_call_back["call_back"]
    n_bill["bill<br/>undone by refund"]
    n_commit{{"commit<br/>keeps what was done"}}:::commit
    n_undo[\"undo<br/>undoes what was done"\]:::undo
    n_both_join --> n_commit
    n_commit --> n_mail
    n_both_join -.->|"error"| n_undo
    n_undo --> n_end_refused
    n_reserve -.->|"undo"| n_release
    n_charge -.->|"undo"| n_refund
    n_ship -.->|"undo"| n_call_back
    n_bill -.->|"undo"| n_refund
    n_legend["dotted: taken on an error<br/>undo: leads to the undo node<br/>action: the action that takes the arrow<br/>#123;keys#125;: keys that are written before it and read after it"]:::legend
    classDef undo fill:#ffedd5,stroke:#c2410c,color:#7c2d12
    classDef commit fill:#d1fae5,stroke:#059669,color:#064e3b
    "#);
    insta::assert_snapshot!(lines(&render::dot(&flow), &of_undo), @r##"
    "reserve" [label="reserve\nundone by release"]
    "charge" [label="charge\nCharge\nundone by refund, 5 attempts"]
    "refund" [label="Give back\nrefund: Refund\n3 attempts"]
    "ship" [label="ship\nundone by call_back"]
    "call_back" [label="call_back"]
    "bill" [label="bill\nundone by refund"]
    "commit" [label="commit\nkeeps what was done" shape=octagon style=filled fillcolor="#d1fae5" color="#059669"]
    "undo" [label="undo\nundoes what was done" shape=larrow style=filled fillcolor="#ffedd5" color="#c2410c"]
    "both/join" -> "commit"
    "commit" -> "mail"
    "both/join" -> "undo" [label="error" style=dashed]
    "undo" -> "/end/refused"
    "reserve" -> "release" [label="undo" style=dashed]
    "charge" -> "refund" [label="undo" style=dashed]
    "ship" -> "call_back" [label="undo" style=dashed]
    "bill" -> "refund" [label="undo" style=dashed]
    "/legend" [label="dashed: taken on an error\nundo: leads to the undo node\naction: the action that takes the arrow\n{keys}: keys that are written before it and read after it" shape=note style=filled fillcolor="#ffffff" fontsize=10]
    "##);
}

/// A node that reads and writes these keys.
fn node_with(id: &str, reads: &[&str], writes: &[&str]) -> NodeDocument {
    let mut node = node(id, id, json!({}));
    for key in reads {
        node.inputs.insert(key, Property::new(), true);
    }
    for key in writes {
        node.outputs.insert(key, Property::new(), true);
    }
    node
}

#[test]
fn keys_travel_from_the_node_that_writes_them_to_the_last_that_reads_them() {
    let mut flow = FlowDocument::new("Keys", "keys");
    flow.inputs.insert("a", Property::new(), true);
    flow.inputs.insert("unread", Property::new(), true);
    flow.outputs.insert("z", Property::new(), true);
    flow.nodes = vec![
        node_with("first", &["a"], &["b", "c", "nobody_reads_it"]),
        node_with("second", &["b"], &["c", "own"]),
        node_with("third", &["c", "port"], &["z"]),
        node_with("many", &[], &["k1", "k2", "k3", "k4", "k5"]),
        node_with("all", &["k1", "k2", "k3", "k4", "k5", "d"], &[]),
    ];
    let mapped = |text: &str| [(text.to_owned(), json!("mapped"))].into_iter().collect();
    flow.nodes[1].mappings.outputs = mapped("own");
    flow.nodes[2].mappings.inputs = mapped("port");
    flow.edges = vec![
        edge("first", "default", "second"),
        edge("second", "default", "third"),
        edge("third", "default", "many"),
        edge("many", "default", "all"),
    ];
    // `c` is written anew before it is read, and `z` is returned at the end.
    insta::assert_snapshot!(render::text(&with_end(flow.clone(), "all")), @r"
    Keys (keys)
    start
    ↓ first   {a}
    ↓ second  {b}
    ↓ third   {c, mapped}
    ↓ many    {z}
    ↓ all     {k1, k2, k3, +2}
    ↓ end
    ");
    // An edge can write keys under other names.
    flow.edges[0].mappings = [("nobody_reads_it".to_owned(), json!("d"))]
        .into_iter()
        .collect();
    let text = render::text(&with_end(flow, "all"));
    assert!(
        text.contains("↓ second  {d <- nobody_reads_it, b}\n"),
        "{text}"
    );
}

/// A value travels up to the arrow that gives it to another key, and what an arrow writes anew does
/// not travel along it.
#[test]
fn arrows_name_the_keys_that_they_map() {
    let mut flow = FlowDocument::new("Mapped", "mapped");
    flow.inputs.insert("note", Property::new(), true);
    flow.outputs.insert("result", Property::new(), true);
    flow.nodes = vec![
        node_with("first", &["text"], &["text", "more"]),
        node_with("second", &[], &["bold"]),
        node_with("third", &["text"], &[]),
    ];
    let mapped = |from: &str, to: &str| [(from.to_owned(), json!(to))].into_iter().collect();
    flow.edges = vec![
        edge("first", "default", "second"),
        edge("second", "default", "third"),
    ];
    flow.entry_mappings = mapped("note", "text");
    flow.edges[1].mappings = mapped("more", "text");
    let mut flow = with_end(flow, "third");
    flow.ends[0].mappings = mapped("bold", "result");
    insta::assert_snapshot!(render::text(&flow), @r"
    Mapped (mapped)
    start
    ↓ first   {text <- note}
    ↓ second  {more}
    ↓ third   {text <- more, bold}
    ↓ end     {result <- bold}
    ");
    for (text, escaped) in [
        (render::mermaid(&flow), "text #60;#45; more"),
        (render::dot(&flow), "text <- more"),
        (render::html(&flow).to_string(), "text &lt;- more"),
    ] {
        assert!(text.contains(escaped), "{text}");
    }
}

/// The flow with an end after this node, and its first node as the one that it begins with.
fn with_end(mut flow: FlowDocument, last: &str) -> FlowDocument {
    flow.entry_node_id = Some(flow.nodes[0].id.clone());
    flow.ends = vec![EndDocument {
        from: Some(last.to_owned()),
        condition: Some("default".to_owned()),
        label: "default".to_owned(),
        mappings: Map::new(),
    }];
    flow
}

/// CB-17: two loops back, one of them from a node to itself, and the way on.
#[test]
fn each_arrow_of_a_loop_is_drawn_once_with_its_action() {
    let mut flow = FlowDocument::new("Payment", "payment");
    flow.nodes = vec![
        node_with("validate", &[], &[]),
        node_with("process", &[], &[]),
        node_with("confirm", &[], &[]),
    ];
    flow.edges = vec![
        edge("validate", "out_of_stock", "validate"),
        edge("validate", "default", "process"),
        edge("process", "something_fail", "validate"),
        edge("process", "pass", "confirm"),
    ];
    let flow = with_end(flow, "confirm");
    let arrows = |picture: &str, arrow: &str| {
        let lines = picture.lines().filter(|line| line.contains(arrow));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(arrows(&render::mermaid(&flow), "-->"), @r#"
    n_start --> n_validate
    n_validate -->|"out_of_stock"| n_validate
    n_validate --> n_process
    n_process -->|"something_fail"| n_validate
    n_process -->|"pass"| n_confirm
    n_confirm --> n_end_default
    "#);
    insta::assert_snapshot!(arrows(&render::dot(&flow), "->"), @r#"
    "/start" -> "validate"
    "validate" -> "validate" [label="out_of_stock"]
    "validate" -> "process"
    "process" -> "validate" [label="something_fail"]
    "process" -> "confirm" [label="pass"]
    "confirm" -> "/end/default"
    "#);
}

/// Each node has two arrows on and one back, so that indenting all of them would need a line that is
/// as long as the flow.
#[test]
fn a_text_is_never_wider_than_a_few_levels() {
    let mut flow = FlowDocument::new("Deep", "");
    for number in 0..300 {
        let id = |number: usize| format!("n{number}");
        flow.nodes.push(node(&id(number), "step", json!({})));
        flow.edges.push(edge(&id(number), "a", &id(number + 1)));
        flow.edges.push(edge(&id(number), "b", &id(number + 2)));
    }
    flow.entry_node_id = Some("n0".to_owned());
    let text = render::text(&flow);
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(60), "{text}");
    for number in 0..300 {
        assert!(text.contains(&format!("n{number} ")), "n{number}: {text}");
    }
}

#[test]
fn mermaid_shows_every_level() {
    insta::assert_snapshot!(render::mermaid(&research_desk()));
}

#[test]
fn dot_shows_every_level() {
    insta::assert_snapshot!(render::dot(&research_desk()));
}

#[test]
fn mermaid_and_dot_go_to_the_right_if_they_are_told_to() {
    let flow = research_desk();
    let down = render::mermaid(&flow);
    assert!(down.contains("\nflowchart TB\n"), "{down}");
    assert_eq!(down, render::mermaid_in(&flow, Direction::TopToBottom));
    assert_eq!(
        render::mermaid_in(&flow, Direction::LeftToRight),
        down.replace("flowchart TB", "flowchart LR")
    );
    let down = render::dot(&flow);
    assert_eq!(down, render::dot_in(&flow, Direction::TopToBottom));
    let right = render::dot_in(&flow, Direction::LeftToRight);
    assert!(right.contains("\n  rankdir=LR\n"), "{right}");
    // Bars lie across the arrows.
    assert!(right.contains("height=1.5 width=0.08"), "{right}");
    assert_eq!(
        right
            .replace("  rankdir=LR\n", "")
            .replace("height=1.5 width=0.08", "height=0.08 width=1.5"),
        down
    );
}

/// A flow whose node has this type and is left by this action.
fn with_text(text: &str) -> FlowDocument {
    let mut flow = FlowDocument::new(text, "");
    flow.nodes = vec![node("end", text, json!({})), node("b", "b", json!({}))];
    flow.edges = vec![edge("end", text, "b")];
    flow.ends = vec![EndDocument {
        from: Some("b".to_owned()),
        condition: Some("default".to_owned()),
        label: text.to_owned(),
        mappings: Map::new(),
    }];
    flow
}

#[test]
fn no_text_of_a_user_means_anything_to_mermaid() {
    let odd = "\"q\" <b>&lt;</b> #quot; `x` %%{init}%% \\n $$x$$ 1. - * [a]{b}|c| -->";
    let picture = render::mermaid(&with_text(odd));
    let body = picture.split("flowchart TB\n").nth(1).expect("a flowchart");
    let texts: Vec<&str> = body
        .lines()
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert_eq!(
        texts.len(),
        6,
        "start, two nodes, an end, an arrow and the legend:\n{picture}"
    );
    for text in &texts {
        let allowed = |letter: char| letter.is_alphanumeric() || " #;/_,:?!=()…".contains(letter);
        let text = text.replace("<br/>", "");
        assert!(text.chars().all(allowed), "{text}");
    }
    assert!(texts[1].contains("#35;quot#59;"), "{}", texts[1]);
    assert!(
        body.lines()
            .all(|line| [0, 2].contains(&line.matches('"').count())),
        "{picture}"
    );
    assert!(
        texts[1].starts_with("end<br/>#34;q#34; #60;b#62;#38;lt#59;"),
        "{}",
        texts[1]
    );
}

/// Mermaid takes the last `;` away from what is `style.*:\S*#.*;` or `classDef.*:\S*#.*;` in a
/// line, and turns `ﬂ°°` and `¶ß` into what begins and ends a number.
#[test]
fn no_text_of_a_user_takes_a_number_of_mermaid_apart() {
    let mut flow = with_text("style :<- classDef:-");
    flow.nodes[0].id = "my_style".to_owned();
    flow.nodes[1].id = "classDefs".to_owned();
    let picture = render::mermaid(&flow);
    let body = picture.split("flowchart TB\n").nth(1).unwrap();
    let own = body.split("  classDef start").next().unwrap();
    assert!(!own.contains("style") && !own.contains("classDef"), "{own}");
    assert!(
        own.contains("my_STYLE[") && own.contains("#115;tyle :#60;"),
        "{own}"
    );
    let picture = render::mermaid(&with_text("ﬂ°°60¶ß"));
    assert!(picture.contains("end<br/>#64258;°°60#182;ß"), "{picture}");
}

#[test]
fn an_id_is_never_a_word_of_mermaid_and_no_two_are_one() {
    let mut flow = FlowDocument::new("Ids", "");
    for id in ["end", "subgraph", "a-b", "a_b", "start", "größe", "gr__e"] {
        flow.nodes.push(node(id, id, json!({})));
    }
    let picture = render::mermaid(&flow);
    let lines = picture.lines().filter(|line| line.contains("[\""));
    let ids: Vec<&str> = lines
        .filter_map(|line| line.trim().split(['[', '(']).next())
        .collect();
    assert_eq!(
        ids,
        [
            "n_start",
            "n_end",
            "n_subgraph",
            "n_a_b",
            "n_a_b_2",
            "n_start_2",
            "n_gr__e",
            "n_gr__e_2",
            "n_end_default",
        ]
    );
}

#[test]
fn no_text_of_a_user_means_anything_to_dot() {
    let picture = render::dot(&with_text("\"q\" \\N \\n &amp; \\"));
    assert!(
        picture.contains(r#"label="end\n\"q\" \\N \\n &amp;amp; \\""#),
        "{picture}"
    );
}

#[test]
fn no_text_of_a_user_breaks_a_line_of_the_tree() {
    let flow = with_text("a\nb\u{1b}[31m\r c");
    assert_eq!(render::tree(&flow), "📦 a b\\u{1b}[31m c (end)\n📦 b (b)\n");
}

/// Such documents have no ends and say no actions.
#[test]
fn a_document_of_others_ends_after_its_last_node() {
    let text = r#"{ "version": "2.0.0", "namespace": "t", "nodes": [
        { "type": "A", "id": "a" }, { "type": "B", "id": "b" }
    ], "edges": [{ "from": "a", "to": "b", "condition": "complete" }], "entryNodeId": "a" }"#;
    let flow = FlowDocument::parse(text).expect("a document");
    let picture = render::mermaid(&flow);
    for line in [
        "n_start --> n_a",
        "n_a -->|\"complete\"| n_b",
        "n_b --> n_end_default",
    ] {
        assert!(picture.contains(line), "{picture}");
    }
}

#[test]
fn a_flow_that_was_left_out_is_drawn_as_such() {
    let mut flow = research_desk();
    flow.cut(0);
    let picture = render::mermaid(&flow);
    assert!(
        picture.contains("n_research[[\"research<br/>Research, a flow that is left out\"]]"),
        "{picture}"
    );
    assert!(render::dot(&flow).contains("peripheries=2"), "{picture}");
}

/// The ids that a line of a Mermaid flowchart gives to a box or a node.
fn defined(picture: &str) -> Vec<&str> {
    let shape = |line: &&str| !line.contains("->") && !line.contains("classDef");
    let lines = picture.lines().map(str::trim).filter(shape);
    let name = |line: &'_ str| -> usize { line.find(['[', '(', '{', '>']).unwrap_or(0) };
    lines
        .map(|line| line.strip_prefix("subgraph ").unwrap_or(line))
        .map(|line| &line[..name(line)])
        .filter(|id| id.starts_with("n_"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_node_of_any_flow_is_drawn_once_and_arrows_lead_to_what_is_drawn(flow in any_flow()) {
        let picture = render::mermaid(&flow);
        let ids = defined(&picture);
        let once: BTreeSet<&str> = ids.iter().copied().collect();
        prop_assert_eq!(ids.len(), once.len(), "{}", picture);
        for at in flow.flatten_nodes() {
            let id = format!("n_{}", at.path.replace('.', "_"));
            prop_assert!(once.contains(id.as_str()), "{} is not in\n{}", id, picture);
        }
        for line in picture.lines().filter(|line| line.contains("->")) {
            let ends = line.split_whitespace().filter(|word| word.starts_with("n_"));
            for id in ends {
                prop_assert!(once.contains(id), "{} leads nowhere in\n{}", line, picture);
            }
        }
        let dot = render::dot(&flow);
        prop_assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    }
}
