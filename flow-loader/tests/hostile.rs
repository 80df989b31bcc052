//! Documents that are to end the process or to block it. Each is refused, or runs without doing so,
//! on a stack of 512 KiB.

use std::future::poll_fn;
use std::task::Poll;
use std::thread;

use flow_loader::{Format, LoadedFlow, Registry, load, registry};
use flow_runtime::flow_spec::document::DEEPEST;
use flow_runtime::prelude::*;
use serde_json::{Value, json};

/// The stack of the threads on which the documents are loaded and run.
const STACK: usize = 512 << 10;

const LEVELS: usize = 10_000;

#[node]
fn keep(number: u64) -> u64 {
    number
}

fn nodes() -> Registry {
    registry![keep]
}

fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = thread::Builder::new().stack_size(STACK);
    thread.spawn(run).unwrap().join().unwrap()
}

/// The problems of a document, each with its pointer and its message.
fn problems(document: String, format: Format) -> Vec<(String, String)> {
    on_small_stack(move || match load(document, format, &nodes()) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let problems = error.problems().iter();
            problems
                .map(|problem| (problem.pointer.clone(), problem.message.clone()))
                .collect()
        }
    })
}

/// A flow that ends if a condition holds, and otherwise keeps the number first.
fn with_condition(condition: &str) -> Value {
    json!({
        "version": "2.0.0",
        "name": "Condition",
        "namespace": "condition",
        "inputs": { "type": "object", "properties": { "x": {}, "number": {} }, "required": ["x", "number"] },
        "nodes": [
            { "type": "flow.branch", "id": "choice", "params": {
                "cases": [{ "when": condition, "action": "yes" }],
                "otherwise": "no",
            } },
            { "type": "keep", "id": "keep" },
        ],
        "entryNodeId": "choice",
        "edges": [{ "from": "choice", "to": "keep", "condition": "no" }],
        "ends": [
            { "from": "choice", "condition": "yes", "label": "yes" },
            { "from": "keep", "condition": "default", "label": "no" },
        ],
    })
}

fn around(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

/// Conditions of every shape, with so many levels.
fn shapes(levels: usize) -> Vec<(&'static str, String)> {
    let joined = |operator: &str| vec!["x"; levels + 1].join(operator);
    vec![
        ("parentheses", around("(", "x", ")", levels) + " == 1"),
        ("lists", around("[", "x", "]", levels) + " == [1]"),
        ("maps", around("{'a': ", "x", "}", levels) + " == {'a': 1}"),
        ("keys of maps", around("{", "1", ": 1}", levels) + " == {}"),
        ("calls", around("int(", "x", ")", levels) + " == 1"),
        ("arguments", around("max(1, ", "x", ")", levels) + " == 1"),
        ("indexes", around("x[", "0", "]", levels) + " == 1"),
        ("methods", format!("x{} == 1", ".size()".repeat(levels))),
        ("fields", format!("x{} == 1", ".a".repeat(levels))),
        ("items", format!("x{} == 1", "[0]".repeat(levels))),
        ("sums", joined(" + ") + " == 1"),
        ("differences", joined("-") + " == 1"),
        ("products", joined(" * ") + " == 1"),
        ("comparisons", joined(" == ")),
        ("members", joined(" in ")),
        ("negations", "!".repeat(levels) + "x"),
        ("signs", "-".repeat(levels) + "x == 1"),
        ("both", "!-".repeat(levels) + "x"),
        ("choices", "x == 1 ? true : ".repeat(levels) + "false"),
        (
            "choices in choices",
            around("x == 1 ? ", "true", " : false", levels),
        ),
        ("loops", around("[x].map(a, ", "1", ")", levels) + " == [1]"),
        ("searches", around("[x].exists(a, ", "true", ")", levels)),
        ("presence", format!("has(x{})", ".a".repeat(levels))),
        ("open parentheses", "(".repeat(levels)),
        ("open lists", "[".repeat(levels)),
        ("closed parentheses", ")".repeat(levels)),
        (
            "names in backquotes",
            format!("x{} == 1", ".`a-b`".repeat(levels)),
        ),
        ("text", format!("x == '{}' + 1", "a".repeat(levels * 10))),
    ]
}

#[test]
fn a_condition_of_any_shape_nests_at_most_so_deep() {
    for (shape, condition) in shapes(LEVELS) {
        let found = problems(with_condition(&condition).to_string(), Format::Json);
        let [(pointer, _)] = &found[..] else {
            panic!("{shape}: {found:?}");
        };
        assert_eq!(pointer, "/nodes/0/params/cases/0/when", "{shape}");
    }
}

/// What is accepted is evaluated on a small stack as well.
#[test]
fn a_condition_that_nests_as_deep_as_it_may_is_evaluated() {
    let depths = [1, 2, 8, 20, 31, 32, 33, 48, 95, 99, 101];
    let accepted = depths
        .into_iter()
        .flat_map(shapes)
        .filter(|(_, condition)| {
            let document = with_condition(condition).to_string();
            let values = json!({ "x": 1, "number": 1 });
            on_small_stack(move || match load(document, Format::Json, &nodes()) {
                Ok(flow) => {
                    // Whether it holds does not matter here.
                    let _ = block_on(flow, values);
                    true
                }
                Err(_) => false,
            })
        });
    assert!(accepted.count() > 60);
}

fn block_on(flow: LoadedFlow, input: Value) -> Result<Value, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ran = runtime.block_on(flow.run(input));
    ran.map_err(|error| format!("{error:#}"))
}

