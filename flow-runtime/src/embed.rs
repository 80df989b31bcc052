//! A flow's JSON inside the built program: put together while it compiles, and placed where it can be read without
//! running it.
//!
//! The hard thing is that a flow inside a flow has its JSON in another macro's expansion, and another namespace than on
//! its own. So each flow is handed over in [`Part`]s, and only here do they become text.

/// The name of the link section, for Mach-O `__DATA,__flowspec`. In WebAssembly it is a custom section.
#[doc(hidden)]
#[macro_export]
macro_rules! __embed_flow {
    ($flow:ty) => {
        const _: () = {
            const SPEC: &str = <$flow as $crate::__private::Flow>::SPEC;
            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__flowspec"))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "flowspec"))]
            static RECORD: [u8; $crate::__private::record_length(SPEC)] =
                $crate::__private::record(SPEC);
            $crate::__private::inventory::submit! {
                $crate::__private::linked::<$flow>($crate::__linked_spec!(SPEC RECORD))
            }
        };
    };
}

/// The text that the program itself reads: that of the section, so that it is there once.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_spec {
    ($spec:ident $record:ident) => {
        $crate::__private::spec_of(&$record)
    };
}

/// The text that the program itself reads: a custom section is no part of a WebAssembly program's memory.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_spec {
    ($spec:ident $record:ident) => {
        $spec
    };
}

/// The whole JSON of a flow.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_spec {
    ($flow:ty, $namespace:expr) => {{
        #[allow(unused_imports)]
        use $crate::__private::Unresolved as _;
        const PARTS: &[$crate::__private::Part] = <$flow>::__PARTS;
        const LENGTH: usize = $crate::__private::text_length(PARTS, $namespace);
        const TEXT: [u8; LENGTH] = $crate::__private::text(PARTS, $namespace);
        $crate::__private::as_text(&TEXT)
    }};
}

pub use crate::{__embed_flow as embed, __flow_spec as spec};

use crate::flow::Flow;

/// How every record begins.
const MAGIC: [u8; 8] = *b"FLOWSPEC";

/// The version of the layout of a record.
const RECORD_VERSION: u32 = 1;

/// The magic, the version, and the length of the JSON.
const HEADER: usize = MAGIC.len() + 4 + 4;

/// A piece of a flow's JSON.
#[derive(Debug)]
pub enum Part {
    /// JSON as it is.
    Text(&'static str),
    /// The flow's namespace.
    Namespace,
    /// The flow that the node of this name is.
    Flow {
        /// The name of the node.
        node: &'static str,
        /// The parts of its flow.
        parts: &'static [Part],
    },
}

/// The namespace of a flow, which begins with those of the flows around it.
struct Namespace<'a> {
    around: Option<&'a Namespace<'a>>,
    name: &'a str,
}

/// The length of the text of these parts.
pub const fn text_length(parts: &[Part], namespace: &str) -> usize {
    length(parts, &Namespace::of(namespace))
}

/// The text of these parts.
pub const fn text<const LENGTH: usize>(parts: &[Part], namespace: &str) -> [u8; LENGTH] {
    let mut text = [0; LENGTH];
    write(parts, &Namespace::of(namespace), &mut text, 0);
    text
}

/// The text that these bytes are.
pub const fn as_text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("it consists of texts"),
    }
}

/// How long the record of this JSON is.
pub const fn record_length(spec: &str) -> usize {
    HEADER + spec.len()
}

/// The record of this JSON: what stands in the section.
pub const fn record<const LENGTH: usize>(spec: &str) -> [u8; LENGTH] {
    let mut record = [0; LENGTH];
    let at = put(&mut record, 0, &MAGIC);
    let at = put(&mut record, at, &RECORD_VERSION.to_le_bytes());
    let at = put(&mut record, at, &(spec.len() as u32).to_le_bytes());
    put(&mut record, at, spec.as_bytes());
    record
}

