//! The findings in a definition.

use flow_spec::{Code, Problem};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// The severity of a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The definition can be neither active nor loaded.
    Error,
    /// Something in the definition has no effect.
    Warning,
}

/// Something that is wrong with a definition.
///
/// As JSON, it has the fields `severity`, `code`, `message`, `pointer`, `notes`, `related` (each
/// with `pointer` and `message`), and `help` if there is any.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The problem. Its pointers are those of the definition, such as `/flow/nodes/0/type`.
    pub problem: Problem,
}

impl Finding {
    pub(crate) fn error(problem: Problem) -> Self {
        Finding {
            severity: Severity::Error,
            problem,
        }
    }

    /// A warning about something that names what does not exist.
    pub(crate) fn names_nothing(pointer: String, message: String, help: Option<String>) -> Self {
        let mut problem = Problem::new(Code::NamesNothing, pointer, message).of_name();
        problem.help = help;
        Finding {
            severity: Severity::Warning,
            problem,
        }
    }

    /// Returns true if it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Related<'a> {
            pointer: &'a str,
            message: &'a str,
        }
        let Problem {
            pointer,
            code,
            message,
            notes,
            related,
            help,
            ..
        } = &self.problem;
        let related = related.iter();
        let related: Vec<_> = related
            .map(|(pointer, message)| Related { pointer, message })
            .collect();
        let mut object = serializer.serialize_struct("Finding", 7)?;
        object.serialize_field("severity", &self.severity)?;
        object.serialize_field("code", &code.to_string())?;
        object.serialize_field("message", message)?;
        object.serialize_field("pointer", pointer)?;
        object.serialize_field("notes", notes)?;
        object.serialize_field("related", &related)?;
        match help {
            Some(help) => object.serialize_field("help", help)?,
            None => object.skip_field("help")?,
        }
        object.end()
    }
}
