//! Answers and signals of any JSON, for questions and signals without a type.

use flow_runtime::Policy;
use flow_runtime::engine::ExternalType;
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

/// A signal of any form.
#[node(signal, writes = message)]
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Message {
    value: Value,
}

/// The node that asks for any JSON.
pub(crate) fn any_answer() -> Adapter {
    let runs = Runs::Human {
        prompt: |_| unreachable!("a document that asks for any answer has the prompt"),
        question: ExternalType::of::<Answer>(),
        read: |value| Ok(AnyValue::new(value)),
    };
    any("Answer", "flow_loader::Answer", "answer", runs)
}

/// The node that waits for a signal with any JSON.
pub(crate) fn any_signal() -> Adapter {
    let runs = Runs::Signal {
        signal: ExternalType::of::<Message>(),
        read: |value| Ok(AnyValue::new(value)),
    };
    any("Message", "flow_loader::Message", "message", runs)
}

/// A node that writes any JSON under this key.
fn any(name: &'static str, path: &'static str, key: &'static str, runs: Runs) -> Adapter {
    Adapter {
        name,
        path,
        reads: Vec::new(),
        writes: vec![WriteType {
            name: key,
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
        runs,
    }
}
