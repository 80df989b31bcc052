//! The flow as text for a terminal: the way through it, from the start to the ends.

use std::collections::{BTreeMap, HashMap, VecDeque};

use flow_spec::document::{FlowDocument, NodeDocument};
use flow_spec::{DEFAULT_ACTION, ERROR_ACTION};
use unicode_width::UnicodeWidthStr as _;

use super::scene::{Arrow, Branch, Inside, Member, Place, Scene};
use super::words::{self, Caption};

/// The maximum depth of indented arrows. Deeper ones restart at the left.
const DEEPEST: usize = 12;
/// The column of the keys at arrows, unless a line is wider.
const COLUMN: usize = 56;

/// Returns a line for each arrow, in the order in which a run can take them, with the keys that
/// travel along it in braces. Inner flows follow, each with its path as its title.
///
/// The arrow for `default`, or else the last one that leads to a new node, continues with `↓`, and
/// the others branch off. A `↑` after the name of a node means that it is shown above, and a `┆`
/// before it that it takes back what the node above it did.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Expense", "namespace": "expense", "nodes": [
/// #   { "type": "review", "id": "review" }, { "type": "pay", "id": "pay" } ], "entryNodeId": "review",
/// #   "edges": [{ "from": "review", "to": "pay", "condition": "approved" }],
/// #   "ends": [{ "from": "pay", "condition": "default", "label": "default" },
/// #     { "from": "review", "condition": "rejected", "label": "rejected" }] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// assert_eq!(flow_render::text(&flow), "\
/// Expense (expense)
/// start
/// ↓ review
/// ├ rejected → end \"rejected\"
/// ↓ approved → pay
/// ↓ end
/// ");
/// ```
pub fn text(flow: &FlowDocument) -> String {
    let scene = Scene::new(flow);
    let namespace = words::one_line(&flow.namespace);
    let title = if namespace.is_empty() {
        words::name(flow.title())
    } else {
        format!("{} ({namespace})", words::name(flow.title()))
    };
    let mut text = String::new();
    push_scene(&scene, &title, &mut text);
    text
}

fn push_scene(scene: &Scene<'_>, title: &str, text: &mut String) {
    *text += title;
    text.push('\n');
    *text += &Walk::through(scene);
    for member in &scene.members {
        push_inside(member, text);
    }
}

/// The flows in a node, each with a title.
fn push_inside(member: &Member<'_>, text: &mut String) {
    match &member.inside {
        Inside::Nothing => {}
        Inside::Flow(scene) => {
            let title = words::name(scene.flow.title());
            text.push('\n');
            push_scene(
                scene,
                &format!("{}: {title}", words::one_line(&member.path)),
                text,
            );
        }
        Inside::Fork(branches) => branches
            .iter()
            .flat_map(|branch| &branch.steps)
            .for_each(|part| push_inside(part, text)),
        Inside::Each(body) => push_inside(body, text),
    }
}

/// The lines of a flow.
struct Walk<'s, 'a> {
    scene: &'s Scene<'a>,
    arrows: BTreeMap<Place, Vec<&'s Arrow<'a>>>,
    /// The undo nodes, each with the nodes that it takes back.
    taken_back: HashMap<&'a str, Vec<&'a NodeDocument>>,
    shown: Vec<bool>,
    /// The number of leading nodes that are known to be shown.
    passed: usize,
    /// Nodes from which the walk restarts.
    later: VecDeque<usize>,
    /// Texts, each with the keys to its right.
    lines: Vec<(String, String)>,
}

impl<'s, 'a> Walk<'s, 'a> {
    fn through(scene: &'s Scene<'a>) -> String {
        let mut arrows: BTreeMap<Place, Vec<&Arrow<'_>>> = BTreeMap::new();
        for arrow in &scene.arrows {
            arrows.entry(arrow.from).or_default().push(arrow);
        }
        let mut walk = Walk {
            scene,
            arrows,
            taken_back: scene.flow.undo_nodes(),
            shown: vec![false; scene.members.len()],
            passed: 0,
            later: VecDeque::new(),
            lines: vec![("start".to_owned(), String::new())],
        };
        walk.from(Place::Start, "", 0);
        while let Some(index) = walk.next() {
            walk.shown[index] = true;
            let name = walk.name(Place::Member(index));
            walk.lines.push((name, String::new()));
            walk.show_undo_nodes(&scene.members[index], "");
            walk.from(Place::Member(index), "", 0);
        }
        walk.finish()
    }

    /// A node from which the walk restarts: one left for later, or one without incoming arrows.
    fn next(&mut self) -> Option<usize> {
        if let Some(later) = self.later.pop_front() {
            return Some(later);
        }
        let rest = self.shown[self.passed..].iter();
        self.passed += rest.take_while(|shown| **shown).count();
        Some(self.passed).filter(|next| *next < self.shown.len())
    }

