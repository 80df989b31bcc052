//! A flow's JSON inside the built program: assembled at compile time, and placed where it can be
//! read without running the program.
//!
//! The hard thing is that the JSON of an inner flow is in another macro's expansion. rustc
//! evaluates constants slowly, so each text is assembled once, and copied as a whole into the texts
//! of the outer flows. An inner flow therefore has no namespace here: it would differ in each outer
//! flow.

/// Places the record of a flow in the link section: `__DATA,__flowspec` for Mach-O, a custom
/// section in WebAssembly.
#[doc(hidden)]
#[macro_export]
macro_rules! __embed_flow {
    ($flow:ty, $name:expr, $namespace:expr) => {
        const _: () = {
            use $crate::__private::Unresolved as _;
            const __SPEC: $crate::__private::Spec = $crate::__private::Spec {
                namespace: $namespace,
                inner: <$flow>::__INNER,
            };
            #[used]
            #[allow(
                long_running_const_eval,
                reason = "the JSON of a large flow takes rustc long"
            )]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__flowspec"))]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "flowspec"))]
            static __RECORD: [::core::primitive::u8; $crate::__private::Spec::record_length(&__SPEC)] = $crate::__private::Spec::record(&__SPEC);
            $crate::__private::inventory::submit! {
                $crate::__private::linked($name, $namespace, $crate::__linked_spec!($flow, __RECORD))
            }
        };
    };
}

/// The text that the program itself reads. It is the text of the section, so that the program
/// contains it only once.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_spec {
    ($flow:ty, $record:ident) => {
        $crate::__private::spec_of(&$record)
    };
}

/// The text that the program itself reads. It is a constant: a custom section is not part of a
/// WebAssembly program's memory.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __linked_spec {
    ($flow:ty, $record:ident) => {
        <$flow as $crate::__private::Flow>::__SPEC
    };
}

/// The JSON of a flow, as bytes.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_spec {
    ($flow:ty, $namespace:expr) => {{
        use $crate::__private::Unresolved as _;
        const __SPEC: $crate::__private::Spec = $crate::__private::Spec {
            namespace: $namespace,
            inner: <$flow>::__INNER,
        };
        #[allow(
            long_running_const_eval,
            reason = "the JSON of a large flow takes rustc long"
        )]
        const __TEXT: [::core::primitive::u8; $crate::__private::Spec::length(&__SPEC)] =
            $crate::__private::Spec::text(&__SPEC);
        &__TEXT
    }};
}

/// The JSON of a flow, starting with its name, assembled from these texts and flows.
#[doc(hidden)]
#[macro_export]
macro_rules! __inner_spec {
    ($($text:literal $(flow $flow:ty)?,)*) => {
        #[doc(hidden)]
        #[allow(long_running_const_eval, reason = "the JSON of a large flow takes rustc long")]
        pub const __INNER: $crate::__private::Inner = {
            use $crate::__private::Unresolved as _;
            const __PARTS: &[&[::core::primitive::u8]] = &[
                $($text.as_bytes(), $($crate::__private::Inner::before(&<$flow>::__INNER), $crate::__private::Inner::text(&<$flow>::__INNER),)?)*
            ];
            const __TEXT: [::core::primitive::u8; $crate::__private::joined_length(__PARTS)] =
                $crate::__private::joined(__PARTS);
            $crate::__private::Inner::new(&__TEXT, &[$($(<$flow>::__INNER,)?)*])
        };
    };
}

pub use crate::{__embed_flow as embed, __flow_spec as spec, __inner_spec as inner};

use crate::spec_text::as_text;

/// The first bytes of every record.
const MAGIC: [u8; 8] = *b"FLOWSPEC";

/// The version of the layout of a record.
const RECORD_VERSION: u32 = 1;

/// The length of the magic, the version, and the length of the JSON, in bytes.
const HEADER: usize = MAGIC.len() + 4 + 4;

/// The maximum number of levels of inner flows in a flow's JSON, also for readers of documents.
const DEEPEST: usize = 32;

/// The JSON of a flow: the text before its namespace, the namespace, the text after it, and
/// `inner`.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The namespace of a run of this flow.
    pub namespace: &'static str,
    /// The JSON after the namespace.
    pub inner: Inner,
}

/// The JSON of a flow, starting with its name.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    text: &'static [u8],
    /// The number of levels of inner flows.
    depth: usize,
}

impl Spec {
    const fn parts(&self) -> [&'static [u8]; 4] {
        [
            b"{\"version\":\"2.0.0\",\"namespace\":\"",
            self.namespace.as_bytes(),
            b"\",",
            self.inner.text,
        ]
    }

