//! What tools ask of a document. Cases of the upstream suites are cited by their numbers.

use std::collections::BTreeSet;

use flow_spec::document::EdgeDocument;
use flow_spec::{FlowDocument, NodeDocument, Step};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn node(id: &str) -> NodeDocument {
    NodeDocument {
        r#type: id.to_owned(),
        id: id.to_owned(),
        ..NodeDocument::default()
    }
}

fn composite(id: &str, inner: FlowDocument) -> NodeDocument {
    NodeDocument {
        internal_flow: Some(Box::new(inner)),
        ..node(id)
    }
}

/// A flow of these nodes, and of the edges written as `from -action-> to`.
fn flow(nodes: impl IntoIterator<Item = NodeDocument>, edges: &[&str]) -> FlowDocument {
    let mut flow = FlowDocument::new("Test", "test");
    flow.nodes = nodes.into_iter().collect();
    for edge in edges {
        let [from, action, to] = edge.split(' ').collect::<Vec<_>>()[..] else {
            panic!("no edge: {edge}")
        };
        flow.edges.push(EdgeDocument {
            from: from.to_owned(),
            to: to.to_owned(),
            condition: action.trim_matches(['-', '>']).to_owned(),
            mappings: Map::new(),
        });
    }
    flow
}

fn with_params(id: &str, r#type: &str, params: Value) -> NodeDocument {
    let Value::Object(params) = params else {
        panic!("no params: {params}")
    };
    NodeDocument {
        r#type: r#type.to_owned(),
        params,
        ..node(id)
    }
}

/// The flow {C} of the upstream suites: `agent` with `a >> b >> c` inside.
fn agent() -> FlowDocument {
    let inner = flow(
        ["a", "b", "c"].map(node),
        &["a -complete-> b", "b -complete-> c"],
    );
    flow([composite("agent", inner)], &[])
}

/// N(k): a node that is a flow, nested `k` times around one leaf.
fn nested(times: usize) -> FlowDocument {
    let mut inner = flow([node("leaf")], &[]);
    for level in (1..=times).rev() {
        inner = flow([composite(&format!("nested{level}"), inner)], &[]);
    }
    flow([composite("root", inner)], &[])
}

fn research_desk() -> FlowDocument {
    FlowDocument::parse(include_str!("fixtures/research_desk.json")).expect("the fixture is a flow")
}

fn paths(flow: &FlowDocument) -> Vec<String> {
    flow.flatten_nodes().into_iter().map(|at| at.path).collect()
}

fn ids<'a>(nodes: impl IntoIterator<Item = &'a NodeDocument>) -> Vec<&'a str> {
    nodes.into_iter().map(|node| node.id.as_str()).collect()
}

