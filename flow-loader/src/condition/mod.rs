//! The conditions of a branch: expressions in CEL, the Common Expression Language.

#[cfg(feature = "cel")]
mod budget;
#[cfg(feature = "cel")]
mod check;
#[cfg(feature = "cel")]
mod expression;
#[cfg(feature = "cel")]
mod functions;
#[cfg(feature = "cel")]
mod metered;
#[cfg(feature = "cel")]
mod names;
#[cfg(feature = "cel")]
mod shown;
#[cfg(feature = "cel")]
mod tokens;
#[cfg(feature = "cel")]
mod types;
#[cfg(not(feature = "cel"))]
mod without;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::value::ValueType;

#[cfg(feature = "cel")]
pub(crate) use expression::{Condition, Evaluation};
#[cfg(not(feature = "cel"))]
pub(crate) use without::{Condition, Evaluation};

/// A key that a condition reads, with its type.
pub(crate) type TypedKey<'a> = (&'a str, Option<&'static ValueType>);

/// A mistake in a condition, as a message, with help if there is any.
#[derive(Debug, PartialEq)]
pub(crate) struct Mistyped {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// The reason why a condition cannot be read, as a message, with help if there is any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Misread {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Misread {
    fn new(message: impl Into<String>) -> Self {
        Misread {
            message: message.into(),
            help: None,
        }
    }

    #[cfg(feature = "cel")]
    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// The largest size in bytes of all distinct conditions of a document together.
const MOST_BYTES: usize = 1 << 20;

/// The largest compiled size in bytes of all patterns of a document.
const MOST_PATTERNS: usize = 8 << 20;

/// The conditions of a document, each read once.
pub(crate) struct Conditions {
    all: HashMap<String, Result<Arc<Condition>, Misread>>,
    bytes: usize,
    /// The number of bytes left for patterns.
    for_patterns: usize,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            all: HashMap::new(),
            bytes: 0,
            for_patterns: MOST_PATTERNS,
        }
    }
}

impl Conditions {
    /// Reads a condition.
    ///
    /// # Errors
    ///
    /// The condition cannot be used.
    pub(crate) fn read(&mut self, text: &str) -> Result<Arc<Condition>, Misread> {
        if let Some(read) = self.all.get(text) {
            return read.clone();
        }
        self.bytes += text.len();
        let read = if self.bytes > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            let message = format!("the conditions have more than {most} MiB together");
            Err(Misread::new(message))
        } else {
            Condition::read(text, &mut self.for_patterns).map(Arc::new)
        };
        self.all.insert(text.to_owned(), read.clone());
        read
    }
}
