//! The flow as a flowchart in Mermaid's notation.
//!
//! Mermaid interprets ids and texts: `end` closes a box, `%%` begins a comment, `<b>` is HTML, `1.`
//! a list. So every id is a new one, made from the path, and every character in a text that could
//! have a meaning is written as a number.

use std::collections::{HashMap, HashSet};

use flow_spec::ERROR_ACTION;
use flow_spec::document::{FlowDocument, types};

use super::direction::Direction;
use super::legend;
use super::ports::Port;
use super::scene::{Branch, Inside, Member, Scene};
use super::words::{self, ArrowLabel, Caption};

/// Words after which Mermaid removes the last `;` of a line if a number follows a `:`.
const WORDS: [&str; 2] = ["style", "classDef"];

const CLASSES: &str = r"  classDef start fill:#1f2937,stroke:#1f2937,color:#ffffff
  classDef ends fill:#ffffff,stroke:#1f2937,color:#1f2937,stroke-width:2px
  classDef bar fill:#6b7280,stroke:#6b7280,color:#ffffff
  classDef decision fill:#fef3c7,stroke:#d97706,color:#78350f
  classDef pause fill:#e0f2fe,stroke:#0284c7,color:#0c4a6e
  classDef human fill:#fce7f3,stroke:#db2777,color:#831843
  classDef signal fill:#f3e8ff,stroke:#9333ea,color:#581c87
  classDef undo fill:#ffedd5,stroke:#c2410c,color:#7c2d12
  classDef commit fill:#d1fae5,stroke:#059669,color:#064e3b
  classDef legend fill:#ffffff,stroke:#d1d5db,color:#4b5563,text-align:left
";

/// Returns a Mermaid flowchart. Inner flows are boxes with their own start and ends, to which
/// arrows lead. Forks and races are boxes with their branches, loops over items boxes with their
/// body. Arrows for `error` are dotted, and so are those to undo nodes, which have the text `undo`.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// let picture = flow_render::mermaid(&flow);
/// assert!(picture.starts_with("---\ntitle: \"Qa\"\n---\nflowchart TB\n"));
/// assert!(picture.contains("  n_start --> n_answer\n"));
/// ```
pub fn mermaid(flow: &FlowDocument) -> String {
    mermaid_in(flow, Direction::TopToBottom)
}

/// Returns a Mermaid flowchart in this direction: see [`mermaid()`].
pub fn mermaid_in(flow: &FlowDocument, direction: Direction) -> String {
    let mut picture = Picture::default();
    let title = words::name(flow.title());
    if !title.is_empty() {
        let title = serde_json::Value::from(title);
        picture.text += &format!("---\ntitle: {title}\n---\n");
    }
    picture.text += &format!("flowchart {}\n", direction.name());
    let scene = Scene::new(flow);
    picture.scene(&scene, 1);
    picture.links(&scene);
    let legend = legend::of_arrows(&scene, "dotted");
    if !legend.is_empty() {
        let id = picture.id("/legend");
        let lines: Vec<String> = legend.iter().map(|line| escaped(line)).collect();
        picture.line(1, &format!("{id}[\"{}\"]:::legend", lines.join("<br/>")));
    }
    picture.text += CLASSES;
    picture.text
}

#[derive(Default)]
struct Picture {
    text: String,
    ids: HashMap<String, String>,
    taken: HashSet<String>,
    /// The last number at the end of an id, by the id without the number.
    counts: HashMap<String, usize>,
}

impl Picture {
    fn line(&mut self, depth: usize, line: &str) {
        self.text += &"  ".repeat(depth);
        self.text += line;
        self.text.push('\n');
    }