#[test]
fn a_condition_ends_whatever_the_values_are() {
    let many: Vec<u64> = vec![1; 1000];
    for condition in [
        "x.map(a, x.map(b, x.map(c, c))) == []",
        "x.all(a, x.all(b, x.all(c, c == 1)))",
    ] {
        let document = with_condition(condition).to_string();
        let input = json!({ "x": many, "number": 1 });
        let said = on_small_stack(move || {
            block_on(load(document, Format::Json, &nodes()).unwrap(), input).unwrap_err()
        });
        assert!(said.contains("a condition takes too long"), "{said}");
    }
}

/// A flow around a flow, and so on.
fn nested(levels: usize) -> String {
    let open = r#"{"version":"2.0.0","name":"F","namespace":"f","nodes":[{"type":"Inner","id":"inner","internalFlow":"#;
    let close = r#"}],"edges":[]}"#;
    let innermost = r#"{"version":"2.0.0","name":"Last","namespace":"last","inputs":{"type":"object","properties":{"number":{}},"required":["number"]},"nodes":[{"type":"keep","id":"keep"}],"edges":[],"ends":[{"from":"keep","condition":"default","label":"default"}]}"#;
    around(open, innermost, close, levels)
}

#[test]
fn documents_nest_at_most_so_deep() {
    let flow = with_condition("x == 1").to_string();
    let with =
        |field: &str, value: String| flow.replacen('{', &format!("{{\"{field}\":{value},"), 1);
    let typed = |rust_type: String| {
        let inputs = json!({ "type": "object", "properties": { "x": { "rustType": rust_type }, "number": {} } });
        flow.replacen("\"inputs\"", &format!("\"inputs\":{inputs},\"outputs\""), 1)
    };
    let parallel = around(
        r#"{"type":"flow.fork","id":"f","params":{"branches":["#,
        "1",
        "]}}",
        LEVELS,
    );
    let schema = |inner: Value| {
        let mut document = with_condition("x == 1");
        document["inputs"]["properties"]["x"] = inner;
        document.to_string()
    };
    for (what, document) in [
        ("lists", with("dependencies", around("[", "1", "]", LEVELS))),
        (
            "objects",
            with("dependencies", around("{\"a\":", "1", "}", LEVELS)),
        ),
        ("open lists", "[".repeat(LEVELS * 10)),
        ("flows", nested(LEVELS)),
        ("a few flows", nested(DEEPEST + 1)),
        ("types", typed(around("Vec<", "u64", ">", LEVELS))),
        ("options", typed(around("Option<", "u64", ">", LEVELS))),
        ("results", typed(around("Result<", "u64", ">", LEVELS))),
        ("a long type", typed("A".repeat(LEVELS))),
        (
            "forks",
            format!("{{\"version\":\"2.0.0\",\"nodes\":[{parallel}],\"edges\":[]}}"),
        ),
    ] {
        assert!(!problems(document, Format::Json).is_empty(), "{what}");
    }
    // These are sound.
    for (what, inner) in [
        (
            "a reference to itself",
            json!({ "$ref": "#", "default": 1 }),
        ),
        (
            "references",
            json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }], "default": { "a": 1 } }),
        ),
    ] {
        assert_eq!(problems(schema(inner), Format::Json), [], "{what}");
    }
}

