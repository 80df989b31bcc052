//! A change, and its effects.

use std::fmt;

use serde::Serialize;

use crate::visible::visible;

/// Every change between two versions of a flow, in the order of the new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The changes.
    pub changes: Vec<Change>,
}

impl Diff {
    /// Returns `true` if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns `true` if a change breaks callers or executions.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(Change::is_breaking)
    }
}

/// One change of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The path of the changed node: `research.agent`. Empty if the flow itself changed.
    pub path: String,
    /// The previous path of the node, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// The place of the change, as a JSON pointer into the new document, or into the old one if
    /// something was removed.
    pub pointer: String,
    /// The part of the flow that changed.
    pub part: Part,
    /// The kind of change.
    pub kind: Kind,
    /// The change in one sentence without a full stop.
    pub message: String,
    /// The effect on code that calls the flow.
    pub callers: Effect,
    /// The effect on executions that were started with the old version and continue with the new
    /// one.
    pub executions: Effect,
    /// The nodes after the change, if only executions that have passed one of them break: the
    /// recorded outcome of such a node would be useless.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}

/// A part of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Part {
    /// The flow itself: its name, its namespace, its description.
    Flow,
    /// A value that the caller passes.
    Input,
    /// A value that the caller receives.
    Output,
    /// The label of an end.
    End,
    /// A signal that the caller sends.
    Signal,
    /// A node: its name, its type, its description.
    Node,
    /// A value that a node reads.
    Read,
    /// A value that a node writes.
    Write,
    /// An action that a node can take.
    Action,
    /// A setting of how a node runs.
    Setting,
    /// The value of a node's own setting, or a part of a node of the language.
    Param,
    /// The node that runs first.
    Entry,
    /// An edge or an end.
    Edge,
}

/// The kind of change of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Kind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed,
    /// Its values have another type.
    Retyped,
    /// Something else about it is different.
    Changed,
}

/// The effect of a change on someone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// It does not affect them.
    #[default]
    None,
    /// They continue without changes.
    Compatible,
    /// They have to change, or may fail.
    Breaking,
}

impl Change {
    /// Returns `true` if it breaks callers or executions.
    pub fn is_breaking(&self) -> bool {
        self.concerns() == Effect::Breaking
    }

    pub(super) fn for_callers(mut self, effect: Effect) -> Self {
        self.callers = effect;
        self
    }

    pub(super) fn for_executions(mut self, effect: Effect) -> Self {
        self.executions = effect;
        self
    }

    /// Makes the change break executions that have passed one of these nodes, if there are any.
    pub(super) fn behind(mut self, passed: Vec<String>) -> Self {
        if !passed.is_empty() {
            self.executions = Effect::Breaking;
            self.passed = passed;
        }
        self
    }

    /// The worst effect on anyone.
    fn concerns(&self) -> Effect {
        self.callers.max(self.executions)
    }
}

/// Formats the sentence, and the effects. Text quoted from the documents is [`visible`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.message))?;
        let concerns = self.concerns();
        let those = [(self.callers, "callers"), (self.executions, "executions")];
        let those = those.into_iter().filter(|(effect, _)| *effect == concerns);
        match concerns {
            Effect::None => Ok(()),
            Effect::Compatible | Effect::Breaking => {
                let those: Vec<&str> = those.map(|(_, those)| those).collect();
                write!(f, " ({}", those.join(", "))?;
                if !self.passed.is_empty() {
                    let passed = self.passed.iter().map(|path| format!("`{path}`"));
                    let passed: Vec<String> = passed.collect();
                    write!(f, " that have passed {}", visible(&passed.join(" or ")))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Formats the changes for people, the breaking ones first.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no changes\n");
        }
        let (breaking, compatible): (Vec<&Change>, Vec<&Change>) =
            self.changes.iter().partition(|change| change.is_breaking());
        for (title, changes) in [("breaking", breaking), ("compatible", compatible)] {
            if changes.is_empty() {
                continue;
            }
            writeln!(f, "{title}:")?;
            for change in changes {
                writeln!(f, "  {change}")?;
            }
        }
        Ok(())
    }
}