    /// The id for a key, which Mermaid cannot mistake for anything else.
    fn id(&mut self, key: &str) -> String {
        if let Some(id) = self.ids.get(key) {
            return id.clone();
        }
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        };
        let mut base: String = key.trim_start_matches('/').chars().map(plain).collect();
        for word in WORDS {
            base = base.replace(word, &word.to_uppercase());
        }
        let mut id = format!("n_{base}");
        let count = self.counts.entry(id.clone()).or_insert(1);
        while !self.taken.insert(id.clone()) {
            *count += 1;
            id = format!("n_{base}_{count}");
        }
        self.ids.insert(key.to_owned(), id.clone());
        id
    }

    fn scene(&mut self, scene: &Scene<'_>, depth: usize) {
        let start = self.id(&scene.start_key());
        self.line(depth, &format!("{start}([\"start\"]):::start"));
        for member in &scene.members {
            self.member(member, depth);
        }
        for (index, label) in scene.ends.iter().enumerate() {
            let end = self.id(&scene.end_key(index));
            let label = escaped(&words::end(label));
            self.line(depth, &format!("{end}([\"{label}\"]):::ends"));
        }
    }

    fn member(&mut self, member: &Member<'_>, depth: usize) {
        let id = self.id(&member.path);
        let lines: Vec<String> = Caption::of(member.node).lines().map(escaped).collect();
        let caption = lines.join("<br/>");
        if let Inside::Nothing = member.inside {
            let shape = match member.node.r#type.as_str() {
                types::BRANCH => format!("{id}{{\"{caption}\"}}:::decision"),
                types::WAIT => format!("{id}(\"{caption}\"):::pause"),
                types::HUMAN => format!("{id}[/\"{caption}\"/]:::human"),
                types::SIGNAL => format!("{id}>\"{caption}\"]:::signal"),
                types::UNDO => format!("{id}[\\\"{caption}\"\\]:::undo"),
                types::COMMIT => format!("{id}{{{{\"{caption}\"}}}}:::commit"),
                _ if member.node.is_flow() => format!("{id}[[\"{caption}\"]]"),
                _ => format!("{id}[\"{caption}\"]"),
            };
            self.line(depth, &shape);
            self.undo_node(member, depth);
            return;
        }
        // The title of a box gets no extra room for more lines.
        self.line(depth, &format!("subgraph {id}[\"{}\"]", lines.join(" · ")));
        match &member.inside {
            Inside::Nothing => {}
            Inside::Flow(scene) => self.scene(scene, depth + 1),
            Inside::Fork(branches) => self.fork(member, branches, depth + 1),
            Inside::Each(body) => self.each(member, body, depth + 1),
        }
        self.line(depth, "end");
        self.undo_node(member, depth);
    }

    /// The undo node that hangs at a node.
    fn undo_node(&mut self, member: &Member<'_>, depth: usize) {
        if let Some(undo) = &member.undo {
            self.member(undo, depth);
        }
    }

    fn fork(&mut self, member: &Member<'_>, branches: &[Branch<'_>], depth: usize) {
        let which = if member.is_race() { "first" } else { "all" };
        let fork = self.id(&member.fork_key());
        let join = self.id(&member.join_key());
        self.line(depth, &format!("{fork}[\"{which} of\"]:::bar"));
        for part in branches.iter().flat_map(|branch| &branch.steps) {
            self.member(part, depth);
        }
        self.line(depth, &format!("{join}[\"{which} done\"]:::bar"));
    }

    fn each(&mut self, member: &Member<'_>, body: &Member<'_>, depth: usize) {
        let head = self.id(&member.fork_key());
        let item = member
            .node
            .params
            .get("item")
            .and_then(|item| item.as_str());
        let caption = format!("each {}", item.unwrap_or("item"));
        let caption = escaped(&words::name(&caption));
        self.line(depth, &format!("{head}{{{{\"{caption}\"}}}}:::bar"));
        self.member(body, depth);
        let join = self.id(&member.join_key());
        self.line(depth, &format!("{join}[\"all done\"]:::bar"));
    }

    /// The arrows of all levels. They come after everything to which they lead, because Mermaid
    /// puts a node where it is first named.
    fn links(&mut self, scene: &Scene<'_>) {
        for link in scene.links() {
            let from = match &link.from {
                Port::Node(key) | Port::Whole { flow: key, .. } => self.id(key),
            };
            let to = self.id(&link.to);
            let arrow = if link.arrow.action == Some(ERROR_ACTION) {
                "-.->"
            } else {
                "-->"
            };
            let label = at_arrow(&link.arrow.label);
            self.line(1, &format!("{from} {arrow}{label} {to}"));
        }
        for member in &scene.members {
            self.links_inside(member);
        }
    }

    fn links_inside(&mut self, member: &Member<'_>) {
        if let Some(undo) = &member.undone_by {
            let (from, to) = (self.out(member), self.id(undo));
            let label = at_arrow(&ArrowLabel::of_undo());
            self.line(1, &format!("{from} -.->{label} {to}"));
        }
        match &member.inside {
            Inside::Nothing => {}
            Inside::Flow(scene) => self.links(scene),
            Inside::Fork(branches) => {
                for branch in branches {
                    let mut from = self.id(&member.fork_key());
                    let mut before: Option<&Member<'_>> = None;
                    for part in &branch.steps {
                        let to = self.id(&part.entry());
                        let label = before.map(|before| at_arrow(&before.label_to(part)));
                        let label = label.unwrap_or_default();
                        self.line(1, &format!("{from} -->{label} {to}"));
                        from = self.out(part);
                        before = Some(part);
                        self.links_inside(part);
                    }
                    let to = self.id(&member.join_key());
                    let label = at_arrow(&branch.label_to_join());
                    self.line(1, &format!("{from} -->{label} {to}"));
                }
            }
            Inside::Each(body) => {
                let head = self.id(&member.fork_key());
                let into = self.id(&body.entry());
                let out = self.out(body);
                self.line(1, &format!("{head} --> {into}"));
                let join = self.id(&member.join_key());
                self.line(1, &format!("{out} -->|\"next\"| {head}"));
                self.line(1, &format!("{out} --> {join}"));
                self.links_inside(body);
            }
        }
    }

    /// The place from which an arrow leaves a node in a fork, a race or a loop.
    fn out(&mut self, member: &Member<'_>) -> String {
        match member.exit(Some(flow_spec::DEFAULT_ACTION)) {
            Port::Node(key) | Port::Whole { flow: key, .. } => self.id(&key),
        }
    }
}

/// The text at an arrow, directly after it. Empty if it has none.
fn at_arrow(label: &ArrowLabel) -> String {
    let lines: Vec<String> = label.lines().map(escaped).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("|\"{}\"|", lines.join("<br/>"))
    }
}

/// Text between quotation marks. Every character except letters, digits and harmless signs is
/// written as its number, which Mermaid reads after everything else.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for (at, letter) in text.char_indices() {
        let is_harmless = match letter {
            // Mermaid marks numbers with these internally.
            'ﬂ' | '¶' => false,
            _ if WORDS.iter().any(|word| text[at..].starts_with(word)) => false,
            letter => {
                letter.is_alphanumeric() || " _,:?!=/()".contains(letter) || !letter.is_ascii()
            }
        };
        if is_harmless {
            safe.push(letter);
        } else {
            safe += &format!("#{};", u32::from(letter));
        }
        // These begin a line break and a formula once the numbers have been read, so nothing may
        // follow them directly.
        if letter == '\\' || letter == '$' {
            safe += "#8203;";
        }
    }
    safe
}
