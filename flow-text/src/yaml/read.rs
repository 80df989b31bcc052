//! Assembles the events of a YAML parser into values and their places.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Value};

use crate::advice::quotes;
use crate::content::{Content, Lost, MOST_VALUES, too_many, twice};
use crate::problem::{Found, Place, Problem};
use crate::tree::{Field, Inside, Mark, Tree, inside};

use super::scalar;

/// The maximum depth of lists and objects, as in JSON.
const DEEPEST: usize = 127;

/// The maximum size in bytes of all values that anchors and aliases copy.
const MOST_COPIED: usize = 4 << 20;

/// Reads YAML.
///
/// # Errors
///
/// The text is not YAML, has more than one document, or nests too deep, or its anchors and aliases
/// copy too much.
pub(crate) fn read(text: &str) -> Result<Content, Problem> {
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: usize::MAX,
    };
    let mut reader = Reader::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| no_yaml(&error, text))?;
        reader.event(event, span)?;
    }
    let Some((value, tree)) = reader.root else {
        return Err(Problem::new(Place::START, "", "there is no flow in it"));
    };
    Ok(Content {
        value,
        tree,
        found: reader.found,
        lost: reader.lost,
    })
}

/// The values read so far.
#[derive(Default)]
struct Reader {
    /// The value of the document, once it is complete.
    root: Option<(Value, Tree)>,
    /// The lists and objects that are not complete, starting with the outermost one.
    open: Vec<Open>,
    anchors: HashMap<usize, (Value, Arc<Tree>)>,
    /// The number of values, names among them.
    values: usize,
    copied: usize,
    found: Found,
    lost: Option<(Place, Lost)>,
}

/// A list or an object that is not complete.
struct Open {
    mark: Mark,
    anchor: usize,
    content: Collection,
}

enum Collection {
    List(Vec<Value>, Vec<Tree>),
    Object(Object),
}

#[derive(Default)]
struct Object {
    map: Map<String, Value>,
    fields: Vec<Field>,
    /// The first place of each name.
    first: HashMap<String, Mark>,
    /// The name whose value comes next.
    next: Option<Name>,
}

/// A name, or `None` for one that is refused together with its value.
struct Name(Option<(String, Mark)>);