    /// The length of the JSON, in bytes.
    pub const fn length(&self) -> usize {
        joined_length(&self.parts())
    }

    /// The JSON.
    pub const fn text<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        joined(&self.parts())
    }

    /// The length of its record, in bytes.
    pub const fn record_length(&self) -> usize {
        HEADER + self.length()
    }

    /// The bytes in the section.
    pub const fn record<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        let length = (self.length() as u32).to_le_bytes();
        let [begin, namespace, middle, inner] = self.parts();
        let version = &RECORD_VERSION.to_le_bytes();
        joined(&[&MAGIC, version, &length, begin, namespace, middle, inner])
    }
}

impl Inner {
    /// The JSON of a flow whose definition has a mistake.
    pub const NOTHING: Inner = Inner {
        text: b"}",
        depth: 0,
    };

    /// The text of a flow that has these flows as nodes.
    pub const fn new(text: &'static [u8], inside: &[Inner]) -> Self {
        let (mut depth, mut rest) = (0, inside);
        while let [flow, others @ ..] = rest {
            if flow.fits() && depth < flow.depth + 1 {
                depth = flow.depth + 1;
            }
            rest = others;
        }
        Inner { text, depth }
    }

    const fn fits(&self) -> bool {
        self.depth < DEEPEST
    }

    /// The end of the node that this flow is: the beginning of the flow, or a mark that the flow is
    /// omitted.
    pub const fn before(&self) -> &'static [u8] {
        if self.fits() {
            b"\"internalFlow\":{\"version\":\"2.0.0\","
        } else {
            b"\"internalFlowOmitted\":true"
        }
    }

    /// The text after [`before`](Self::before).
    pub const fn text(&self) -> &'static [u8] {
        if self.fits() { self.text } else { b"" }
    }
}

/// The JSON in a record.
pub const fn spec_of(record: &'static [u8]) -> &'static [u8] {
    record.split_at(HEADER).1
}

/// The length of these parts together.
pub const fn joined_length(parts: &[&[u8]]) -> usize {
    let (mut length, mut rest) = (0, parts);
    while let [part, others @ ..] = rest {
        length += part.len();
        rest = others;
    }
    length
}

/// These parts, one after the other.
pub const fn joined<const LENGTH: usize>(parts: &[&[u8]]) -> [u8; LENGTH] {
    let mut joined = [0; LENGTH];
    let (mut at, mut rest) = (0, parts);
    while let [part, others @ ..] = rest {
        let (_, after) = joined.split_at_mut(at);
        let (place, _) = after.split_at_mut(part.len());
        place.copy_from_slice(part);
        at += part.len();
        rest = others;
    }
    joined
}

/// A flow that is linked into this program. [`flows`] lists them.
#[derive(Debug, Clone, Copy)]
pub struct LinkedFlow {
    name: &'static str,
    namespace: &'static str,
    spec: &'static [u8],
}

inventory::collect!(LinkedFlow);

/// The entry of this flow in [`flows`].
pub const fn linked(
    name: &'static str,
    namespace: &'static str,
    spec: &'static [u8],
) -> LinkedFlow {
    LinkedFlow {
        name,
        namespace,
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

    /// The flow's JSON, without the values of settings, as in [`Flow::SPEC`](crate::Flow::SPEC).
    pub fn spec(&self) -> &'static str {
        as_text(self.spec)
    }
}

/// All flows that are linked into this program, ordered by namespace and name.
///
/// These are the flows of the program itself, and of every library that it links. A library is
/// linked only if the program's source names it, not just `Cargo.toml`: `use that_library as _;` is
/// enough.
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

    const LEAF: Inner = Inner::new(b"\"name\":\"Leaf\"}", &[]);

    #[test]
    fn a_record_holds_its_length() {
        const SPEC: Spec = Spec {
            namespace: "a.b",
            inner: LEAF,
        };
        const RECORD: [u8; SPEC.record_length()] = SPEC.record();
        let json = r#"{"version":"2.0.0","namespace":"a.b","name":"Leaf"}"#;
        assert_eq!(&RECORD[..16], b"FLOWSPEC\x01\0\0\0\x33\0\0\0");
        assert_eq!(as_text(spec_of(&RECORD)), json);
        assert_eq!(json.len(), 0x33);
    }

    #[test]
    fn what_nests_too_deep_is_left_out() {
        let mut flow = LEAF;
        for _ in 0..DEEPEST {
            assert!(flow.fits());
            flow = Inner::new(b"}", &[LEAF, flow, LEAF]);
        }
        assert_eq!(flow.before(), b"\"internalFlowOmitted\":true");
        assert_eq!(flow.text(), b"");
        assert!(Inner::new(b"}", &[flow]).fits());
    }
}