#[test]
fn yaml_nests_at_most_so_deep() {
    let bomb = (1..40).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        let before = level - 1;
        format!("{text}a{level}: &a{level} [*a{before}, *a{before}]\n")
    });
    for (what, document) in [
        ("lists", around("[", "1", "]", LEVELS)),
        ("objects", around("{a: ", "1", "}", LEVELS)),
        ("entries", "- ".repeat(LEVELS)),
        ("keys", "? ".repeat(LEVELS)),
        ("aliases", bomb),
        ("an alias of itself", "a: &a [*a]".to_owned()),
        ("anchors", "&a ".repeat(LEVELS)),
    ] {
        assert!(!problems(document, Format::Yaml).is_empty(), "{what}");
    }
}

#[test]
fn flows_that_nest_as_deep_as_they_may_run() {
    let output = on_small_stack(|| {
        // Each flow passes its input on.
        let with_inputs = nested(DEEPEST).replace(
            r#""namespace":"f","nodes""#,
            r#""namespace":"f","inputs":{"type":"object","properties":{"number":{}},"required":["number"]},"nodes""#,
        );
        let with_ends = with_inputs.replace(
            r#"}],"edges":[]}"#,
            r#"}],"edges":[],"ends":[{"from":"inner","condition":"default","label":"default"}]}"#,
        );
        let names = (0..DEEPEST).fold(with_ends, |text, level| {
            text.replacen(r#""name":"F""#, &format!(r#""name":"F{level}""#), 1)
        });
        let flow = load(names, Format::Json, &nodes()).unwrap();
        block_on(flow, json!({ "number": 3 }))
    });
    assert_eq!(output, Ok(json!({ "end": "default" })));
}

/// What the tokens of a condition are is bounded only if the parser sees the same ones: here it would read on in what
/// looks like a text.
#[test]
fn texts_that_do_not_end_where_they_seem_to_are_refused() {
    for inner in [
        "(".repeat(4_000),
        "x+".repeat(4_000) + "x",
        "[x].map(a,".repeat(1_000),
    ] {
        for condition in [
            format!("'\n{inner}"),
            format!("'{inner}"),
            format!("'''{inner}'"),
            format!("'\\q{inner}'"),
            format!("1r'\\' + {inner}'"),
            format!("är'\\' + {inner}'"),
        ] {
            let document = with_condition(&condition).to_string();
            let found = problems(document, Format::Json);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, "/nodes/0/params/cases/0/when", "{found:?}");
        }
    }
}

/// Each takes some tenths of a second to read, and megabytes.
#[test]
fn many_large_patterns_are_refused() {
    let pattern = |number: usize| format!("x.matches('\\\\w{{20}}{number}')");
    let patterns: Vec<String> = (0..500).map(pattern).collect();
    let document = with_condition(&patterns.join(" && ")).to_string();
    let found = problems(document, Format::Json);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("take more than 8 MiB"), "{found:?}");
    let few = with_condition(&patterns[..2].join(" && ")).to_string();
    assert_eq!(problems(few, Format::Json), []);
}

#[test]
fn keys_of_maps_and_patterns_made_at_a_run_cost_what_they_take() {
    let run = |condition: String, x: Value| {
        on_small_stack(move || {
            let document = with_condition(&condition).to_string();
            let flow = load(document, Format::Json, &nodes()).unwrap();
            block_on(flow, json!({ "x": x, "number": 1 }))
        })
    };
    let ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let copies = format!("x.all(a, {ten}.all(b, {ten}.map(c, {{a: 1}}) != []))");
    let error = run(copies, json!(["x".repeat(1 << 20)])).unwrap_err();
    assert!(error.contains("takes too long"), "{error}");
    let (open, close) = ("(".repeat(120), ")".repeat(120));
    let nested = format!("x.matches('{open}' + '{open}a{close}' + '{close}')");
    let output = run(nested, json!("a"));
    assert_eq!(output, Ok(json!({ "end": "yes" })));
}

