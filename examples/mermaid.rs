//! A diagram that corrects itself: a model draws a flowchart in Mermaid, a checker finds the
//! mistakes, and the model corrects them. After three refused diagrams, the run gives up.
//!
//! ```text
//! cargo run -p flow-examples --example mermaid
//! cargo run -p flow-examples --features genai --example mermaid -- --model ollama:qwen3:4b
//! ```
//!
//! The checker is not a compiler of Mermaid: it accepts a `SUBSET` of the flowcharts, and refuses
//! everything else. For all of Mermaid, let `check` run a compiler such as `mmdc`.

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use typed_flows::agents::{AskError, Message, Messages, Model, ScriptedModel, ask};
use typed_flows::prelude::*;

const MOST_ATTEMPTS: usize = 3;

/// The accepted syntax, as the model is told.
const SUBSET: &str = r#"
- The first line is `flowchart TD`, `flowchart BT`, `flowchart LR` or `flowchart RL`.
- Each further line has nodes with links between them, as in `a --> b -->|yes| c & d`.
- A link is `-->`, `---`, `-.->` or `==>`, with one space on each side. A text may follow it: `-->|yes|`.
- A node is an id, which a text may follow: `a["text"]`, `a("text")`, `a(["text"])`, `a(("text"))` or `a{"text"}`.
- An id begins with a letter, and has letters, digits and `_`.
- A text without quotes has only letters, digits, spaces and `.,:!?'`. No text has a backtick or `%%`.
There are no subgraphs, styles, comments or semicolons."#;

const DIRECTIONS: [&str; 4] = ["TD", "BT", "LR", "RL"];
const LINKS: [&str; 4] = ["-->", "---", "-.->", "==>"];

/// The brackets around the text of a node. Of two that begin alike, the longer ones are first.
const SHAPES: [(&str, &str); 5] = [
    ("([", "])"),
    ("((", "))"),
    ("[", "]"),
    ("(", ")"),
    ("{", "}"),
];

/// The words that cannot be the id of a node: those of Mermaid, and of the objects of JavaScript.
const RESERVED: &str = "accDescr call class classDef click end flowchart graph href interpolate \
    linkStyle style subgraph \
    constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf";

/// Finds the first mistake of each line.
fn mistakes(diagram: &str) -> Vec<String> {
    let lines = (1..).zip(diagram.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (first, line) = lines.next().unwrap_or((1, ""));
    let header = [(first, header(line))].into_iter();
    let read = header.chain(lines.map(|(number, line)| (number, chain(line))));
    read.filter_map(|(number, read)| Some(format!("line {number}: {}", read.err()?)))
        .collect()
}

fn header(line: &str) -> Result<(), String> {
    let direction = line.strip_prefix("flowchart ");
    if direction.is_some_and(|it| DIRECTIONS.contains(&it)) {
        return Ok(());
    }
    Err(format!("expected `flowchart TD`, found `{line}`"))
}

/// Reads nodes with links between them.
fn chain(line: &str) -> Result<(), String> {
    let mut rest = node(line)?;
    while !rest.is_empty() {
        rest = node(link(rest)?)?;
    }
    Ok(())
}

/// Reads a node. Returns the rest of the line, as do the functions below.
fn node(line: &str) -> Result<&str, String> {
    let (id, rest) = split(line, |it| it.is_ascii_alphanumeric() || it == '_');
    if !id.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return Err(format!("expected the id of a node, found `{line}`"));
    }
    if RESERVED.split(' ').any(|word| word == id) {
        return Err(format!("`{id}` is reserved: give the node another id"));
    }
    let mut shapes = SHAPES.iter();
    match shapes.find_map(|(open, close)| Some((rest.strip_prefix(open)?, close))) {
        Some((rest, close)) => text(rest, close),
        None => Ok(rest),
    }
}

/// Reads what is between two nodes: `&`, or a link that may have a text.
fn link(rest: &str) -> Result<&str, String> {
    let expected = || format!("expected a link such as ` --> `, found `{rest}`");
    let sign = rest.strip_prefix(' ').ok_or_else(expected)?;
    let mut signs = ["&"].iter().chain(&LINKS);
    let behind = signs.find_map(|it| sign.strip_prefix(it));
    let behind = behind.ok_or_else(expected)?;
    let behind = match behind.strip_prefix('|') {
        Some(label) if !sign.starts_with('&') => text(label, "|")?,
        _ => behind,
    };
    behind.strip_prefix(' ').ok_or_else(expected)
}

/// Reads a text and what closes it.
fn text<'a>(rest: &'a str, close: &str) -> Result<&'a str, String> {
    let (text, behind) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or("expected a second `\"`")?,
        None => split(rest, |it| it.is_alphanumeric() || " .,:!?'".contains(it)),
    };
    if text.trim().is_empty() || text.contains('`') || text.contains("%%") {
        return Err(format!(
            "expected a text without backticks and `%%`, found `{rest}`"
        ));
    }
    let closed = behind.strip_prefix(close);
    closed.ok_or_else(|| format!("expected `{close}` or quotes around the text, found `{behind}`"))
}

/// Splits a line where the first letters of a kind end.
fn split(line: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    line.split_at(line.find(|it| !is_part(it)).unwrap_or(line.len()))
}

/// A flowchart in Mermaid.
#[derive(Deserialize, JsonSchema)]
struct Drawn {
    /// Its lines, without a fence around them.
    diagram: String,
}

