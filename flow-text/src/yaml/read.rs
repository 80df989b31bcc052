//! Puts the events of a YAML parser together to values and their places.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Map, Value};

use crate::content::{Content, Lost, twice};
use crate::problem::{Found, Place, Problem};
use crate::tree::{Field, Inside, Mark, Path, Tree};

use super::scalar;

/// The largest number of lists and objects in one another, as in JSON.
const DEEPEST: usize = 127;

/// The largest size in bytes of all values that anchors and aliases copy.
const MOST_COPIED: usize = 4 << 20;

/// Reads YAML.
///
/// # Errors
///
/// It is not YAML, or more than one document; it nests too deep, or its anchors and aliases copy
/// too much.
pub(crate) fn read(text: &str) -> Result<Content, Problem> {
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        max_buffered_comment_events: usize::MAX,
    };
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        copied: 0,
        depth: 0,
        found: Found::default(),
        lost: None,
    };
    let (value, tree) = reader.document()?;
    Ok(Content {
        value,
        tree,
        found: reader.found,
        lost: reader.lost,
    })
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, (Value, Arc<Tree>)>,
    copied: usize,
    depth: usize,
    found: Found,
    lost: Option<(Place, Lost)>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        loop {
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), span))) => self.loses(Lost::Comment, span),
                Some(Ok(event)) => return Ok(event),
                Some(Err(error)) => return Err(no_yaml(&error)),
                None => unreachable!("reading stops at the last event, the end of the stream"),
            }
        }
    }

    fn loses(&mut self, what: Lost, span: Span) {
        self.lost.get_or_insert((place(span.start), what));
    }

    /// The only document.
    fn document(&mut self) -> Result<(Value, Tree), Problem> {
        let mut content = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(..) if content.is_some() => {
                    let message = "a second document begins here";
                    let help = "write each flow into a file of its own, or write a list of flows";
                    return Err(Problem::new(place(span.start), "", message).help(help));
                }
                Event::DocumentStart(..) => {
                    let (event, span) = self.next()?;
                    content = Some(self.value(event, span, &Path::Document)?);
                }
                _ => {}
            }
        }
        content.ok_or_else(|| Problem::new(Place::START, "", "there is no flow in it"))
    }

    /// The value that begins with this event.
    fn value(
        &mut self,
        event: Event<'a>,
        span: Span,
        path: &Path<'_>,
    ) -> Result<(Value, Tree), Problem> {
        let mark = mark(span.start);
        let (value, inside, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse(tag.as_deref(), span, path);
                let value = self.scalar(&text, style, span, path);
                (value, Inside::Scalar, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse(tag.as_deref(), span, path);
                let (items, trees) = self.nested(span, path, Self::list)?;
                (Value::Array(items), Inside::List(trees), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse(tag.as_deref(), span, path);
                let (map, fields) = self.nested(span, path, Self::object)?;
                (Value::Object(map), Inside::Object(fields), anchor)
            }
            Event::Alias(id) => {
                let Some((value, tree)) = self.anchors.get(&id) else {
                    let message = "this alias stands for a value that contains it";
                    return Err(Problem::new(mark.place(), path.pointer(), message));
                };
                let (value, inside) = (value.clone(), Inside::Shared(Arc::clone(tree)));
                self.copy(&value, span, path)?;
                return Ok((value, Tree { mark, inside }));
            }
            Event::UnresolvedAlias(name) => {
                let message = format!("no anchor `&{name}` stands before this alias");
                let problem = Problem::new(mark.place(), path.pointer(), message);
                self.found.push(problem);
                (Value::Null, Inside::Scalar, 0)
            }
            event => unreachable!("{event:?} does not begin a value"),
        };
        let tree = Tree { mark, inside };
        if anchor == 0 {
            return Ok((value, tree));
        }
        self.loses(Lost::Anchor, span);
        self.copy(&value, span, path)?;
        let tree = Arc::new(tree);
        self.anchors
            .insert(anchor, (value.clone(), Arc::clone(&tree)));
        let inside = Inside::Shared(tree);
        Ok((value, Tree { mark, inside }))
    }

    /// Reads the content of a list or an object.
    fn nested<T>(
        &mut self,
        span: Span,
        path: &Path<'_>,
        read: impl FnOnce(&mut Self, &Path<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.depth == DEEPEST {
            let message = "lists and objects stand too deep in one another";
            return Err(Problem::new(place(span.start), "", message));
        }
        self.depth += 1;
        let content = read(self, path)?;
        self.depth -= 1;
        Ok(content)
    }

    fn list(&mut self, path: &Path<'_>) -> Result<(Vec<Value>, Vec<Tree>), Problem> {
        let (mut items, mut trees) = (Vec::new(), Vec::new());
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok((items, trees));
            }
            let (item, tree) = self.value(event, span, &Path::Item(path, items.len()))?;
            items.push(item);
            trees.push(tree);
        }
    }

    fn object(&mut self, path: &Path<'_>) -> Result<(Map<String, Value>, Vec<Field>), Problem> {
        let mut map = Map::new();
        let mut fields: Vec<Field> = Vec::new();
        let mut first: HashMap<String, Mark> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok((map, fields));
            }
            let name = self.name(event, span, path)?;
            let (event, span_of_value) = self.next()?;
            let inner = name.as_deref().unwrap_or_default();
            let (value, tree) = self.value(event, span_of_value, &Path::Field(path, inner))?;
            let Some(name) = name else { continue };
            let mark = mark(span.start);
            match first.get(&name) {
                Some(first) => self.found.push(twice(path, &name, *first, mark)),
                None => drop(first.insert(name.clone(), mark)),
            }
            fields.push(Field {
                name: name.as_str().into(),
                mark,
                value: tree,
            });
            map.insert(name, value);
        }
    }

    /// The name of a field. `None`, with a problem, if it is not a string.
    fn name(
        &mut self,
        event: Event<'a>,
        span: Span,
        object: &Path<'_>,
    ) -> Result<Option<String>, Problem> {
        let is_plain = matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..));
        let found = match self.value(event, span, object)?.0 {
            Value::String(name) if name == "<<" && is_plain => {
                let message = "YAML 1.2 does not merge objects by `<<`";
                let help = "write the fields here; an alias stands for a whole value";
                let problem = Problem::new(place(span.start), object.pointer(), message);
                self.found.push(problem.help(help));
                return Ok(None);
            }
            Value::String(name) => return Ok(Some(name)),
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
            Value::Null => "empty",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
        };
        let message = format!("this name is {found}, and should be a string");
        let mut problem = Problem::new(place(span.start), object.pointer(), message);
        if is_plain {
            problem = problem.help("write it in quotes");
        }
        self.found.push(problem);
        Ok(None)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span, path: &Path<'_>) -> Value {
        if style != ScalarStyle::Plain {
            return text.into();
        }
        scalar::value(text).unwrap_or_else(|message| {
            let problem = Problem::new(place(span.start), path.pointer(), message);
            self.found
                .push(problem.help("write it in quotes if it is a string"));
            Value::Null
        })
    }

    fn refuse(&mut self, tag: Option<&Tag>, span: Span, path: &Path<'_>) {
        let Some(tag) = tag else { return };
        let message = format!("there are no tags here, such as `{}`", tag.original());
        let place = place(span.tag_start().unwrap_or(span.start));
        let help = "remove it; a string that looks like something else is written in quotes";
        self.found
            .push(Problem::new(place, path.pointer(), message).help(help));
    }

    /// Notes that a value is copied.
    fn copy(&mut self, value: &Value, span: Span, path: &Path<'_>) -> Result<(), Problem> {
        self.copied = self.copied.saturating_add(size(value));
        if self.copied <= MOST_COPIED {
            return Ok(());
        }
        let message = format!(
            "the values of anchors and aliases have more than {} MiB together",
            MOST_COPIED >> 20
        );
        let problem = Problem::new(place(span.start), path.pointer(), message);
        Err(problem.help("write some of them out"))
    }
}

/// About as many bytes as the value takes in memory.
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

fn no_yaml(error: &ScanError) -> Problem {
    let message = format!("this is not YAML: {}", error.info());
    Problem::new(place(*error.marker()), "", message)
}

fn mark(marker: Marker) -> Mark {
    Mark::new(marker.line(), marker.col() + 1)
}

fn place(marker: Marker) -> Place {
    mark(marker).place()
}