/// A branch and a function that lead to one another for ever.
fn endless() -> LoadedFlow {
    let document = json!({
        "version": "2.0.0",
        "name": "Endless",
        "namespace": "endless",
        "inputs": { "type": "object", "properties": { "number": {} }, "required": ["number"] },
        "nodes": [
            { "type": "flow.branch", "id": "big", "params": {
                "cases": [{ "when": "number > 1", "action": "yes" }],
                "otherwise": "again",
            } },
            { "type": "keep", "id": "keep" },
        ],
        "entryNodeId": "big",
        "edges": [
            { "from": "big", "to": "keep", "condition": "again" },
            { "from": "keep", "to": "big", "condition": "default" },
        ],
        "ends": [{ "from": "big", "condition": "yes", "label": "default" }],
    });
    load(document.to_string(), Format::Json, &nodes()).unwrap()
}

/// A run that waits for nothing returns all the same, so that others run and can stop it.
#[tokio::test]
async fn a_loop_that_waits_for_nothing_lets_others_run() {
    let flow = endless();
    let mut run = Box::pin(flow.run(json!({ "number": 0 })));
    for _ in 0..3 {
        let polled = poll_fn(|context| Poll::Ready(run.as_mut().poll(context))).await;
        assert!(polled.is_pending());
    }
}

#[test]
fn a_loop_of_branches_is_refused() {
    let document = "
version: 2.0.0
name: Spin
namespace: spin
inputs: { type: object, properties: { number: { rustType: u64 } }, required: [number] }
nodes:
  - type: flow.branch
    id: big
    params: { cases: [{ when: number > 1, action: 'yes' }], otherwise: again }
entryNodeId: big
edges:
  - { from: big, to: big, condition: again }
ends:
  - { from: big, condition: 'yes', label: default }
";
    let error = load(document, Format::Yaml, &nodes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "12:22: `big` leads to itself for ever: a branch changes no value [F006]
at /edges/0/to
the loop: big - \"again\" >> big
help: put a step into the loop that writes what a condition reads, or lead the action somewhere else"
    );
}

/// A ring of very many branches is checked without taking long.
#[test]
fn a_large_ring_of_branches_is_refused_once() {
    let count = 5_000;
    let node = |index: usize| {
        json!({ "type": "flow.branch", "id": format!("b{index}"), "params": {
            "cases": [{ "when": "number > 1", "action": "yes" }], "otherwise": "again",
        } })
    };
    let edge = |index: usize| {
        let to = (index + 1) % count;
        json!({ "from": format!("b{index}"), "to": format!("b{to}"), "condition": "again" })
    };
    let end = |index: usize| json!({ "from": format!("b{index}"), "condition": "yes", "label": "default" });
    let document = json!({
        "version": "2.0.0", "name": "Ring", "namespace": "ring",
        "inputs": { "type": "object", "properties": { "number": {} }, "required": ["number"] },
        "nodes": (0..count).map(node).collect::<Vec<_>>(),
        "entryNodeId": "b0",
        "edges": (0..count).map(edge).collect::<Vec<_>>(),
        "ends": (0..count).map(end).collect::<Vec<_>>(),
    });
    assert_eq!(problems(document.to_string(), Format::Json).len(), 1);
}

/// It was taken, and ended the process when it ran.
#[test]
fn a_fork_or_a_race_directly_inside_another_one_is_refused() {
    let fork = |branches: Value| json!({ "type": "flow.fork", "params": { "branches": branches } });
    let race =
        |branches: Value| json!({ "type": "flow.first", "params": { "branches": branches } });
    for (inner, outer) in [
        (fork(json!([["a"], ["b"]])), fork(json!([["inner"]]))),
        (
            race(json!([{ "steps": ["a"] }, { "steps": ["b"] }])),
            fork(json!([["inner"]])),
        ),
        (
            fork(json!([["a"], ["b"]])),
            race(json!([{ "steps": ["inner"] }])),
        ),
    ] {
        let (mut inner, mut outer) = (inner, outer);
        (inner["id"], outer["id"]) = (json!("inner"), json!("outer"));
        let keep = |id: &str| json!({ "type": "keep", "id": id, "mappings": { "outputs": { "keep": id } } });
        let document = json!({
            "version": "2.0.0",
            "name": "Nested",
            "namespace": "nested",
            "inputs": { "type": "object", "properties": { "number": {} }, "required": ["number"] },
            "nodes": [keep("a"), keep("b"), inner, outer],
            "entryNodeId": "outer",
            "edges": [],
            "ends": [{ "from": "outer", "condition": "default", "label": "default" }],
        });
        let problems = problems(document.to_string(), Format::Json);
        let nested = |(_, message): &(String, String)| message.contains("directly inside");
        assert!(problems.iter().any(nested), "{problems:?}");
    }
}