/// A path as people write it: `a -action-> b --> c`.
fn written(path: &[Step<'_>]) -> String {
    let mut text = path.first().map_or("", |step| step.from).to_owned();
    for step in path {
        text += &format!(" -{}-> {}", step.condition.unwrap_or_default(), step.to);
    }
    text
}

fn ways(flow: &FlowDocument, from: &str, to: &str) -> Vec<String> {
    flow.paths(from, to).map(|path| written(&path)).collect()
}

#[test]
fn the_fixture_is_sound() {
    assert_eq!(research_desk().check(), []);
}

/// BP-04, with the default of D-17: an export is cut at 10 levels, and says so.
#[test]
fn bp_04_a_cut_flow_is_as_deep_as_was_asked_and_marked_where_it_was_cut() {
    for (limit, depth) in [(20, 15), (10, 10), (2, 2), (1, 1), (0, 0)] {
        let mut flow = nested(14);
        assert_eq!(flow.max_depth(), 15);
        flow.cut(limit);
        assert_eq!(flow.max_depth(), depth);
        let nodes = flow.flatten_nodes();
        let cut = nodes.iter().filter(|at| at.node.internal_flow_omitted);
        let cut: Vec<&str> = cut.map(|at| at.node.id.as_str()).collect();
        match limit {
            20 => assert!(cut.is_empty()),
            0 => assert_eq!(cut, ["root"]),
            limit => assert_eq!(cut, [format!("nested{limit}")]),
        }
        assert_eq!(flow.composite_nodes().len(), depth, "what was cut is none");
    }
}

#[test]
fn bp_05_flattened_nodes_come_parent_first_in_declaration_order() {
    assert_eq!(paths(&agent()), ["agent", "agent.a", "agent.b", "agent.c"]);
}

#[test]
fn bp_05_flattened_edges_are_those_of_all_levels() {
    let agent = agent();
    let edges = agent.flatten_edges();
    assert_eq!(edges.len(), 2);
    assert!(edges.iter().all(|at| at.path == "agent"));
}

#[test]
fn own_edges_come_before_those_inside() {
    let inner = flow([node("x"), node("y")], &["x -inner-> y"]);
    let flow = flow(
        [composite("a", inner.clone()), composite("b", inner)],
        &["a -outer-> b"],
    );
    let edges = flow.flatten_edges().into_iter();
    let edges: Vec<_> = edges
        .map(|at| format!("{}:{}", at.path, at.edge.condition))
        .collect();
    assert_eq!(edges, [":outer", "a:inner", "b:inner"]);
}

#[test]
fn bp_05_a_node_is_found_by_its_path() {
    let agent = agent();
    for (path, id) in [("agent", "agent"), ("agent.a", "a")] {
        assert_eq!(agent.find(path).map(|node| node.id.as_str()), Some(id));
    }
    for path in [
        "agent.missing",
        "",
        "agent.",
        ".agent",
        "a",
        "agent.a.b",
        ".",
    ] {
        assert_eq!(agent.find(path), None, "{path}");
    }
}

#[test]
fn a_node_without_a_name_is_never_found() {
    let flow = flow([composite("agent", flow([node("")], &[])), node("")], &[]);
    for path in ["", "agent.", "."] {
        assert_eq!(flow.find(path), None, "{path}");
    }
}

#[test]
fn bp_05_composite_nodes_are_those_with_a_flow_inside() {
    let simple_then_composite = {
        let mut flow = agent();
        flow.nodes.insert(0, node("simple"));
        flow
    };
    for flow in [agent(), simple_then_composite] {
        let composites = flow.composite_nodes();
        assert_eq!(ids(composites.into_iter().map(|at| at.node)), ["agent"]);
        assert_eq!(flow.max_depth(), 1);
    }
    assert_eq!(flow([node("simple")], &[]).max_depth(), 0);
}

#[test]
fn bp_06_deep_nests_are_counted_flattened_and_walked() {
    let flow = nested(3);
    assert_eq!(flow.max_depth(), 4);
    assert_eq!(flow.flatten_nodes().len(), 5);
    let leaf = flow.find("root.nested1.nested2.nested3.leaf");
    assert_eq!(leaf.map(|node| node.id.as_str()), Some("leaf"));
}

#[test]
fn namespaces_are_those_of_every_flow_each_once() {
    let desk = research_desk();
    let all = [
        "desk",
        "desk.research",
        "desk.research.answers",
        "desk.research.answers.cite",
    ];
    assert_eq!(desk.namespaces(), all);
    assert_eq!(nested(3).namespaces(), ["test"]);
    let mut nameless = agent();
    nameless.namespace.clear();
    assert_eq!(nameless.namespaces(), ["test"]);
}

#[test]
fn neighbours_are_named_once_in_the_order_of_the_edges() {
    let desk = research_desk();
    assert_eq!(
        ids(desk.successors("approve")),
        ["revise"],
        "ends are no nodes"
    );
    assert_eq!(ids(desk.successors("size")), ["shorten", "end"]);
    assert_eq!(ids(desk.predecessors("apologise")), ["plan", "research"]);
    assert!(desk.predecessors("plan").is_empty());
    assert!(desk.successors("answer_one").is_empty(), "it stands deeper");
    let twice = flow([node("a"), node("b")], &["a -x-> b", "a -y-> b"]);
    assert_eq!(ids(twice.successors("a")), ["b"]);
    assert_eq!(ids(twice.predecessors("b")), ["a"]);
}

#[test]
fn a_fork_is_where_its_branches_begin_and_where_they_meet() {
    let desk = research_desk();
    assert_eq!(
        ids(desk.successors("enrich")),
        ["translate", "illustrate", "size"]
    );
    assert_eq!(
        ids(desk.predecessors("enrich")),
        ["proofread", "illustrate", "write_up", "revise"]
    );
    assert_eq!(ids(desk.predecessors("translate")), ["enrich"]);
    assert_eq!(ids(desk.successors("translate")), ["proofread"]);
    assert_eq!(ids(desk.predecessors("proofread")), ["translate"]);
    assert_eq!(ids(desk.successors("proofread")), ["enrich"]);
    assert_eq!(
        desk.owner("proofread").map(|node| &*node.id),
        Some("enrich")
    );
    assert_eq!(desk.owner("enrich"), None);
}

#[test]
fn a_loop_over_items_is_around_its_body() {
    let desk = research_desk();
    let research = desk
        .find("research")
        .and_then(|node| node.internal_flow.as_ref());
    let research = research.expect("it is a flow");
    assert_eq!(ids(research.successors("answers")), ["answer_one", "weigh"]);
    assert_eq!(ids(research.successors("answer_one")), ["answers"]);
    assert_eq!(ids(research.predecessors("answer_one")), ["answers"]);
    assert_eq!(
        research.owner("answer_one").map(|node| &*node.id),
        Some("answers")
    );
}

#[test]
fn a_way_through_a_flow_passes_a_fork_as_one_step_and_can_end_inside() {
    let desk = research_desk();
    assert_eq!(
        ways(&desk, "write_up", "size"),
        ["write_up -default-> enrich -default-> size"]
    );
    assert_eq!(
        ways(&desk, "write_up", "proofread"),
        ["write_up -default-> enrich --> translate --> proofread"]
    );
    assert_eq!(
        ways(&desk, "translate", "size"),
        ["translate --> proofread --> enrich -default-> size"]
    );
}

#[test]
fn every_action_between_two_nodes_is_a_way_of_its_own() {
    let flow = flow(
        ["a", "b", "c"].map(node),
        &["a -x-> b", "a -y-> b", "b -z-> c", "b -back-> a"],
    );
    assert_eq!(
        ways(&flow, "a", "c"),
        ["a -x-> b -z-> c", "a -y-> b -z-> c"]
    );
    assert!(ways(&flow, "c", "a").is_empty());
    assert!(ways(&flow, "a", "nowhere").is_empty());
    assert!(ways(&flow, "nowhere", "a").is_empty());
}

#[test]
fn ways_from_a_node_to_itself_are_its_loops() {
    let desk = research_desk();
    assert_eq!(
        ways(&desk, "write_up", "write_up"),
        ["write_up -error-> write_up"]
    );
    assert_eq!(
        ways(&desk, "approve", "approve"),
        [
            "approve -needs_revision-> revise -default-> enrich -default-> size -default-> end -default-> approve"
        ]
    );
    assert!(ways(&desk, "plan", "plan").is_empty());
}

/// 60 nodes in a row, each with two edges to the next: 2^60 ways. Then 25 nodes, each with edges to all others, of
/// which none leads on: they must not be searched.
#[test]
fn the_first_ways_of_very_many_are_found_at_once() {
    let name = |index: usize| format!("n{index}");
    let mut edges = Vec::new();
    for index in 0..60 {
        for action in ["left", "right"] {
            edges.push(format!("{} -{action}-> {}", name(index), name(index + 1)));
        }
    }
    for from in 100..125 {
        edges.insert(0, format!("n0 -trap-> n{from}"));
        edges.extend((100..125).map(|to| format!("n{from} -to_{to}-> n{to}")));
    }
    let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
    let nodes = (0..=60).chain(100..125).map(|index| node(&name(index)));
    let flow = flow(nodes, &edges);
    let found: BTreeSet<String> = flow
        .paths("n0", "n60")
        .take(1000)
        .map(|path| written(&path))
        .collect();
    assert_eq!(found.len(), 1000);
}

#[test]
fn edges_and_branches_that_name_nothing_lead_nowhere() {
    let fork = with_params(
        "f",
        "flow.fork",
        json!({ "branches": [["a", "gone", 3], "b"] }),
    );
    let each = with_params("e", "flow.each", json!({ "body": 1 }));
    let flow = flow([node("a"), fork, each], &["a -x-> gone", "gone -x-> a"]);
    assert!(flow.successors("a").is_empty());
    assert_eq!(ids(flow.successors("f")), ["a"]);
    assert!(flow.successors("e").is_empty());
}

/// Slow and obviously right: tries every order of nodes.
fn all_ways(
    edges: &[(usize, usize)],
    trail: &[usize],
    to: usize,
    found: &mut BTreeSet<Vec<usize>>,
) {
    for &(_, next) in edges.iter().filter(|(from, _)| trail.last() == Some(from)) {
        let longer = [trail, &[next]].concat();
        if next == to {
            found.insert(longer);
        } else if !trail.contains(&next) {
            all_ways(edges, &longer, to, found);
        }
    }
}

proptest! {
    #[test]
    fn all_ways_are_found_and_each_once(
        edges in prop::collection::btree_set((0..6usize, 0..6usize), 0..20),
        from in 0..6usize,
        to in 0..6usize,
    ) {
        let name = |index: usize| format!("n{index}");
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        let texts: Vec<String> = edges
            .iter()
            .map(|(from, to)| format!("n{from} -to-> n{to}"))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let flow = flow((0..6).map(|index| node(&name(index))), &texts);
        let mut expected = BTreeSet::new();
        all_ways(&edges, &[from], to, &mut expected);
        let expected: Vec<Vec<String>> = expected
            .into_iter()
            .map(|way| way.into_iter().map(name).collect())
            .collect();
        let mut found: Vec<Vec<String>> = flow
            .paths(&name(from), &name(to))
            .map(|path| {
                let start = path[0].from.to_owned();
                std::iter::once(start).chain(path.iter().map(|step| step.to.to_owned())).collect()
            })
            .collect();
        found.sort();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn signals_of_all_levels() {
    let signal = |id: &str, params| with_params(id, "flow.signal", params);
    let inner = flow(
        [
            signal("stop", json!({ "expects": "shop::Cancel<Order>@1.2.0" })),
            with_params(
                "ask",
                "flow.human",
                json!({ "prompt": "?", "expects": "Cancel" }),
            ),
        ],
        &[],
    );
    let outer = flow(
        [
            signal("address", json!({ "name": "new::address@home" })),
            composite("order", inner),
            signal("none", json!({})),
            with_params("name", "chat", json!({ "name": "x" })),
        ],
        &[],
    );
    let found: Vec<String> = outer
        .signals()
        .iter()
        .map(|at| format!("{} {} {}", at.path, at.name, at.node.id))
        .collect();
    assert_eq!(
        found,
        [
            "address new::address@home address",
            "order.stop Cancel stop"
        ]
    );
    assert_eq!(inner_of(&outer).signals().len(), 1);
}

fn inner_of(flow: &FlowDocument) -> &FlowDocument {
    let mut inner = flow
        .nodes
        .iter()
        .filter_map(|node| node.internal_flow.as_deref());
    inner.next().expect("a flow in the flow")
}