/// A diagram with mistakes.
#[derive(Clone)]
struct Refused {
    diagram: String,
    mistakes: Vec<String>,
}

struct Draw {
    model: Arc<dyn Model>,
}

/// Asks the model for a diagram, given those that were refused.
#[node(writes = diagram)]
impl Draw {
    async fn exec(&self, task: &str, refused: Option<&[Refused]>) -> Result<String, AskError> {
        let system = format!("Draw a flowchart in this part of Mermaid:{SUBSET}");
        let mut messages = Messages::from_iter([Message::system(system), Message::user(task)]);
        for Refused { diagram, mistakes } in refused.unwrap_or_default() {
            messages.push(Message::assistant(diagram));
            messages.add_user(format!("Correct these mistakes:\n{}", mistakes.join("\n")));
        }
        let drawn: Drawn = ask(&self.model, &messages).await?;
        Ok(drawn.diagram)
    }
}

#[derive(Action)]
enum Checked {
    Correct,
    Refused {
        #[action(add)]
        refused: Refused,
    },
    GaveUp {
        #[action(add)]
        refused: Refused,
    },
}

/// Checks the diagram, and counts those that were refused.
#[node(actions = Checked)]
fn check(diagram: &str, refused: Option<&[Refused]>) -> Checked {
    let mistakes = mistakes(diagram);
    if mistakes.is_empty() {
        return Checked::Correct;
    }
    let diagram = diagram.to_owned();
    let attempts = refused.unwrap_or_default().len() + 1;
    let refused = Refused { diagram, mistakes };
    if attempts < MOST_ATTEMPTS {
        Checked::Refused { refused }
    } else {
        Checked::GaveUp { refused }
    }
}

flow! {
    /// Draws a flowchart without mistakes.
    Diagram(task: String) -> (diagram: String, refused: Option<Vec<Refused>>) {
        node draw: Draw;

        start >> draw >> check;
        check - "correct" >> end;
        check - "refused" >> draw;
        check - "gave_up" >> end("gave_up");
    }
}

/// Sample replies of a model: an arrow of another language and a reserved word, then a text that
/// needs quotes, and then a correct diagram.
fn script() -> ScriptedModel {
    let rest = "weigh -->|yes| pack\nweigh -->|no|";
    let answers = [
        format!("flowchart TD\npack[Pack] -> weigh{{Too heavy?}}\n{rest} end"),
        format!("flowchart TD\npack[Pack (paper)] --> weigh{{Too heavy?}}\n{rest} sent"),
        format!("flowchart TD\npack[\"Pack (paper)\"] --> weigh{{Too heavy?}}\n{rest} sent"),
    ];
    let answers = answers.map(|diagram| serde_json::json!({ "diagram": diagram }));
    let script = answers.iter().map(ToString::to_string);
    script.fold(ScriptedModel::new(), ScriptedModel::text)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let draw = Draw {
        model: chosen.model,
    };
    let task = "A parcel is packed in paper and weighed. If it is too heavy, it is packed again.";
    let task = task.to_owned();
    let flow = Diagram::builder().draw(draw).build();
    let output = flow.run(DiagramInput { task }).await?;
    for Refused { diagram, mistakes } in output.refused.iter().flatten() {
        println!("{diagram}\n  {}\n", mistakes.join("\n  "));
    }
    match output.end {
        DiagramEnd::Default => println!("{}", output.diagram),
        DiagramEnd::GaveUp => println!("No diagram is correct."),
    }

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(output.end, DiagramEnd::Default);
        let refused = output.refused.unwrap_or_default();
        let mistakes: Vec<&str> = refused
            .iter()
            .flat_map(|it| it.mistakes.iter().map(String::as_str))
            .collect();
        assert_eq!(
            mistakes,
            [
                "line 2: expected a link such as ` --> `, found ` -> weigh{Too heavy?}`",
                "line 4: `end` is reserved: give the node another id",
                "line 2: expected `]` or quotes around the text, found `(paper)] --> weigh{Too heavy?}`",
            ]
        );
        let told = script.requests()[2].messages.last().map(Message::text);
        assert!(told.is_some_and(|told| told.contains(mistakes[2])));
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn the_subset_is_accepted_and_nothing_else() {
    let diagram = r#"
        flowchart LR
        a --> b -->|yes| c & d
        a --- e -.->|"no: (never)"| f ==> g
        h["one [1]"] --> i("2") --> j(["3"]) --> k(("4")) --> l{5, or so!}
    "#;
    assert_eq!(mistakes(diagram), [""; 0]);

    let refused = r#"a -> b, a-->b, a -->b, a ---oops, a -->, a --> --> b, a &|x| b, a -->|x b, a --> b;, a b, 1a, _a,
        end, subgraph s, a[], a[""], a["b], a["b", a[b"c"], a[b (c)], a[/b/], a([b], a(b]), %% a, ```"#;
    for line in refused.split(',') {
        let diagram = format!("flowchart TD\n{}", line.trim());
        assert_eq!(mistakes(&diagram).len(), 1, "{line}");
    }
    for diagram in ["", "graph TD\na", "flowchart TDa\na", "a --> b\nc"] {
        assert_eq!(mistakes(diagram).len(), 1, "{diagram}");
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/mermaid.rs"]
mod law;
