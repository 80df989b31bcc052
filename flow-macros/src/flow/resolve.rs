//! The flow and the contracts of its nodes become a graph, which `flow-spec` checks. Its diagnostics speak of sites;
//! here is written down where the user wrote each.

use flow_spec::{
    Action, CheckedGraph, Code, DEFAULT_ACTION, Edge, EdgePart, From, Graph, Input, Node, NodeId,
    NodeKind, Output, Read, ReadMode, Site, To, Write,
};
use proc_macro2::Span;
use quote::ToTokens as _;
use syn::{Ident, LitStr};

use crate::contract::{Contract, Kind, ReadPort, WritePort};
use crate::names::{is_type_name, path_text, plain};
use crate::node::type_text;
use crate::report::Report;

use super::instances::{Instance, Instances, path_key};
use super::syntax::{EdgeSyntax, FlowSyntax, Mapping, NodeSource, Parameter, StepSyntax};

/// A flow without mistakes.
pub(crate) struct Resolved<'a> {
    pub(crate) graph: CheckedGraph,
    /// The contract of each node.
    pub(crate) contracts: Vec<&'a Contract>,
}

/// Builds the graph and has it checked. Nothing, if there are mistakes.
pub(crate) fn resolve<'a>(
    flow: &FlowSyntax,
    instances: &Instances,
    contracts: &'a [Contract],
    report: &mut Report,
) -> Option<Resolved<'a>> {
    let keys: Vec<String> = instances.paths().iter().map(path_key).collect();
    let of_instance = |instance: &Instance| {
        let index = keys
            .iter()
            .position(|key| *key == path_key(&instance.path))?;
        contracts.get(index)
    };
    let Some(contracts) = instances
        .list
        .iter()
        .map(of_instance)
        .collect::<Option<Vec<_>>>()
    else {
        report.text(
            flow.name.span(),
            "the nodes of this flow did not tell their contracts: update `flow-runtime`",
        );
        return None;
    };
    let mut nodes = Vec::new();
    for (instance, contract) in instances.list.iter().zip(&contracts) {
        check_declaration(flow, instance, contract, report);
        nodes.push(node(flow, instance, contract));
    }
    let graph = Graph {
        name: flow.name.to_string(),
        inputs: flow.inputs.iter().map(input).collect(),
        outputs: flow.outputs.iter().map(output).collect(),
        nodes,
        edges: flow
            .edges
            .iter()
            .filter_map(|edge| self::edge(edge, instances))
            .collect(),
    };
    match flow_spec::check(graph) {
        Ok(graph) => report.is_empty().then_some(Resolved { graph, contracts }),
        Err(diagnostics) => {
            for diagnostic in diagnostics {
                let mut text = diagnostic.to_string();
                for (site, what) in &diagnostic.related {
                    text.push_str(&format!(
                        "\nnote: {what} (line {})",
                        span_of(*site, flow, instances).start().line
                    ));
                }
                report.text(span_of(diagnostic.site, flow, instances), text);
            }
            None
        }
    }
}

/// Where a site is written.
fn span_of(site: Site, flow: &FlowSyntax, instances: &Instances) -> Span {
    let place = match site {
        Site::Input(index) => flow.inputs.get(index).map(|input| input.name.span()),
        Site::Output(index) => flow.outputs.get(index).map(|output| output.name.span()),
        Site::Node(NodeId(index)) => instances.list.get(index).map(Instance::span),
        Site::Edge(index, part) => flow.edges.get(index).map(|edge| match part {
            EdgePart::From => edge.from.span(),
            EdgePart::Action => edge.action.as_ref().map_or(edge.arrow, LitStr::span),
            EdgePart::To => edge.to.span(),
        }),
        _ => None,
    };
    place.unwrap_or_else(|| flow.name.span())
}

fn input(parameter: &Parameter) -> Input {
    let Parameter {
        name, ty, optional, ..
    } = parameter;
    Input {
        key: plain(name),
        optional: *optional,
        rust_type: type_text(ty),
    }
}

fn output(parameter: &Parameter) -> Output {
    let Parameter {
        name, ty, optional, ..
    } = parameter;
    Output {
        key: plain(name),
        optional: *optional,
        rust_type: type_text(ty),
    }
}

