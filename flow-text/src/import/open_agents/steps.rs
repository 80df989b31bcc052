//! A step of a workflow in either format, and the fields of both formats.

use flow_spec::ERROR_ACTION;
use flow_spec::document::__private::Object;
use flow_spec::document::SettingsDocument;

use crate::import::draft::{MOST_MILLISECONDS, Route};

/// The target that ends a workflow.
pub(super) const END: &str = "end";

/// The types of steps that a flow can have.
pub(super) const TYPES: [&str; 4] = ["agent", "approval", "parallel", "condition"];

/// A step of a workflow.
pub(super) struct Step {
    pub(super) id: String,
    pub(super) pointer: String,
    pub(super) kind: Kind,
    /// The targets: the ids of steps, or [`END`].
    pub(super) routes: Vec<Route>,
}

pub(super) enum Kind {
    Agent(Box<Agent>),
    Approval {
        message: String,
        timeout: Option<String>,
    },
    /// Agents that run at the same time.
    Parallel(Vec<Agent>),
    Condition {
        cases: Vec<Case>,
        /// The action if no case is true.
        otherwise: String,
    },
}

/// A registered node that runs under an id of its own.
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) agent: String,
    /// The pointer of the agent.
    pub(super) pointer: String,
    /// True if it is a step itself, and not just the name of an agent.
    pub(super) has_id: bool,
    pub(super) settings: SettingsDocument,
    /// The step whose result it gets.
    pub(super) input: Option<Input>,
}

/// The step whose result an agent gets.
pub(super) struct Input {
    pub(super) step: String,
    pub(super) pointer: String,
}

/// A condition in CEL, and its action.
pub(super) struct Case {
    pub(super) when: String,
    pub(super) action: String,
    /// The pointers of both.
    pub(super) pointers: [String; 2],
}

impl Step {
    /// The agents that it runs.
    pub(super) fn agents(&self) -> &[Agent] {
        match &self.kind {
            Kind::Agent(agent) => std::slice::from_ref(agent),
            Kind::Parallel(agents) => agents,
            Kind::Approval { .. } | Kind::Condition { .. } => &[],
        }
    }
}

/// A number of milliseconds, at least this many.
pub(super) fn milliseconds(object: &mut Object<'_, '_>, field: &str, least: u64) -> Option<u64> {
    let expected = match least {
        0 => format!("a number of milliseconds, up to {MOST_MILLISECONDS}"),
        _ => format!("a number of milliseconds, from {least} to {MOST_MILLISECONDS}"),
    };
    object.value(field, &expected, |value| {
        let range = least..=MOST_MILLISECONDS;
        value.as_u64().filter(|number| range.contains(number))
    })
}

/// The target of an action. It is required: a missing one does not mean that of success.
pub(super) fn required(object: &mut Object<'_, '_>, action: &str) -> Option<Route> {
    let help = format!("name the step that follows then, or `{END}`");
    object.require(&format!("on_{action}"), &help);
    route(object, action)
}

/// The target of an action. `None` if it is missing.
pub(super) fn route(object: &mut Object<'_, '_>, action: &str) -> Option<Route> {
    let field = format!("on_{action}");
    let to = object.name(&field)?;
    let (action, label) = match action {
        "success" => (flow_spec::DEFAULT_ACTION, flow_spec::DEFAULT_ACTION),
        "error" => (ERROR_ACTION, "failed"),
        "reject" => (action, "rejected"),
        _ => (action, flow_spec::DEFAULT_ACTION),
    };
    Some(Route {
        action: action.to_owned(),
        to: Some(to),
        label,
        pointer: object.at(&field),
    })
}