/// The JSON in a record.
pub const fn spec_of(record: &'static [u8]) -> &'static str {
    as_text(record.split_at(HEADER).1)
}

impl<'a> Namespace<'a> {
    const fn of(name: &'a str) -> Self {
        Namespace { around: None, name }
    }

    const fn length(&self) -> usize {
        match self.around {
            None => self.name.len(),
            Some(around) => around.length() + 1 + self.name.len(),
        }
    }

    const fn write(&self, out: &mut [u8], at: usize) -> usize {
        let at = match self.around {
            None => at,
            Some(around) => {
                let at = around.write(out, at);
                put(out, at, b".")
            }
        };
        put(out, at, self.name.as_bytes())
    }
}

const fn length(parts: &[Part], namespace: &Namespace<'_>) -> usize {
    let (mut length_so_far, mut rest) = (0, parts);
    while let [part, after @ ..] = rest {
        length_so_far += match part {
            Part::Text(text) => text.len(),
            Part::Namespace => namespace.length(),
            Part::Flow { node, parts } => {
                let around = Some(namespace);
                length(parts, &Namespace { around, name: node })
            }
        };
        rest = after;
    }
    length_so_far
}

const fn write(parts: &[Part], namespace: &Namespace<'_>, out: &mut [u8], at: usize) -> usize {
    let (mut at, mut rest) = (at, parts);
    while let [part, after @ ..] = rest {
        at = match part {
            Part::Text(text) => put(out, at, text.as_bytes()),
            Part::Namespace => namespace.write(out, at),
            Part::Flow { node, parts } => {
                let around = Some(namespace);
                write(parts, &Namespace { around, name: node }, out, at)
            }
        };
        rest = after;
    }
    at
}

/// Copies the bytes to this place, and says what place comes after.
const fn put(out: &mut [u8], at: usize, bytes: &[u8]) -> usize {
    let (_, rest) = out.split_at_mut(at);
    let (target, _) = rest.split_at_mut(bytes.len());
    target.copy_from_slice(bytes);
    at + bytes.len()
}

/// A flow that is linked into this program. [`flows`] lists them.
#[derive(Debug, Clone, Copy)]
pub struct LinkedFlow {
    name: &'static str,
    namespace: &'static str,
    spec: &'static str,
}

inventory::collect!(LinkedFlow);

/// What [`flows`] lists of this flow.
pub const fn linked<F: Flow>(spec: &'static str) -> LinkedFlow {
    LinkedFlow {
        name: F::NAME,
        namespace: F::NAMESPACE,
        spec,
    }
}

impl LinkedFlow {
    /// The flow's name, as its author wrote it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The first segment of the paths of its nodes.
    pub fn namespace(&self) -> &'static str {
        self.namespace
    }

    /// Its JSON, without the values of settings: what [`Flow::SPEC`] is.
    pub fn spec(&self) -> &'static str {
        self.spec
    }
}

/// All flows that are linked into this program, ordered by namespace and name.
///
/// These are the flows of the program itself, and of every library that it links. A library that the program never
/// names in its source is not linked, however it is listed in `Cargo.toml`: `use that_library as _;` names it.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn answer(question: &str) -> String {
///     format!("{question} Yes.")
/// }
///
/// flow! {
///     Qa(question: String) -> (answer: String) {
///         start >> answer >> end;
///     }
/// }
///
/// let flows = flow_runtime::flows();
/// assert!(flows.iter().any(|flow| flow.name() == "Qa" && flow.spec() == Qa::SPEC));
/// ```
pub fn flows() -> Vec<&'static LinkedFlow> {
    let mut flows: Vec<&LinkedFlow> = inventory::iter::<LinkedFlow>.into_iter().collect();
    flows.sort_by_key(|flow| (flow.namespace, flow.name, flow.spec));
    flows
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: &[Part] = &[Part::Text("<"), Part::Namespace, Part::Text(">")];
    const OUTER: &[Part] = &[
        Part::Namespace,
        Part::Text(": "),
        Part::Flow {
            node: "agent",
            parts: INNER,
        },
        Part::Text(", "),
        Part::Flow {
            node: "critic",
            parts: &[Part::Flow {
                node: "deep",
                parts: INNER,
            }],
        },
    ];

    #[test]
    fn each_flow_has_the_namespace_of_its_node() {
        const LENGTH: usize = text_length(OUTER, "a.b");
        const TEXT: [u8; LENGTH] = text(OUTER, "a.b");
        assert_eq!(as_text(&TEXT), "a.b: <a.b.agent>, <a.b.critic.deep>");
    }

    #[test]
    fn a_record_holds_its_length() {
        const RECORD: [u8; record_length("{}")] = record("{}");
        assert_eq!(&RECORD, b"FLOWSPEC\x01\0\0\0\x02\0\0\0{}");
        assert_eq!(spec_of(&RECORD), "{}");
    }
}