fn edge(edge: &EdgeSyntax, instances: &Instances) -> Option<Edge> {
    let node = |path| instances.of(path).map(NodeId);
    let from = match &edge.from {
        StepSyntax::Start(_) => From::Start,
        StepSyntax::Node(path) => From::Node(node(path)?),
        _ => return None,
    };
    let to = match &edge.to {
        StepSyntax::End(_, label) => To::End(
            label
                .as_ref()
                .map_or_else(|| DEFAULT_ACTION.to_owned(), LitStr::value),
        ),
        StepSyntax::Node(path) => To::Node(node(path)?),
        _ => return None,
    };
    Some(Edge {
        from,
        action: edge.action.as_ref().map(LitStr::value),
        to,
    })
}

/// The mapping of a declared node.
pub(crate) fn mapping<'a>(flow: &'a FlowSyntax, instance: &Instance) -> &'a [Mapping] {
    match instance.declared(flow).map(|node| &node.source) {
        Some(NodeSource::Path { mapping, .. }) => mapping,
        _ => &[],
    }
}

/// The key that a port reads or writes: its own name, unless the mapping says otherwise.
pub(crate) fn key_of<'a>(mapping: &'a [Mapping], port: &'a Ident, reads: bool) -> &'a Ident {
    let mapped = mapping
        .iter()
        .find(|one| one.reads == reads && plain(&one.port) == plain(port));
    mapped.map_or(port, |one| &one.key)
}

fn node(flow: &FlowSyntax, instance: &Instance, contract: &Contract) -> Node {
    let mapping = mapping(flow, instance);
    let read = |port: &ReadPort| Read {
        key: plain(key_of(mapping, &port.name, true)),
        mode: if port.mode.takes() {
            ReadMode::Take
        } else {
            ReadMode::Borrow
        },
        optional: port.mode.optional(),
        rust_type: port.rust_type.clone(),
    };
    let write = |port: &WritePort| Write {
        key: plain(key_of(mapping, &port.name, false)),
        optional: port.optional,
        rust_type: port.rust_type.clone(),
    };
    let always = || contract.writes.iter().map(write);
    let mut actions: Vec<Action> = contract
        .actions
        .iter()
        .map(|action| Action {
            name: action.name.value(),
            writes: always().chain(action.writes.iter().map(write)).collect(),
        })
        .collect();
    if actions.is_empty() {
        actions.push(Action {
            name: DEFAULT_ACTION.to_owned(),
            writes: always().collect(),
        });
    }
    let timeout = instance
        .declared(flow)
        .is_some_and(|node| node.settings.timeout.is_some());
    let mut node = Node {
        // As edges speak of it.
        name: match instance.declaration {
            Some(_) => plain(&instance.name),
            None => path_text(&instance.path),
        },
        kind: match contract.kind {
            Kind::Flow => NodeKind::Flow(
                instance
                    .path
                    .segments
                    .last()
                    .map(|last| last.ident.to_string())
                    .unwrap_or_default(),
            ),
            Kind::Function | Kind::Type => NodeKind::Step,
        },
        reads: contract.reads.iter().map(read).collect(),
        actions,
        fallible: contract.fallible || timeout,
    };
    forgive_mapping(mapping, contract, &mut node);
    node
}

/// A port that is mapped wrongly is reported, and that is enough: the node is taken to read and write what it needs.
fn forgive_mapping(mapping: &[Mapping], contract: &Contract, node: &mut Node) {
    for (index, one) in mapping.iter().enumerate() {
        if ports(contract, one.reads).contains(&plain(&one.port)) && !is_mapped_before(mapping, index) {
            continue;
        }
        let key = plain(&one.key);
        node.reads.push(Read {
            key: key.clone(),
            mode: ReadMode::Borrow,
            optional: false,
            rust_type: String::new(),
        });
        for read in &mut node.reads {
            read.optional = true;
        }
        for action in &mut node.actions {
            action.writes.push(Write {
                key: key.clone(),
                optional: false,
                rust_type: String::new(),
            });
        }
    }
}

/// The names of what a node reads, or writes.
fn ports(contract: &Contract, reads: bool) -> Vec<String> {
    if reads {
        return contract.reads.iter().map(|read| plain(&read.name)).collect();
    }
    let of_actions = contract.actions.iter().flat_map(|action| &action.writes);
    let writes = contract.writes.iter().chain(of_actions);
    writes.map(|write| plain(&write.name)).collect()
}

/// Whether the mapping speaks of the same port before.
fn is_mapped_before(mapping: &[Mapping], index: usize) -> bool {
    let one = &mapping[index];
    mapping[..index]
        .iter()
        .any(|earlier| earlier.reads == one.reads && plain(&earlier.port) == plain(&one.port))
}