    fn from(&mut self, mut place: Place, indent: &str, depth: usize) {
        while let Some(mut arrows) = self.arrows.remove(&place) {
            let main = arrows.remove(self.main(&arrows));
            for arrow in arrows {
                if let Some(index) = self.show(arrow, &format!("{indent}├ ")) {
                    self.show_undo_nodes(&self.scene.members[index], &format!("{indent}│ "));
                    if depth < DEEPEST {
                        self.from(Place::Member(index), &format!("{indent}│ "), depth + 1)
                    } else {
                        self.later.push_back(index)
                    }
                }
            }
            match self.show(main, &format!("{indent}↓ ")) {
                Some(index) => {
                    self.show_undo_nodes(&self.scene.members[index], indent);
                    place = Place::Member(index);
                }
                None => return,
            }
        }
    }

    /// The arrow that continues: that for `default`, or else the last one that leads to a new node.
    fn main(&self, arrows: &[&Arrow<'_>]) -> usize {
        let is_default =
            |arrow: &&Arrow<'_>| arrow.action.is_none_or(|action| action == DEFAULT_ACTION);
        let is_new = |arrow: &&Arrow<'_>| {
            let is_new = matches!(arrow.to, Place::Member(index) if !self.shown[index]);
            is_new && arrow.action != Some(ERROR_ACTION)
        };
        let default = arrows.iter().position(is_default);
        let main = default.or_else(|| arrows.iter().rposition(is_new));
        main.unwrap_or(arrows.len() - 1)
    }

    /// Adds the line of an arrow. Returns the node that it leads to, if it was not shown before.
    fn show(&mut self, arrow: &Arrow<'_>, indent: &str) -> Option<usize> {
        let label: Vec<&str> = arrow.label.about_action().collect();
        let label = if label.is_empty() {
            String::new()
        } else {
            format!("{} → ", label.join(": "))
        };
        let name = match arrow.to {
            Place::Member(index) if self.shown[index] => {
                format!("{} ↑", words::name(&self.scene.members[index].node.id))
            }
            place => self.name(place),
        };
        let keys = arrow.label.keys.clone().unwrap_or_default();
        self.lines.push((format!("{indent}{label}{name}"), keys));
        match arrow.to {
            Place::Member(index) if !self.shown[index] => {
                self.shown[index] = true;
                Some(index)
            }
            _ => None,
        }
    }

    /// Adds the lines of the undo nodes that hang at a node or inside it.
    fn show_undo_nodes(&mut self, member: &Member<'_>, indent: &str) {
        if let Some(undo) = &member.undo {
            let taken_back = self.taken_back.get(&*undo.node.id).into_iter().flatten();
            let taken_back: Vec<String> = taken_back.map(|node| words::name(&node.id)).collect();
            let taken_back = format!("takes back {}", taken_back.join(", "));
            let caption = Caption::of(undo.node);
            let mut lines: Vec<&str> = caption.lines().collect();
            lines.insert(1, &taken_back);
            self.lines
                .push((format!("{indent}┆ {}", lines.join(" · ")), String::new()));
        }
        match &member.inside {
            Inside::Nothing | Inside::Flow(_) => {}
            Inside::Fork(branches) => branches
                .iter()
                .flat_map(|branch| &branch.steps)
                .for_each(|part| self.show_undo_nodes(part, indent)),
            Inside::Each(body) => self.show_undo_nodes(body, indent),
        }
    }

    /// The name of a node with its kind, or an end.
    fn name(&self, place: Place) -> String {
        match place {
            Place::Start => "start".to_owned(),
            Place::End(index) => match self.scene.ends[index] {
                DEFAULT_ACTION => "end".to_owned(),
                label => format!("end \"{}\"", words::name(label)),
            },
            Place::Member(index) => {
                let member = &self.scene.members[index];
                let caption = Caption::of(member.node);
                let mut text: String = caption.lines().collect::<Vec<_>>().join(" · ");
                match &member.inside {
                    Inside::Fork(branches) => text += &format!(" · [{}]", chains(branches)),
                    Inside::Each(body) => text += &format!(" · {}", words::name(&body.node.id)),
                    Inside::Nothing | Inside::Flow(_) => {}
                }
                text
            }
        }
    }

    fn finish(self) -> String {
        let widths = self.lines.iter().map(|(text, _)| text.width());
        let column = widths
            .filter(|width| *width <= COLUMN)
            .max()
            .unwrap_or_default();
        let mut text = String::new();
        for (line, keys) in &self.lines {
            text += line;
            if !keys.is_empty() {
                text += &" ".repeat(2 + column.saturating_sub(line.width()));
                text += keys;
            }
            text.push('\n');
        }
        text
    }
}

/// `a >> b => "action", c`
fn chains(branches: &[Branch<'_>]) -> String {
    let name = |part: &Member<'_>| words::name(&part.node.id);
    let chain = |branch: &Branch<'_>| {
        let steps: Vec<String> = branch.steps.iter().map(name).collect();
        let chain = steps.join(" >> ");
        match branch.label_to_join().action {
            Some(action) => format!("{chain} => \"{action}\""),
            None => chain,
        }
    };
    branches.iter().map(chain).collect::<Vec<_>>().join(", ")
}
