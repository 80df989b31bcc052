//! The flow as a graph in the DOT language of Graphviz.
//!
//! An arrow of DOT cannot touch a box around nodes. In its place, an arrow leads to a node inside
//! and is cut off at the box (`ltail`).

use flow_spec::document::{FlowDocument, types};
use flow_spec::{DEFAULT_ACTION, ERROR_ACTION, visible};

use super::direction::Direction;
use super::legend;
use super::ports::Port;
use super::scene::{Inside, Member, Scene};
use super::words::{self, ArrowLabel, Caption};

const STYLES: &str = r##"  graph [compound=true newrank=true fontname="Helvetica" fontsize=12 labeljust=l style=rounded color="#6b7280"]
  node [shape=box style="rounded,filled" fillcolor="#f9fafb" color="#4b5563" fontname="Helvetica" fontsize=12]
  edge [color="#4b5563" fontname="Helvetica" fontsize=11]
"##;
const START: &str = r##"shape=circle width=0.2 fixedsize=true fillcolor="#1f2937""##;
const END: &str = r##"peripheries=2 fillcolor="#ffffff""##;
/// The width and the height of a bar.
const BAR: (&str, &str) = ("1.5", "0.08");
const HEAD: &str = r##"shape=hexagon style=filled fillcolor="#e5e7eb""##;
const DECISION: &str = r##"shape=diamond style=filled fillcolor="#fef3c7" color="#d97706""##;
const PAUSE: &str = r##"shape=ellipse style=filled fillcolor="#e0f2fe" color="#0284c7""##;
const HUMAN: &str = r##"fillcolor="#fce7f3" color="#db2777""##;
const SIGNAL: &str = r##"shape=cds style=filled fillcolor="#f3e8ff" color="#9333ea""##;
const UNDO: &str = r##"shape=larrow style=filled fillcolor="#ffedd5" color="#c2410c""##;
const COMMIT: &str = r##"shape=octagon style=filled fillcolor="#d1fae5" color="#059669""##;
const LEGEND: &str = r##"shape=note style=filled fillcolor="#ffffff" fontsize=10"##;

/// Returns a graph for Graphviz. Inner flows, forks, races and loops over items are clusters;
/// arrows for `error` are dashed, and so are those to undo nodes, which have the text `undo`.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// let picture = flow_render::dot(&flow);
/// assert!(picture.starts_with("digraph \"Qa\" {\n"));
/// assert!(picture.contains("  \"/start\" -> \"answer\"\n"));
/// ```
pub fn dot(flow: &FlowDocument) -> String {
    dot_in(flow, Direction::TopToBottom)
}

/// Returns a graph for Graphviz in this direction: see [`dot()`].
pub fn dot_in(flow: &FlowDocument, direction: Direction) -> String {
    let scene = Scene::new(flow);
    let title = quoted(&words::name(flow.title()));
    let mut picture = Picture {
        text: String::new(),
        direction,
    };
    picture.line(0, &format!("digraph {title} {{"));
    picture.text += STYLES;
    if direction != Direction::TopToBottom {
        picture.line(1, &format!("rankdir={}", direction.name()));
    }
    picture.scene(&scene, 1);
    picture.links(&scene);
    let legend = legend::of_arrows(&scene, "dashed");
    if !legend.is_empty() {
        picture.node(1, "/legend", &legend, LEGEND);
    }
    picture.line(0, "}");
    picture.text
}

struct Picture {
    text: String,
    direction: Direction,
}

impl Picture {
    fn line(&mut self, depth: usize, line: &str) {
        self.text += &"  ".repeat(depth);
        self.text += line;
        self.text.push('\n');
    }

    fn node(&mut self, depth: usize, key: &str, label: &[String], style: &str) {
        let label = label_of(label);
        let style = match style {
            "" => String::new(),
            style => format!(" {style}"),
        };
        self.line(depth, &format!("{} [label={label}{style}]", quoted(key)));
    }

    /// The place where branches split, or where branches or items join.
    fn bar(&mut self, depth: usize, key: &str) {
        let (width, height) = self.direction.turned(BAR);
        let style = format!(
            "style=filled height={height} width={width} fixedsize=true fillcolor=\"#6b7280\""
        );
        self.node(depth, key, &[], &style);
    }

    fn arrow(&mut self, from: &str, to: &str, attributes: &[String]) {
        let attributes = match attributes {
            [] => String::new(),
            some => format!(" [{}]", some.join(" ")),
        };
        self.line(
            1,
            &format!("{} -> {}{attributes}", quoted(from), quoted(to)),
        );
    }

    fn scene(&mut self, scene: &Scene<'_>, depth: usize) {
        self.node(depth, &scene.start_key(), &[], START);
        for member in &scene.members {
            self.member(member, depth);
        }
        for (index, label) in scene.ends.iter().enumerate() {
            self.node(depth, &scene.end_key(index), &[words::end(label)], END);
        }
    }

