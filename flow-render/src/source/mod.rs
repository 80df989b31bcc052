//! Writes a document as a `flow!` that could have produced it.
//!
//! The hard thing is that the text has to compile to the same document. A node without a
//! declaration has the name and the settings of its function or type, and its position follows from
//! the edges. So a node is declared if the document differs from that (`nodes`). Edges are written
//! in their order, as chains (`chains`).

mod chains;
mod nodes;
mod rust;
mod unsaid;

use std::collections::HashMap;

use flow_spec::document::{DEFAULT, DEFAULT_OMITTED, Schema};
use flow_spec::{FlowDocument, snake_case};

use crate::layout::lay_out;
use flow_spec::document::__private::inside;

use nodes::Nodes;
use unsaid::Found;

pub use unsaid::Unsaid;

/// The flow as `flow!`, after the flows inside it.
///
/// The text needs the functions, types and derived traits that the flow names in scope. The
/// compiled flow has the same document, except that a pause, or a step `undo` or `commit`, may come
/// later among its nodes. These cannot be declared, while nodes with a retry or a timeout are. A flow that is not sound gives
/// text that does not compile: see [`FlowDocument::check`].
///
/// # Examples
///
/// ```
/// use flow_spec::FlowDocument;
///
/// let flow = FlowDocument::parse(r#"{
///   "version": "2.0.0",
///   "namespace": "qa",
///   "name": "Qa",
///   "inputs": { "type": "object", "properties": { "question": { "rustType": "String" } }, "required": ["question"] },
///   "nodes": [{ "type": "answer", "id": "answer", "settings": { "timeout": "30s" } }],
///   "edges": [],
///   "ends": [{ "from": "answer", "condition": "default", "label": "default" }]
/// }"#).unwrap();
/// assert_eq!(flow_render::source(&flow).unwrap(), "\
/// flow! {
///     Qa(question: String) {
///         node answer: answer with timeout = \"30s\";
///
///         start >> answer >> end;
///     }
/// }
/// ");
/// ```
///
/// # Errors
///
/// Everything in the document that `flow!` cannot express, such as values of settings, which are
/// Rust values in a program, or an id that is not a name in Rust.
pub fn source(flow: &FlowDocument) -> Result<String, Vec<Unsaid>> {
    sources([flow])
}

/// Several flows as `flow!`, each once.
///
/// # Errors
///
/// See [`source`]. The errors of all flows are returned, with pointers into each flow. Two
/// different flows may not have the same name.
pub fn sources<'a>(
    flows: impl IntoIterator<Item = &'a FlowDocument>,
) -> Result<String, Vec<Unsaid>> {
    let mut blocks = Blocks::default();
    for flow in flows {
        blocks.add(flow, "", true);
    }
    if !blocks.unsaid.0.is_empty() {
        return Err(blocks.unsaid.0);
    }
    let blocks = blocks.list.iter().map(Block::text);
    let text = blocks.collect::<Vec<_>>().join("\n");
    let laid_out = lay_out(&text);
    let faults = laid_out.faults.iter().map(|fault| Unsaid {
        pointer: String::new(),
        message: format!("this is not the text of a flow: {}", fault.message),
    });
    let faults: Vec<Unsaid> = faults.collect();
    if faults.is_empty() {
        Ok(laid_out.text)
    } else {
        Err(faults)
    }
}

/// The `flow!` of several flows.
#[derive(Default)]
struct Blocks {
    list: Vec<Block>,
    by_name: HashMap<String, usize>,
    unsaid: Found,
}

/// One `flow!`.
struct Block {
    head: String,
    /// The `namespace`, if it does not follow from the name. An inner flow has none.
    namespace: Option<String>,
    statements: String,
}