/// What a declaration says beside the wiring: a value, a mapping, settings.
fn check_declaration(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    let is_function = contract.kind == Kind::Function;
    if let Some(last) = instance.path.segments.last() {
        if is_function == is_type_name(&last.ident) {
            let (what, letter) = if is_function {
                ("function", "small")
            } else {
                ("type", "capital")
            };
            let message = format!("`{}` is a {what}, and does not look like one", last.ident);
            let help = format!(
                "a flow tells functions from types by their names: start this one with a {letter} letter"
            );
            report.error(Code::Name, last.ident.span(), message, help);
        }
    }
    let Some(declaration) = instance.declared(flow) else {
        return;
    };
    if let (
        NodeSource::Path {
            value: Some(value),
            path,
            ..
        },
        true,
    ) = (&declaration.source, is_function)
    {
        let message = format!(
            "`{}` is a function and has no value",
            crate::names::path_text(path)
        );
        let first = value
            .to_token_stream()
            .into_iter()
            .next()
            .map_or_else(|| declaration.name.span(), |token| token.span());
        report.error(Code::NamesNothing, first, message, "remove `= …`");
    }
    check_mapping(mapping(flow, instance), instance, contract, report);
    let name = &instance.name;
    let settings = &declaration.settings;
    if let Some((span, retry)) = &settings.retry {
        if !contract.attempts {
            let message = format!("`{name}` cannot fail, so there is nothing to retry");
            let help =
                "let it return a `Result`, give it a `timeout` in its `#[node]`, or remove `retry`";
            report.error(Code::CannotFail, *span, message, help);
        } else if contract.once && retry.repeats() {
            let message = format!("`{name}` takes a value that its first attempt uses up");
            let help = "read it by reference, or put the `retry` on its `#[node]`, so that each attempt gets a clone";
            report.error(Code::TakenTooEarly, *span, message, help);
        }
    }
    for (span, setting) in [
        (settings.concurrency.map(|(span, _)| span), "concurrency"),
        (settings.collect_errors, "collect_errors"),
    ] {
        if let Some(span) = span {
            let message = format!("`{setting}` does nothing for `{name}`, which is a single step");
            report.error(
                Code::NamesNothing,
                span,
                message,
                "it is a setting of a fork or of a loop over items",
            );
        }
    }
}

fn check_mapping(
    mapping: &[Mapping],
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    let name = &instance.name;
    for (index, one) in mapping.iter().enumerate() {
        let port = plain(&one.port);
        let ports = ports(contract, one.reads);
        let verb = if one.reads { "reads" } else { "writes" };
        if !ports.contains(&port) {
            let message = format!("`{name}` {verb} no `{port}`");
            let (other, arrow) = match one.reads {
                true => ("writes", "->"),
                false => ("reads", "<-"),
            };
            let help = match ports.is_empty() {
                _ if self::ports(contract, !one.reads).contains(&port) => {
                    format!("it {other} `{port}`: write `{port} {arrow} {}`", one.key)
                }
                true => format!("it {verb} nothing: remove this"),
                false => flow_spec::did_you_mean(&port, ports.iter().map(String::as_str))
                    .unwrap_or_default()
                    .replace('"', "`"),
            };
            report.error(Code::NamesNothing, one.port.span(), message, help);
        } else if is_mapped_before(mapping, index) {
            let message = format!("`{port}` is mapped twice");
            report.error(Code::Name, one.port.span(), message, "remove one of them");
        }
    }
    let sets = contract
        .actions
        .iter()
        .map(|action| &action.writes[..])
        .chain([&[][..]]);
    let mut reported: Vec<String> = Vec::new();
    for set in sets {
        let mut keys: Vec<(String, &Ident)> = Vec::new();
        for port in contract.writes.iter().chain(set) {
            let key = plain(key_of(mapping, &port.name, false));
            if let Some((_, other)) = keys.iter().find(|(earlier, _)| *earlier == key) {
                let place = mapping
                    .iter()
                    .rev()
                    .find(|one| !one.reads && plain(&one.key) == key);
                if !reported.contains(&key) {
                    let message = format!(
                        "`{name}` writes both `{other}` and `{}` to `{key}`",
                        port.name
                    );
                    let span = place.map_or_else(|| instance.span(), |one| one.key.span());
                    report.error(Code::MappingClash, span, message, "give each its own key");
                    reported.push(key.clone());
                }
            }
            keys.push((key, &port.name));
        }
    }
}
