//! The places of the values in a text.

use std::sync::Arc;

use crate::Place;

/// A place in a compact form, since a tree can have millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    line: u32,
    column: u32,
}

/// A value: its place and its content.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) mark: Mark,
    pub(crate) inside: Inside,
}

/// The content of a value.
#[derive(Debug)]
pub(crate) enum Inside {
    Scalar,
    List(Vec<Tree>),
    Object(Vec<Field>),
    /// The value of a YAML anchor, both where it is written and where an alias stands for it.
    Shared(Arc<Tree>),
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) mark: Mark,
    pub(crate) value: Tree,
}

/// The place of a value that is being read. Its pointer is built only for a problem, because many
/// values can be under a long name.
pub(crate) enum Path<'a> {
    Document,
    Item(&'a Path<'a>, usize),
    Field(&'a Path<'a>, &'a str),
}

impl Path<'_> {
    pub(crate) fn pointer(&self) -> String {
        match self {
            Path::Document => String::new(),
            Path::Item(list, index) => format!("{}/{index}", list.pointer()),
            Path::Field(object, name) => inside(&object.pointer(), name),
        }
    }
}

/// The pointer of a field in the object at a pointer.
pub(crate) fn inside(object: &str, name: &str) -> String {
    let name = name.replace('~', "~0").replace('/', "~1");
    format!("{object}/{name}")
}

impl Mark {
    /// Texts are too short for a line or a column that does not fit.
    pub(crate) fn new(line: usize, column: usize) -> Self {
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Mark {
            line: number(line),
            column: number(column),
        }
    }

    pub(crate) fn place(self) -> Place {
        Place {
            line: self.line as usize,
            column: self.column as usize,
        }
    }
}

impl Tree {
    /// The place of the value at a JSON pointer or, without such a value, of the last one on the
    /// way to it.
    ///
    /// For a list or an object with a name, or if `is_name`, this is the place of the name. A
    /// reader looks for `nodes`, and not for the bracket after it.
    pub(crate) fn place(&self, pointer: &str, is_name: bool) -> Place {
        let (mut tree, mut name) = (self, None);
        let mut parts = pointer.split('/').skip(1).peekable();
        while let Some(part) = parts.next() {
            let inner = match tree.content() {
                Inside::Scalar | Inside::Shared(_) => None,
                Inside::List(items) => part.parse().ok().and_then(|index: usize| {
                    let item = items.get(index)?;
                    Some((item, None))
                }),
                Inside::Object(fields) => {
                    let part = part.replace("~1", "/").replace("~0", "~");
                    // If a name occurs twice, the last one is read.
                    let field = fields.iter().rfind(|field| *field.name == *part);
                    field.map(|field| (&field.value, Some(field.mark)))
                }
            };
            let Some((value, mark)) = inner else { break };
            (tree, name) = (value, mark);
            if is_name && parts.peek().is_none() {
                return name.unwrap_or(tree.mark).place();
            }
        }
        match tree.inside {
            Inside::List(_) | Inside::Object(_) => name.unwrap_or(tree.mark).place(),
            Inside::Scalar | Inside::Shared(_) => tree.mark.place(),
        }
    }

    /// The content, even if it is shared.
    fn content(&self) -> &Inside {
        match &self.inside {
            Inside::Shared(tree) => tree.content(),
            inside => inside,
        }
    }
}