impl Blocks {
    /// Adds the flows inside this one, and then the flow itself.
    fn add(&mut self, flow: &FlowDocument, pointer: &str, is_outermost: bool) {
        for (index, node) in flow.nodes.iter().enumerate() {
            let Some(inner) = &node.internal_flow else {
                continue;
            };
            let pointer = inside(&inside(pointer, "nodes"), index);
            if inner.name != node.r#type {
                let message = format!(
                    "this node is `{}`, and its flow is named `{}`",
                    node.r#type, inner.name
                );
                self.unsaid.push(inside(&pointer, "type"), message);
            }
            self.add(inner, &inside(&pointer, "internalFlow"), false);
        }
        let name = rust::ident(&flow.name).unwrap_or_else(|| {
            let message = format!("the flow's name `{}` is not a name in Rust", flow.name);
            self.unsaid.push(inside(pointer, "name"), message);
            flow.name.clone()
        });
        if flow
            .dependencies
            .as_ref()
            .is_some_and(|all| !all.is_empty())
        {
            let message = "`flow!` does not say what a flow needs from outside";
            self.unsaid.push(inside(pointer, "dependencies"), message);
        }
        let is_named = is_outermost && !flow.namespace.is_empty();
        let block = Block {
            head: head(flow, &name, pointer, &mut self.unsaid),
            namespace: (is_named && flow.namespace != snake_case(&flow.name))
                .then(|| flow.namespace.clone()),
            statements: Nodes::new(flow, pointer).statements(&mut self.unsaid),
        };
        let Some(index) = self.by_name.get(&name) else {
            self.by_name.insert(name, self.list.len());
            self.list.push(block);
            return;
        };
        let other = &mut self.list[*index];
        if (&other.head, &other.statements) != (&block.head, &block.statements) {
            let message = format!("another flow is named `{name}`, too");
            self.unsaid.push(inside(pointer, "name"), message);
        }
        other.namespace = other.namespace.take().or(block.namespace);
    }
}

impl Block {
    fn text(&self) -> String {
        let namespace = self.namespace.as_ref();
        let namespace = namespace.map(|name| format!("namespace {};\n\n", rust::literal(name)));
        format!(
            "flow! {{\n{} {{\n{}{}}}\n}}\n",
            self.head,
            namespace.unwrap_or_default(),
            self.statements
        )
    }
}

/// The documentation and the signature.
fn head(flow: &FlowDocument, name: &str, pointer: &str, unsaid: &mut Found) -> String {
    let documentation = rust::documentation(flow.description.as_deref());
    let inputs = parameters(&flow.inputs, &inside(pointer, "inputs"), unsaid);
    let outputs = if flow.outputs.properties.is_empty() {
        String::new()
    } else {
        let outputs = parameters(&flow.outputs, &inside(pointer, "outputs"), unsaid);
        format!(" -> {outputs}")
    };
    format!("{documentation}{name}{inputs}{outputs}")
}

fn parameters(schema: &Schema, pointer: &str, unsaid: &mut Found) -> String {
    let mut parameters = Vec::new();
    for (name, rust_type, required) in schema.values() {
        let pointer = inside(&inside(pointer, "properties"), name);
        let Some(ident) = rust::ident(name) else {
            unsaid.push(pointer, format!("the key `{name}` is not a name in Rust"));
            continue;
        };
        let rust_type = match rust_type {
            Some(rust_type) if rust::is_type(rust_type) => rust_type,
            Some(rust_type) => {
                let message = format!("`{rust_type}` is not a type in Rust");
                unsaid.push(inside(&pointer, "rustType"), message);
                continue;
            }
            None => {
                unsaid.push(pointer, format!("the type of `{name}` is not known"));
                continue;
            }
        };
        if required && rust_type.starts_with("Option<") {
            let message = format!("`{name}` is an `Option`, and so may be missing in `flow!`");
            unsaid.push(pointer, message);
            continue;
        }
        let ty = match default(schema, name, rust_type, &pointer, unsaid) {
            Some(default) => format!("{rust_type} = {default}"),
            None if required => rust_type.to_owned(),
            None => format!("Option<{rust_type}>"),
        };
        let description = schema.properties[name].get("description");
        let description = description.and_then(|description| description.as_str());
        let documentation = rust::documentation(description);
        let line_break = if documentation.is_empty() { "" } else { "\n" };
        parameters.push(format!("{line_break}{documentation}{ident}: {ty}"));
    }
    format!("({})", parameters.join(", "))
}

/// The default of a value as Rust, if it has one. Reports a default that Rust cannot express.
fn default(
    schema: &Schema,
    name: &str,
    rust_type: &str,
    pointer: &str,
    unsaid: &mut Found,
) -> Option<String> {
    if schema.omits_default_of(name) {
        let message = format!("`{name}` has a default that the document does not say");
        unsaid.push(inside(pointer, DEFAULT_OMITTED), message);
        return None;
    }
    let default = schema.default_of(name)?;
    if schema.requires(name) {
        let message = format!("`{name}` is required and has a default: in `flow!`, it is either");
        unsaid.push(inside(pointer, DEFAULT), message);
        return None;
    }
    let text = match rust_type.strip_prefix("Option<") {
        Some(_) => None,
        None => rust::value(default, rust_type),
    };
    if text.is_none() {
        let message = format!("the default of `{name}` is not a literal of `{rust_type}`");
        unsaid.push(inside(pointer, DEFAULT), message);
    }
    text
}
