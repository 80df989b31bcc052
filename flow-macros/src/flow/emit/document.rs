//! The flow's JSON, written here as text except for the parts that only a compiler can assemble.
//!
//! rustc knows the JSON of a flow inside a flow, but we do not. The text is cut at these places,
//! and the runtime joins the parts at compile time.

use flow_spec::document::{
    ADD, ActionDocument, DEFAULT, DEFAULT_OMITTED, EdgeDocument, EndDocument, MappingsDocument,
    Property, Schema, SettingsDocument, VERSION, property, types,
};
use flow_spec::{
    DEFAULT_ACTION, Edge, EdgeSource, EdgeTarget, FlowDocument, NodeDocument, NodeId,
    TIMEOUT_ACTION,
};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use serde_json::{Map, Value, json};

use crate::contract::{ActionPort, Contract, External, Kind, WritePort};
use crate::documentation::documentation;
use crate::names::{here, plain};
use crate::settings::duration_text;
use crate::text::type_text;

use crate::flow::defaults;
use crate::flow::instances::{Instance, InstanceKind, RaceBranch};
use crate::flow::items::label_of;
use crate::flow::mapped::{adds, key_of, mapping};
use crate::flow::plan::Plan;
use crate::flow::printed::printed;
use crate::flow::syntax::{BranchSyntax, Mapping, Parameter};
use crate::flow::types::node_type as type_of;

