//! `cargo flow list`: lists flows with their inputs, outputs and ends.

use flow_spec::document::Schema;
use flow_spec::{FlowDocument, visible_json};
use serde_json::{Value, json};

use crate::args::List;
use crate::table::table;
use crate::{Error, Outcome, Screen, target};

pub(crate) fn list(options: &List, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let flows = target::flows(&options.source)?;
    if options.json {
        let list: Value = flows.as_slice().iter().map(as_json).collect();
        screen.data(&visible_json(format!("{list:#}\n")))?;
    } else {
        let headings = ["FLOW", "NAMESPACE", "NODES", "INPUTS", "OUTPUTS", "ENDS"];
        let rows: Vec<Vec<Vec<String>>> = flows.as_slice().iter().map(row).collect();
        screen.show(&table(&headings, &rows))?;
    }
    Ok(Outcome::Fine)
}

fn row(flow: &FlowDocument) -> Vec<Vec<String>> {
    let ends = flow.end_labels().into_iter().map(str::to_owned);
    vec![
        vec![flow.title().to_owned()],
        vec![flow.namespace.clone()],
        vec![flow.nodes.len().to_string()],
        values(&flow.inputs),
        values(&flow.outputs),
        ends.collect(),
    ]
}

/// Formats values: `claim: Claim`, or `policy?: Policy` if optional.
fn values(schema: &Schema) -> Vec<String> {
    let values = schema.values().map(|(name, rust_type, required)| {
        let mark = if required { "" } else { "?" };
        match rust_type {
            Some(rust_type) => format!("{name}{mark}: {rust_type}"),
            None => format!("{name}{mark}"),
        }
    });
    values.collect()
}

fn as_json(flow: &FlowDocument) -> Value {
    let values = |schema: &Schema| -> Value {
        let values = schema.values().map(
            |(name, rust_type, required)| json!({ "name": name, "rustType": rust_type, "required": required }),
        );
        values.collect()
    };
    let nodes: Vec<&str> = flow.nodes.iter().map(|node| node.id.as_str()).collect();
    json!({
        "name": flow.title(),
        "namespace": flow.namespace,
        "description": flow.description,
        "nodes": nodes,
        "inputs": values(&flow.inputs),
        "outputs": values(&flow.outputs),
        "ends": flow.end_labels(),
    })
}
