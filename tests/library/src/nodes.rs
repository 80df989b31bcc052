//! The nodes of the [desk](crate::desk).

use std::collections::HashMap;

use flow_runtime::prelude::*;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Action)]
pub enum Topic {
    /// Something that can be looked up.
    Known {
        /// What to look up.
        term: String,
    },
    /// Nothing that the desk knows.
    #[action("unknown")]
    Other,
}

/// Finds out what a question is about.
#[node(actions = Topic)]
pub fn classify(question: &str) -> Topic {
    match question.strip_prefix("what is ") {
        Some(term) => Topic::Known {
            term: term.trim_end_matches('?').to_owned(),
        },
        None => Topic::Other,
    }
}

/// A term that is in no book.
#[derive(Debug, PartialEq)]
pub struct NotFound {
    /// The term.
    pub term: String,
}

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no entry for `{}`", self.term)
    }
}

impl std::error::Error for NotFound {}

/// Looks a term up.
#[derive(Debug, Default)]
pub struct Lookup {
    entries: HashMap<String, String>,
}

impl Lookup {
    /// A book with these entries.
    pub fn new(entries: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let entries = entries
            .into_iter()
            .map(|(term, text)| (term.to_owned(), text.to_owned()));
        Lookup {
            entries: entries.collect(),
        }
    }
}

#[node(writes = entry, retry(attempts = 2))]
impl Lookup {
    fn prep(&self, term: &str) -> String {
        term.to_owned()
    }

    async fn exec(&self, term: &str) -> Result<String, NotFound> {
        self.entries.get(term).cloned().ok_or_else(|| NotFound {
            term: term.to_owned(),
        })
    }
}

/// Puts an answer into words.
#[node]
pub async fn answer(question: &str, entry: Option<&str>) -> String {
    match entry {
        Some(entry) => format!("{question} It is {entry}."),
        None => format!("{question} Nobody knows."),
    }
}

/// How answers look.
pub mod style {
    use flow_runtime::prelude::*;

    /// Named like a macro of std.
    #[node]
    pub fn format(answer: &str) -> String {
        format!("> {answer}")
    }
}
