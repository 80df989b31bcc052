//! The command `flows`.

use flow_spec::document::Schema;
use flow_spec::{FlowDocument, visible, visible_json};
use serde_json::{Value, json};

use super::{Program, Runnable, arguments};
use crate::output::{Outcome, print};

impl Program {
    pub(super) fn list(&self, arguments: &arguments::Flows) -> Result<Outcome, String> {
        if arguments.json {
            let flows: Value = self.flows.iter().map(|flow| document(&**flow)).collect();
            let catalog = serde_json::to_value(self.nodes.catalog());
            let catalog = catalog.map_err(|error| format!("the catalog is not JSON: {error}"))?;
            let json = json!({ "flows": flows, "catalog": catalog });
            print(&visible_json(format!("{json:#}\n")))?;
            return Ok(Outcome::Fine);
        }
        let mut text = String::new();
        for flow in &self.flows {
            text += &visible(&line(&**flow));
            text.push('\n');
        }
        let nodes: Vec<&str> = self.nodes.names().collect();
        if !nodes.is_empty() {
            text += &format!("for documents: {}\n", nodes.join(", "));
        }
        print(&text)?;
        Ok(Outcome::Fine)
    }
}

/// Returns the structure of a flow, or null for a custom flow without one.
fn document(flow: &Runnable) -> Value {
    serde_json::from_str(flow.structure()).unwrap_or_default()
}

/// Formats a flow as one line: `Expense(claim, limit?) -> (receipt?)  Pays a claim.`
fn line(flow: &Runnable) -> String {
    let Ok(document) = FlowDocument::parse_spec(flow.structure()) else {
        return flow.name().to_owned();
    };
    let description = document.description.unwrap_or_default();
    let about = match description.lines().next() {
        Some(first) => format!("  {}", first.trim()),
        None => String::new(),
    };
    format!(
        "{}({}) -> ({}){about}",
        flow.name(),
        values(&document.inputs),
        values(&document.outputs)
    )
}

fn values(schema: &Schema) -> String {
    let value = |(name, _, is_required): (&str, Option<&str>, bool)| {
        let optional = if is_required { "" } else { "?" };
        format!("{name}{optional}")
    };
    schema.values().map(value).collect::<Vec<_>>().join(", ")
}