/// The flow's JSON from its name on, in parts: texts, some of them followed by the flow of a node.
pub(super) fn parts(plan: &Plan<'_>) -> TokenStream {
    let text = document(plan).to_compact_json();
    let begin = format!("{{\"version\":\"{VERSION}\",");
    let mut rest = text.strip_prefix(&begin).unwrap_or(&text);
    let mut parts = Vec::new();
    let flows = plan
        .nodes()
        .filter(|(_, _, contract)| contract.kind == Kind::Flow);
    for (id, instance, _) in flows {
        let flow = format!("\"internalFlow\":{}", placeholder(id).to_compact_json());
        let Some((before, after)) = rest.split_once(&flow) else {
            continue;
        };
        let ty = type_of(plan.flow, instance);
        parts.push(quote_spanned!(here(instance.span)=> #before flow #ty));
        rest = after;
    }
    parts.push(quote!(#rest));
    quote!(#(#parts,)*)
}

/// The name of a node in the document. A node that only a loop knows is named after the loop and
/// itself, which is unique.
pub(super) fn id(instance: &Instance) -> String {
    if instance.hidden {
        instance.shown.replace('.', "-")
    } else {
        plain(&instance.name)
    }
}

/// A placeholder for the flow of a node.
fn placeholder(NodeId(node): NodeId) -> FlowDocument {
    // No name contains this character, which JSON writes as an escape.
    FlowDocument::new(format!("\u{1}{node}"), "")
}

fn document(plan: &Plan<'_>) -> FlowDocument {
    let flow = plan.flow;
    let mut document = FlowDocument {
        description: documentation(&flow.attributes),
        inputs: signature(&flow.inputs),
        outputs: signature(&flow.outputs),
        ..FlowDocument::new(flow.name.to_string(), "")
    };
    document.nodes = plan
        .nodes()
        .map(|(id, instance, contract)| node(plan, id, instance, contract))
        .collect();
    for edge in &plan.resolved.graph.graph().edges {
        route(plan, edge, &mut document);
    }
    document
}

fn signature(parameters: &[Parameter]) -> Schema {
    let mut schema = Schema::default();
    for parameter in parameters {
        let description = documentation(&parameter.attributes);
        let mut property = property(&type_text(&parameter.ty), description.as_deref());
        if let Some(default) = &parameter.default {
            let (keyword, value) = match defaults::json(default) {
                Some(value) => (DEFAULT, value),
                None => (DEFAULT_OMITTED, true.into()),
            };
            property.insert(keyword.to_owned(), value);
        }
        let is_required = !parameter.may_be_left_out();
        schema.insert(&plain(&parameter.name), property, is_required);
    }
    schema
}

/// Adds an edge as an edge, as an end, or as the entry.
fn route(plan: &Plan<'_>, edge: &Edge, document: &mut FlowDocument) {
    let id_of = |node: NodeId| id(&plan.instances[node]);
    let mappings = edge.mappings.iter();
    let mappings = mappings.map(|one| (one.source.clone(), one.key.clone().into()));
    let mappings = mappings.collect();
    match (&edge.from, &edge.to) {
        (EdgeSource::Start, EdgeTarget::Node(to)) => {
            document.entry_node_id = Some(id_of(*to));
            document.entry_mappings = mappings;
        }
        (EdgeSource::Start, EdgeTarget::End(label)) => document.ends.push(EndDocument {
            from: None,
            condition: None,
            label: label.clone(),
            mappings,
        }),
        (EdgeSource::Node(from), EdgeTarget::Node(to)) => document.edges.push(EdgeDocument {
            from: id_of(*from),
            to: id_of(*to),
            condition: edge.action().to_owned(),
            mappings,
        }),
        (EdgeSource::Node(from), EdgeTarget::End(label)) => document.ends.push(EndDocument {
            from: Some(id_of(*from)),
            condition: Some(edge.action().to_owned()),
            label: label.clone(),
            mappings,
        }),
    }
}

fn node(plan: &Plan<'_>, node: NodeId, instance: &Instance, contract: &Contract) -> NodeDocument {
    let mapping = mapping(plan.flow, instance);
    let is_flow = contract.kind == Kind::Flow;
    let shown = contract.about.shown.clone();
    NodeDocument {
        r#type: match contract.kind {
            Kind::Human => types::HUMAN.to_owned(),
            Kind::Signal => types::SIGNAL.to_owned(),
            _ => node_type(instance),
        },
        id: id(instance),
        description: contract.about.description.clone(),
        title: shown.title,
        icon: shown.icon,
        group: shown.group,
        tags: shown.tags,
        params: params(plan, node, contract),
        settings: SettingsDocument {
            undo: (plan.instances.undo_node(node)).map(|undo| id(&plan.instances[undo])),
            was: plan.resolved.graph.graph().node(node).was.clone(),
            ..settings(plan, instance, contract)
        },
        inputs: inputs(plan, mapping, contract),
        outputs: outputs(plan, node, mapping, contract),
        actions: Some(actions(plan, node, contract)),
        fallible: plan.resolved.graph.graph().node(node).fallible,
        mappings: MappingsDocument {
            inputs: renamed(mapping, true),
            outputs: renamed(mapping, false),
        },
        internal_flow: is_flow.then(|| Box::new(placeholder(node))),
        ..NodeDocument::default()
    }
}

fn node_type(instance: &Instance) -> String {
    match &instance.kind {
        InstanceKind::Node(path) => match path.segments.last() {
            Some(last) => {
                let text = type_text(&syn::parse_quote!(#last));
                text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
            }
            None => String::new(),
        },
        InstanceKind::Fork(_) => types::FORK.to_owned(),
        InstanceKind::Race(_) => types::FIRST.to_owned(),
        InstanceKind::Each { .. } => types::EACH.to_owned(),
        InstanceKind::Branch(_) => types::BRANCH.to_owned(),
        InstanceKind::Wait(_) => types::WAIT.to_owned(),
        InstanceKind::Undo => types::UNDO.to_owned(),
        InstanceKind::Commit => types::COMMIT.to_owned(),
    }
}

/// The parts of a node of the language. The settings of other nodes are values, which only a
/// running program knows.
fn params(plan: &Plan<'_>, node: NodeId, contract: &Contract) -> Map<String, Value> {
    let id_of = |node: &NodeId| id(&plan.instances[*node]);
    let params = match &plan.instances[node].kind {
        InstanceKind::Node(_) => match &contract.about.external {
            Some(External {
                expects,
                prompt: Some(prompt),
            }) => json!({ "prompt": prompt, "expects": expects }),
            Some(External {
                expects,
                prompt: None,
            }) => json!({ "expects": expects }),
            None => json!({}),
        },
        InstanceKind::Fork(branches) => {
            let branches: Vec<Vec<String>> = branches
                .iter()
                .map(|branch| branch.iter().map(id_of).collect())
                .collect();
            json!({ "branches": branches })
        }
        InstanceKind::Race(branches) => {
            let branch = |branch: &RaceBranch| {
                let steps: Vec<String> = branch.chain.iter().map(id_of).collect();
                let mut document = Map::from_iter([("steps".to_owned(), json!(steps))]);
                if let Some(action) = &branch.action {
                    document.insert("action".to_owned(), action.value().into());
                }
                document
            };
            json!({ "branches": branches.iter().map(branch).collect::<Vec<_>>() })
        }
        InstanceKind::Each { item, over } => {
            let body = id_of(&plan.instances.body(node));
            json!({ "item": plain(item), "over": plain(over), "body": body })
        }
        InstanceKind::Branch(index) => conditions(&plan.flow[*index]),
        InstanceKind::Wait(duration) => json!({ "duration": duration_text(*duration) }),
        InstanceKind::Undo | InstanceKind::Commit => json!({}),
    };
    match params {
        Value::Object(params) => params,
        _ => Map::new(),
    }
}

fn conditions(branch: &BranchSyntax) -> Value {
    let cases: Vec<Value> = branch
        .cases
        .iter()
        .map(|(when, action)| json!({ "when": printed(when.to_token_stream()), "action": action.value() }))
        .collect();
    json!({ "cases": cases, "otherwise": label_of(branch.otherwise.as_ref()) })
}

/// The settings of a node, unless the flow replaces them.
fn settings(plan: &Plan<'_>, instance: &Instance, contract: &Contract) -> SettingsDocument {
    let own = contract.about.settings.clone();
    let declared = instance.declared(plan.flow);
    // The settings of a loop are not those of its body.
    match declared.filter(|_| !instance.hidden) {
        Some(declared) => declared.settings.document(own),
        None => own,
    }
}

/// The schema of a value. Only rustc knows the type of a generic node's value.
fn value(rust_type: &str) -> Property {
    described(rust_type, None)
}

/// The schema of a value with a doc comment.
fn described(rust_type: &str, description: Option<&str>) -> Property {
    let known = !rust_type
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|word| word == "_");
    property(if known { rust_type } else { "" }, description)
}

fn inputs(plan: &Plan<'_>, mapping: &[Mapping], contract: &Contract) -> Schema {
    let mut schema = Schema::default();
    for port in &contract.reads {
        let name = plain(&port.name);
        // The conditions of a branch, a loop over items and a prompt read a key of any type.
        let rust_type = match port.rust_type.as_str() {
            "" => key_type(plan, &plain(key_of(mapping, &port.name, true))).unwrap_or_default(),
            rust_type => rust_type.to_owned(),
        };
        let value = described(&rust_type, port.description.as_deref());
        schema.insert(&name, value, !port.mode.optional());
    }
    schema
}

/// The type of a key, as its first writer spells it, or else as the source of an edge that writes
/// it.
fn key_type(plan: &Plan<'_>, key: &str) -> Option<String> {
    let mut seen = vec![key];
    let mut at = 0;
    while let Some(&key) = seen.get(at) {
        let written = written_type(plan, key);
        if written.is_some() {
            return written;
        }
        let edges = plan.resolved.graph.graph().edges.iter();
        for mapping in edges.flat_map(|edge| &edge.mappings) {
            if mapping.key == key && !seen.contains(&mapping.source.as_str()) {
                seen.push(&mapping.source);
            }
        }
        at += 1;
    }
    None
}

fn written_type(plan: &Plan<'_>, key: &str) -> Option<String> {
    let graph = plan.resolved.graph.graph();
    let inputs = graph.inputs.iter();
    let of_inputs = inputs.map(|input| (&input.key, &input.rust_type));
    let actions = graph.nodes.iter().flat_map(|node| &node.actions);
    let writes = actions.flat_map(|action| &action.writes);
    let writes = writes.filter(|write| !write.adds);
    let outputs = graph.outputs.iter();
    let mut all = of_inputs
        .chain(writes.map(|write| (&write.key, &write.rust_type)))
        .chain(outputs.map(|output| (&output.key, &output.rust_type)));
    let found = all.find(|(candidate, rust_type)| *candidate == key && !rust_type.is_empty());
    found.map(|(_, rust_type)| rust_type.clone())
}

fn outputs(plan: &Plan<'_>, node: NodeId, mapping: &[Mapping], contract: &Contract) -> Schema {
    let mut schema = Schema::default();
    let of_actions = contract.actions.iter().flat_map(|action| &action.writes);
    let ports: Vec<&WritePort> = match contract.kind {
        Kind::Flow => contract.outputs(),
        _ => contract.writes.iter().chain(of_actions).collect(),
    };
    let is_always_written = |port: &WritePort| {
        let mut actions = contract.actions.iter();
        contract.writes.iter().any(|one| one.name == port.name)
            || actions.all(|action| writes(action, port))
    };
    for port in ports {
        let rust_type = match &plan.instances[node].kind {
            InstanceKind::Each { .. } => results_type(plan, node),
            _ => port.rust_type.clone(),
        };
        let required = is_always_written(port);
        let mut value = value(&rust_type);
        if adds(mapping, port) {
            value.insert(ADD.to_owned(), true.into());
        }
        schema.insert(&plain(&port.name), value, required);
    }
    schema
}

fn writes(action: &ActionPort, port: &WritePort) -> bool {
    let same = |other: &WritePort| plain(&other.name) == plain(&port.name) && !other.optional;
    action.writes.iter().any(same)
}

/// The type of the results of a loop over items, if a single type describes them.
fn results_type(plan: &Plan<'_>, each: NodeId) -> String {
    let body = plan.instances.body(each);
    let (contract, body) = (&plan.resolved.contracts[body], &plan.instances[body]);
    let item = match (contract.kind, &contract.writes[..], &contract.actions[..]) {
        _ if contract.returns_nothing() => "()".to_owned(),
        (Kind::Flow, [one], [end]) if end.writes.is_empty() => one.rust_type.clone(),
        (Kind::Flow, [], [ActionPort { writes, .. }]) if writes.len() == 1 => {
            format!("Option<{}>", writes[0].rust_type)
        }
        (Kind::Flow, ..) => format!("{}Output", node_type(body)),
        (_, [one], []) => one.rust_type.clone(),
        _ => return String::new(),
    };
    if plan.instances[each].collects_errors(plan.flow) {
        format!("Vec<Result<{item}, NodeError>>")
    } else {
        format!("Vec<{item}>")
    }
}

/// The actions that it can take, each with its writes. A loop over items collects the results of
/// its body, whatever their actions.
fn actions(plan: &Plan<'_>, node: NodeId, contract: &Contract) -> Vec<ActionDocument> {
    let action = |name: String, own: &[WritePort]| {
        let ports = || contract.writes.iter().chain(own);
        let names = |optional: bool| {
            ports()
                .filter(|port| port.optional == optional)
                .map(|port| plain(&port.name))
                .collect()
        };
        ActionDocument {
            name,
            writes: names(false),
            may_write: names(true),
        }
    };
    let mut actions: Vec<ActionDocument> = contract
        .actions
        .iter()
        .map(|own| action(own.name.value(), &own.writes))
        .collect();
    if actions.is_empty() {
        actions.push(action(DEFAULT_ACTION.to_owned(), &[]));
    }
    let decided = &plan.resolved.graph.graph().node(node).actions;
    if contract.times_out() && decided.iter().any(|one| one.name == TIMEOUT_ACTION) {
        actions.push(ActionDocument {
            name: TIMEOUT_ACTION.to_owned(),
            ..ActionDocument::default()
        });
    }
    actions
}

fn renamed(mapping: &[Mapping], reads: bool) -> Map<String, Value> {
    mapping
        .iter()
        .filter(|one| one.reads == reads)
        // `{ log -> +log }` only says that the value is added.
        .filter(|one| !one.adds || plain(&one.port) != plain(&one.key))
        .map(|one| (plain(&one.port), plain(&one.key).into()))
        .collect()
}