    fn member(&mut self, member: &Member<'_>, depth: usize) {
        let caption: Vec<String> = Caption::of(member.node)
            .lines()
            .map(str::to_owned)
            .collect();
        if let Inside::Nothing = member.inside {
            let style = match member.node.r#type.as_str() {
                types::BRANCH => DECISION,
                types::WAIT => PAUSE,
                types::HUMAN => HUMAN,
                types::SIGNAL => SIGNAL,
                types::UNDO => UNDO,
                types::COMMIT => COMMIT,
                _ if member.node.is_flow() => "peripheries=2",
                _ => "",
            };
            self.node(depth, &member.path, &caption, style);
            self.undo_node(member, depth);
            return;
        }
        let cluster = quoted(&cluster(&member.path));
        self.line(depth, &format!("subgraph {cluster} {{"));
        self.line(depth + 1, &format!("label={}", label_of(&caption)));
        match &member.inside {
            Inside::Nothing => {}
            Inside::Flow(scene) => self.scene(scene, depth + 1),
            Inside::Fork(branches) => {
                self.bar(depth + 1, &member.fork_key());
                for part in branches.iter().flat_map(|branch| &branch.steps) {
                    self.member(part, depth + 1);
                }
                self.bar(depth + 1, &member.join_key());
            }
            Inside::Each(body) => {
                let item = member
                    .node
                    .params
                    .get("item")
                    .and_then(|item| item.as_str());
                let head = format!("each {}", item.unwrap_or("item"));
                self.node(depth + 1, &member.fork_key(), &[words::name(&head)], HEAD);
                self.member(body, depth + 1);
                self.bar(depth + 1, &member.join_key());
            }
        }
        self.line(depth, "}");
        self.undo_node(member, depth);
    }

    /// The undo node that hangs at a node.
    fn undo_node(&mut self, member: &Member<'_>, depth: usize) {
        if let Some(undo) = &member.undo {
            self.member(undo, depth);
        }
    }

    fn links(&mut self, scene: &Scene<'_>) {
        for link in scene.links() {
            let mut attributes = Vec::new();
            attributes.extend(label_attribute(&link.arrow.label));
            if link.arrow.action == Some(ERROR_ACTION) {
                attributes.push("style=dashed".to_owned());
            }
            let from = match &link.from {
                Port::Node(key) => key,
                Port::Whole { flow, start } => {
                    attributes.push(format!("ltail={}", quoted(&cluster(flow))));
                    start
                }
            };
            self.arrow(from, &link.to, &attributes);
        }
        for member in &scene.members {
            self.links_inside(member);
        }
    }

    fn links_inside(&mut self, member: &Member<'_>) {
        if let Some(undo) = &member.undone_by {
            let mut attributes = Vec::from_iter(label_attribute(&ArrowLabel::of_undo()));
            attributes.push("style=dashed".to_owned());
            self.arrow(&out(member), undo, &attributes);
        }
        match &member.inside {
            Inside::Nothing => {}
            Inside::Flow(scene) => self.links(scene),
            Inside::Fork(branches) => {
                for branch in branches {
                    let mut from = member.fork_key();
                    let mut before: Option<&Member<'_>> = None;
                    for part in &branch.steps {
                        let label = before.map(|before| before.label_to(part));
                        let label = label.and_then(|label| label_attribute(&label));
                        self.arrow(&from, &part.entry(), label.as_slice());
                        from = out(part);
                        before = Some(part);
                        self.links_inside(part);
                    }
                    let label = label_attribute(&branch.label_to_join());
                    self.arrow(&from, &member.join_key(), label.as_slice());
                }
            }
            Inside::Each(body) => {
                let (head, last) = (member.fork_key(), out(body));
                let back = ["label=\"next\"", "constraint=false"].map(str::to_owned);
                self.arrow(&head, &body.entry(), &[]);
                self.arrow(&last, &head, &back);
                self.arrow(&last, &member.join_key(), &[]);
                self.links_inside(body);
            }
        }
    }
}

/// The text at an arrow, if it has one.
fn label_attribute(label: &ArrowLabel) -> Option<String> {
    let lines: Vec<String> = label.lines().map(str::to_owned).collect();
    (!lines.is_empty()).then(|| format!("label={}", label_of(&lines)))
}

/// The place from which an arrow leaves a node in a fork, a race or a loop.
fn out(member: &Member<'_>) -> String {
    match member.exit(Some(DEFAULT_ACTION)) {
        Port::Node(key) | Port::Whole { start: key, .. } => key,
    }
}

/// The name that turns a subgraph into a box.
fn cluster(path: &str) -> String {
    format!("cluster/{path}")
}

/// A string of DOT. Its only escape is that of the quotation mark.
fn quoted(text: &str) -> String {
    let text = visible(text);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text of a label, in which DOT also interprets escapes with a backslash and entities of HTML.
fn label_of(lines: &[String]) -> String {
    let safe = |line: &String| {
        line.replace('&', "&amp;")
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
    };
    let lines: Vec<String> = lines.iter().map(safe).collect();
    format!("\"{}\"", lines.join("\\n"))
}
