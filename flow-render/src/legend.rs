//! The legend: the marks of a picture, with their meanings.

use std::collections::BTreeSet;

use flow_spec::ERROR_ACTION;
use flow_spec::document::types;

use super::scene::{Inside, Member, Scene};

/// Something in a picture that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Step,
    Branch,
    Wait,
    Human,
    Signal,
    Undo,
    Commit,
    Flow,
    Fork,
    Race,
    Each,
    /// An arrow for `error`.
    Error,
    /// An arrow that leads back, where the picture has a direction.
    Back,
    /// An arrow to an undo node.
    UndoneBy,
    /// The texts at an arrow.
    Action,
    Condition,
    Keys,
}

impl Mark {
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Mark::Step => "a node",
            Mark::Branch => "chooses by conditions",
            Mark::Wait => "a pause",
            Mark::Human => "asks a person",
            Mark::Signal => "waits for a signal",
            Mark::Undo => "undoes what was done",
            Mark::Commit => "keeps what was done",
            Mark::Flow => "a flow",
            Mark::Fork => "runs its branches at the same time",
            Mark::Race => "runs its branches until the first one is done, which decides",
            Mark::Each => "runs once for each item",
            Mark::Error => "taken on an error",
            Mark::Back => "leads back",
            Mark::UndoneBy => "leads to the undo node",
            Mark::Action => "the action that takes the arrow",
            Mark::Condition => "its condition",
            Mark::Keys => "keys that are written before it and read after it",
        }
    }
}

/// The marks that a scene has, in their order.
pub(super) fn marks(scene: &Scene<'_>) -> BTreeSet<Mark> {
    let mut marks = BTreeSet::new();
    add_scene(scene, &mut marks);
    marks
}

fn add_scene(scene: &Scene<'_>, marks: &mut BTreeSet<Mark>) {
    for arrow in &scene.arrows {
        let label = &arrow.label;
        marks.extend((arrow.action == Some(ERROR_ACTION)).then_some(Mark::Error));
        marks.extend(label.action.is_some().then_some(Mark::Action));
        marks.extend(label.condition.is_some().then_some(Mark::Condition));
        marks.extend(label.keys.is_some().then_some(Mark::Keys));
    }
    for member in &scene.members {
        add_member(member, marks);
    }
}

fn add_member(member: &Member<'_>, marks: &mut BTreeSet<Mark>) {
    marks.insert(match (&member.inside, member.node.r#type.as_str()) {
        (Inside::Flow(_), _) => Mark::Flow,
        (Inside::Fork(_), types::FIRST) => Mark::Race,
        (Inside::Fork(_), _) => Mark::Fork,
        (Inside::Each(_), _) => Mark::Each,
        (Inside::Nothing, types::BRANCH) => Mark::Branch,
        (Inside::Nothing, types::WAIT) => Mark::Wait,
        (Inside::Nothing, types::HUMAN) => Mark::Human,
        (Inside::Nothing, types::SIGNAL) => Mark::Signal,
        (Inside::Nothing, types::UNDO) => Mark::Undo,
        (Inside::Nothing, types::COMMIT) => Mark::Commit,
        (Inside::Nothing, _) if member.node.is_flow() => Mark::Flow,
        (Inside::Nothing, _) => Mark::Step,
    });
    if let Some(undo) = &member.undo {
        marks.insert(Mark::UndoneBy);
        add_member(undo, marks);
    }
    match &member.inside {
        Inside::Nothing => {}
        Inside::Flow(scene) => add_scene(scene, marks),
        Inside::Fork(branches) => {
            for branch in branches {
                for pair in branch.steps.windows(2) {
                    let keys = pair[0].label_to(&pair[1]).keys;
                    marks.extend(keys.map(|_| Mark::Keys));
                }
                let action = branch.label_to_join().action;
                marks.extend(action.map(|_| Mark::Action));
                branch.steps.iter().for_each(|part| add_member(part, marks));
            }
        }
        Inside::Each(body) => add_member(body, marks),
    }
}

/// The legend for notations whose boxes explain themselves: a line for each mark at an arrow.
pub(super) fn of_arrows(scene: &Scene<'_>, error: &str) -> Vec<String> {
    let line = |mark: Mark| {
        let sample = match mark {
            Mark::Error => error,
            Mark::UndoneBy => "undo",
            Mark::Action => "action",
            Mark::Condition => "condition",
            Mark::Keys => "{keys}",
            _ => return None,
        };
        Some(format!("{sample}: {}", mark.meaning()))
    };
    marks(scene).into_iter().filter_map(line).collect()
}
