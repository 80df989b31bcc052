//! Answers of any JSON, for questions without a type.

use flow_runtime::Policy;
use flow_runtime::engine::QuestionType;
use flow_runtime::prelude::*;
use flow_spec::DEFAULT_ACTION;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::{About, ActionType, Adapter, Make, Runs, WriteType};
use crate::cell::{AnyValue, taken_out};
use crate::value::Probe;

/// An answer of any form.
#[node(human = "answer")]
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Answer {
    value: Value,
}

/// The node that asks for any JSON.
pub(crate) fn any_answer() -> Adapter {
    Adapter {
        name: "Answer",
        path: "flow_loader::Answer",
        reads: Vec::new(),
        writes: vec![WriteType {
            name: "answer",
            rust_type: "Value",
            ty: crate::__value_type!(Probe::<Value>::new()),
            adds: false,
        }],
        actions: vec![ActionType {
            name: DEFAULT_ACTION,
            writes: vec![0],
        }],
        fallible: false,
        times_out: false,
        only_times_out: false,
        takes_policy: true,
        never_awaits: false,
        retry_if: None,
        policy: &Policy::DEFAULT,
        outcome: crate::__value_type!(Probe::<Value>::new()),
        action: |_| DEFAULT_ACTION,
        returns_nothing: false,
        make: Make::Nothing,
        schema: None,
        take_apart: |outcome, writer| {
            writer.write(0, taken_out::<Value>(outcome));
            0
        },
        about: About::default(),
        runs: Runs::Human {
            prompt: |_| unreachable!("a document that asks for any answer has the prompt"),
            question: QuestionType::of::<Answer>(),
            read: |value| Ok(AnyValue::new(value)),
        },
    }
}