impl Reader {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        self.values += usize::from(event.is_node());
        if self.values > MOST_VALUES {
            return Err(too_many(place(span.start)));
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document begins here";
                let help = "write each flow into a file of its own, or write a list of flows";
                Err(Problem::new(place(span.start), "", message).help(help))
            }
            Event::Comment(..) => {
                self.loses(Lost::Comment, span);
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse(tag.as_deref(), span);
                let is_plain = style == ScalarStyle::Plain;
                let value = self.scalar(&text, is_plain, span);
                self.complete(value, Inside::Scalar, anchor, mark(span.start), is_plain)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse(tag.as_deref(), span);
                self.open(Collection::List(Vec::new(), Vec::new()), anchor, span)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse(tag.as_deref(), span);
                self.open(Collection::Object(Object::default()), anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(id) => self.alias(id, span),
            Event::UnresolvedAlias(name) => {
                let message = format!("no anchor `&{name}` stands before this alias");
                self.report(place(span.start), message, None);
                self.add(Value::Null, tree_of(span), true);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, content: Collection, anchor: usize, span: Span) -> Result<(), Problem> {
        if self.open.len() == DEEPEST {
            let message = "lists and objects stand too deep in one another";
            return Err(Problem::new(place(span.start), "", message));
        }
        self.open.push(Open {
            mark: mark(span.start),
            anchor,
            content,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else {
            unreachable!("the parser ends only what it began")
        };
        let (value, inside) = match open.content {
            Collection::List(items, trees) => (Value::Array(items), Inside::List(trees)),
            Collection::Object(object) => {
                (Value::Object(object.map), Inside::Object(object.fields))
            }
        };
        self.complete(value, inside, open.anchor, open.mark, false)
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Problem> {
        let Some((value, tree)) = self.anchors.get(&id) else {
            let message = "this alias stands for a value that contains it";
            return Err(Problem::new(place(span.start), self.pointer(), message));
        };
        let (value, inside) = (value.clone(), Inside::Shared(Arc::clone(tree)));
        let mark = mark(span.start);
        self.copy(&value, mark)?;
        self.add(value, Tree { mark, inside }, false);
        Ok(())
    }

    /// Adds a value that may have an anchor.
    fn complete(
        &mut self,
        value: Value,
        inside: Inside,
        anchor: usize,
        mark: Mark,
        is_plain: bool,
    ) -> Result<(), Problem> {
        let mut tree = Tree { mark, inside };
        if anchor != 0 {
            self.lost.get_or_insert((mark.place(), Lost::Anchor));
            self.copy(&value, mark)?;
            let shared = Arc::new(tree);
            self.anchors
                .insert(anchor, (value.clone(), Arc::clone(&shared)));
            let inside = Inside::Shared(shared);
            tree = Tree { mark, inside };
        }
        self.add(value, tree, is_plain);
        Ok(())
    }

    fn innermost(&mut self) -> Option<&mut Collection> {
        self.open.last_mut().map(|open| &mut open.content)
    }

    /// Adds a value to the innermost list or object.
    fn add(&mut self, value: Value, tree: Tree, is_plain: bool) {
        let object = match self.innermost() {
            None => {
                self.root = Some((value, tree));
                return;
            }
            Some(Collection::List(items, trees)) => {
                items.push(value);
                trees.push(tree);
                return;
            }
            Some(Collection::Object(object)) => object,
        };
        match object.next.take() {
            None => {
                let mark = tree.mark;
                let name = self.name(value, mark, is_plain);
                if let Some(Collection::Object(object)) = self.innermost() {
                    object.next = Some(Name(name.map(|name| (name, mark))));
                }
            }
            Some(Name(None)) => {}
            Some(Name(Some((name, mark)))) => {
                object.fields.push(Field {
                    name: name.as_str().into(),
                    mark,
                    value: tree,
                });
                object.map.insert(name, value);
            }
        }
    }

    /// The name of a field. `None`, with a problem, if it is not a string.
    fn name(&mut self, value: Value, mark: Mark, is_plain: bool) -> Option<String> {
        let found = match value {
            Value::String(name) if name == "<<" && is_plain => {
                let help = "write the fields here; an alias stands for a whole value";
                let message = "YAML 1.2 does not merge objects by `<<`";
                self.report(mark.place(), message, Some(help));
                return None;
            }
            Value::String(name) => {
                self.find_twice(&name, mark);
                return Some(name);
            }
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
            Value::Null => "empty",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
        };
        let message = format!("this name is {found}, and should be a string");
        self.report(
            mark.place(),
            message,
            is_plain.then_some("write it in quotes"),
        );
        None
    }

    fn find_twice(&mut self, name: &str, mark: Mark) {
        let Some(Collection::Object(object)) = self.innermost() else {
            unreachable!("a name stands in an object")
        };
        match object.first.get(name) {
            Some(first) => {
                let first = *first;
                let pointer = self.pointer();
                self.found.push(twice(&pointer, name, first, mark));
            }
            None => drop(object.first.insert(name.to_owned(), mark)),
        }
    }

    fn scalar(&mut self, text: &str, is_plain: bool, span: Span) -> Value {
        if !is_plain {
            return text.into();
        }
        scalar::value(text).unwrap_or_else(|message| {
            let help = "write it in quotes if it is a string";
            self.report(place(span.start), message, Some(help));
            Value::Null
        })
    }

    fn refuse(&mut self, tag: Option<&Tag>, span: Span) {
        let Some(tag) = tag else { return };
        let message = format!("there are no tags here, such as `{}`", tag.original());
        let place = place(span.tag_start().unwrap_or(span.start));
        let help = "remove it; a string that looks like something else is written in quotes";
        self.report(place, message, Some(help));
    }

    fn report(&mut self, place: Place, message: impl Into<String>, help: Option<&str>) {
        let mut problem = Problem::new(place, self.pointer(), message);
        problem.help = help.map(str::to_owned);
        self.found.push(problem);
    }

    fn loses(&mut self, what: Lost, span: Span) {
        self.lost.get_or_insert((place(span.start), what));
    }

    /// Counts a value that is copied.
    fn copy(&mut self, value: &Value, mark: Mark) -> Result<(), Problem> {
        self.copied = self.copied.saturating_add(size(value));
        if self.copied <= MOST_COPIED {
            return Ok(());
        }
        let message = format!(
            "the values of anchors and aliases have more than {} MiB together",
            MOST_COPIED >> 20
        );
        let problem = Problem::new(mark.place(), self.pointer(), message);
        Err(problem.help("write some of them out"))
    }

    /// The JSON pointer of the value that comes next.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for open in &self.open {
            match &open.content {
                Collection::List(items, _) => pointer += &format!("/{}", items.len()),
                Collection::Object(object) => {
                    if let Some(Name(Some((name, _)))) = &object.next {
                        pointer = inside(&pointer, name);
                    }
                }
            }
        }
        pointer
    }
}

fn tree_of(span: Span) -> Tree {
    Tree {
        mark: mark(span.start),
        inside: Inside::Scalar,
    }
}

/// The approximate size of the value in memory, in bytes.
fn size(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| name.len() + size(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inside + size_of::<Value>()
}

fn no_yaml(error: &ScanError, text: &str) -> Problem {
    let message = format!("this is not YAML: {}", error.info());
    let problem = Problem::new(place(*error.marker()), "", message);
    let line = error.marker().line().saturating_sub(1);
    match text.lines().nth(line).and_then(quotes) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn mark(marker: Marker) -> Mark {
    Mark::new(marker.line(), marker.col() + 1)
}

fn place(marker: Marker) -> Place {
    mark(marker).place()
}
