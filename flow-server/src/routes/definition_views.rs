//! Bodies of requests and answers about definitions.

use flow_definitions::{Content, DamagedDefinition, Definition, Finding, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::extract::present;
use crate::problem::Problem;

/// A flow that operators edit. Times are in milliseconds since 1970 (UTC).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DefinitionView {
    /// Its id, a UUID.
    id: String,
    /// The name of the flow.
    name: String,
    /// The description of the flow, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// `draft` or `active`.
    status: String,
    /// The number of its changes, counting its creation.
    revision: u64,
    created_at_ms: u64,
    updated_at_ms: u64,
    /// The document of the flow. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    flow: Option<Value>,
    /// The places of nodes on a canvas, each with `x` and `y`, by id. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    layout: Option<Value>,
    /// Values for inputs of the flow, in place of their defaults. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    configuration: Option<Value>,
    /// The problems of the definition, errors first. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<FindingView>>,
}

impl DefinitionView {
    pub(super) fn listed(definition: &Definition) -> Self {
        let status = match definition.content.status {
            Status::Draft => "draft",
            Status::Active => "active",
        };
        DefinitionView {
            id: definition.id.to_string(),
            name: definition.name().to_owned(),
            description: definition.description().map(str::to_owned),
            status: status.to_owned(),
            revision: definition.revision,
            created_at_ms: definition.created_at_ms,
            updated_at_ms: definition.updated_at_ms,
            flow: None,
            layout: None,
            configuration: None,
            findings: None,
        }
    }

    pub(super) fn whole(definition: Definition, findings: Vec<Finding>) -> Self {
        let view = DefinitionView::listed(&definition);
        let content = definition.content;
        DefinitionView {
            flow: Some(content.flow),
            layout: Some(json!(content.layout)),
            configuration: Some(content.configuration.into()),
            findings: Some(findings.into_iter().map(FindingView::of).collect()),
            ..view
        }
    }
}

/// The definitions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DefinitionsView {
    pub(super) definitions: Vec<DefinitionView>,
    /// The definitions that cannot be read.
    pub(super) damaged: Vec<DamagedView>,
}

impl DefinitionsView {
    pub(super) fn of(stored: Vec<Result<Definition, DamagedDefinition>>) -> Self {
        let mut view = DefinitionsView {
            definitions: Vec::new(),
            damaged: Vec::new(),
        };
        for stored in stored {
            match stored {
                Ok(definition) => view.definitions.push(DefinitionView::listed(&definition)),
                Err(DamagedDefinition {
                    id, name, reason, ..
                }) => {
                    view.damaged.push(DamagedView { id, name, reason });
                }
            }
        }
        view
    }
}

/// A definition that cannot be read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DamagedDefinitionView)]
pub(super) struct DamagedView {
    id: String,
    name: String,
    /// The reason why it cannot be read.
    reason: String,
}

/// Another place that is related to a problem.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RelatedView {
    /// The place in the definition, as a JSON pointer.
    pointer: String,
    /// The relation to the problem.
    message: String,
}

/// A problem of a definition.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FindingView {
    /// `error`: the definition can neither be active nor start. `warning`: a part has no effect.
    severity: String,
    /// The code of the problem, such as `F004`.
    code: String,
    /// A message that says what is wrong.
    message: String,
    /// The place in the definition, as a JSON pointer.
    pointer: String,
    /// Facts that explain the problem.
    notes: Vec<String>,
    /// Other places that are related to it.
    related: Vec<RelatedView>,
    /// A hint how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl FindingView {
    pub(super) fn of(finding: Finding) -> Self {
        let severity = if finding.is_error() {
            "error"
        } else {
            "warning"
        };
        let related = finding.problem.related.into_iter();
        let related = related.map(|(pointer, message)| RelatedView { pointer, message });
        FindingView {
            severity: severity.to_owned(),
            code: finding.problem.code.to_string(),
            message: finding.problem.message,
            pointer: finding.problem.pointer,
            notes: finding.problem.notes,
            related: related.collect(),
            help: finding.problem.help,
        }
    }
}

/// The problems of a definition.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FindingsView {
    pub(super) findings: Vec<FindingView>,
}

/// The place of a node on a canvas.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes what flow-definitions reads")]
pub(super) struct PlaceBody {
    x: f64,
    y: f64,
}

/// A JSON Merge Patch (RFC 7396) of the editable content of a definition.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes what flow-definitions reads")]
pub(super) struct PatchBody {
    #[schema(value_type = Option<Object>)]
    flow: Value,
    #[schema(value_type = Option<String>)]
    status: Value,
    #[schema(value_type = Option<Object>)]
    layout: Value,
    #[schema(value_type = Option<Object>)]
    configuration: Value,
}

/// The editable content of a definition.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ContentBody {
    /// The document of the flow: an object with a `name`. In a draft, the rest may be wrong.
    #[schema(value_type = Value)]
    flow: Value,
    /// `draft`, the default, or `active`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false)]
    status: Option<String>,
    /// The places of nodes on a canvas, each with `x` and `y`, by id.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<std::collections::HashMap<String, PlaceBody>>, nullable = false)]
    layout: Option<Value>,
    /// Values for inputs of the flow, in place of their defaults.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Object>, nullable = false)]
    configuration: Option<Value>,
}

impl ContentBody {
    pub(super) fn content(&self) -> Result<Content, Problem> {
        check_places(self.layout.as_ref())?;
        let read = serde_json::from_value(json!(self));
        read.map_err(|error| Problem::bad_request(format!("the body does not fit: {error}")))
    }
}

/// Refuses places that are lists, which serde would read as `x` and `y`.
pub(super) fn check_places(layout: Option<&Value>) -> Result<(), Problem> {
    let places = layout.and_then(Value::as_object).into_iter().flatten();
    match places.into_iter().find(|(_, place)| place.is_array()) {
        Some((node, _)) => Err(Problem::bad_request(format!(
            "the body does not fit: the place of `{node}` is a list, and has to be an object"
        ))),
        None => Ok(()),
    }
}
