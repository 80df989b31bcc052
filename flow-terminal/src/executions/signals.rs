//! The command `signal`.

use flow_durable::{Execution, Executions, RuntimeError, SignalOptions};
use flow_runtime::SignalError;
use serde_json::Value;

use super::arguments;
use super::find::{find_id, said};
use crate::output;

/// Sends a signal, and returns its execution.
pub(super) async fn signal(
    arguments: &arguments::Signal,
    executions: &Executions,
) -> Result<Execution, String> {
    let id = find_id(executions, &arguments.execution).await?;
    let mut options = SignalOptions::new();
    if let Some(key) = &arguments.idempotency_key {
        options = options.idempotency_key(key);
    }
    let text = arguments.body.as_deref();
    let body = text.map_or(Value::Null, output::value);
    let send = |body| executions.signal_json(id, &arguments.name, body, options.clone());
    let mut sent = send(body.clone()).await;
    if let Some(text) = text.map(Value::from).filter(|text| *text != body)
        && is_wrong_type(&sent)
    {
        // `5` may be a text. If it is not, the error for the number is more helpful.
        sent = send(text).await.or(sent);
    }
    sent.map_err(|error| match error {
        RuntimeError::NotRegistered { flow } => format!(
            "this program does not have the flow `{flow}`, which says of what type the signal is\n\
             help: send it with a program that has the flow, or over HTTP"
        ),
        error => said(error),
    })
}

fn is_wrong_type(sent: &Result<Execution, RuntimeError>) -> bool {
    matches!(
        sent,
        Err(RuntimeError::Signal {
            error: SignalError::WrongType { .. },
            ..
        })
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::Parser;
    use flow_durable::{MemoryStore, Runtime, RuntimeOptions, StartOptions, Status};
    use flow_runtime::prelude::*;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::super::show::{text, whole};
    use super::*;

    /// The customer has changed their mind.
    #[node(signal)]
    #[derive(Serialize, Deserialize)]
    struct CancelRequest {
        reason: String,
    }

    /// The number of the parcel.
    #[node(signal, timeout = "14d")]
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Parcel {
        number: String,
    }

    flow! {
        Order() -> (reason: Option<String>, number: Option<String>) {
            node outcome: first { CancelRequest => "cancelled", Parcel => "sent" };
            start >> outcome;
            outcome - "cancelled" >> end("cancelled");
            outcome - "sent" >> end("sent");
        }
    }

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        command: arguments::Command,
    }

    fn parsed(words: &[&str]) -> arguments::Signal {
        let line = ["executions", "signal"].iter().chain(words);
        match Line::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")) {
            Line {
                command: arguments::Command::Signal(signal),
            } => signal,
            _ => unreachable!("the command is `signal`"),
        }
    }

    async fn waiting(store: &Arc<MemoryStore>, options: RuntimeOptions) -> (Runtime, Execution) {
        let runtime = Runtime::with_options(store.clone(), options);
        runtime.register(Order::new()).unwrap();
        let executions = runtime.executions();
        let order = executions.start::<Order>(OrderInput {}, StartOptions::new());
        let order = order.await.unwrap();
        (runtime, order)
    }

    async fn paused(order: &Execution) -> Execution {
        loop {
            let order = order.refreshed().await.unwrap();
            if order.status() == Status::Paused {
                return order;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_signal_is_json_or_text_and_continues_its_execution() {
        for (words, end) in [
            (
                &["CancelRequest", r#"{"reason": "too late"}"#][..],
                "cancelled",
            ),
            // Digits, and the type is a text.
            (&["Parcel", "5", "--idempotency-key", "a"], "sent"),
        ] {
            let (runtime, order) = waiting(&Arc::default(), RuntimeOptions::new()).await;
            let id = order.id().to_string();
            let arguments = parsed(&[&[id.as_str()], words].concat());
            signal(&arguments, runtime.executions()).await.unwrap();
            let order = order.settled().await.unwrap();
            assert_eq!(order.output_json().unwrap().unwrap()["end"], end);
        }
    }

    #[tokio::test]
    async fn the_reason_of_a_refusal_is_told() {
        let store = Arc::default();
        let (runtime, order) = waiting(&store, RuntimeOptions::new()).await;
        let id = order.id().to_string();
        for (words, reason) in [
            (
                &["Cancel"][..],
                "the flow waits for `CancelRequest`, `Parcel`",
            ),
            (&["CancelRequest"], "expected a `CancelRequest`"),
            (&["CancelRequest", "{}"], "missing field `reason`"),
        ] {
            let arguments = parsed(&[&[id.as_str()], words].concat());
            let told = signal(&arguments, runtime.executions()).await.unwrap_err();
            assert!(told.contains(reason), "{told}");
        }
        // `cargo flow executions` has no flows.
        let without = Runtime::new(store);
        let arguments = parsed(&[&id, "Parcel", "5"]);
        let told = signal(&arguments, &without.all_owners()).await.unwrap_err();
        assert!(
            told.starts_with("this program does not have the flow `Order`"),
            "{told}"
        );
        assert!(told.contains("\nhelp: send it with a program"), "{told}");
    }

    #[tokio::test]
    async fn show_says_what_an_execution_waits_for() {
        let (runtime, order) = waiting(&Arc::default(), RuntimeOptions::new()).await;
        let order = paused(&order).await;
        let executions = runtime.executions();
        let shown = text(&order, executions).await.unwrap();
        assert!(
            shown.contains("\norder.cancel_request waits for the signal `CancelRequest`\n"),
            "{shown}"
        );
        assert!(
            shown.contains("\norder.parcel waits for the signal `Parcel` until 2"),
            "{shown}"
        );
        assert!(shown.contains("awaiting"), "{shown}");
        let json = whole(&order, executions).await.unwrap();
        assert_eq!(
            json["awaits"][0],
            json!({ "path": "order.cancel_request", "signal": "CancelRequest" })
        );
        assert!(json["awaits"][1]["expiresAtMs"].as_u64() > Some(1_000_000_000_000));

        let arguments = parsed(&[&order.id().to_string(), "Parcel", "a\x1b[2J"]);
        signal(&arguments, executions).await.unwrap();
        let order = order.settled().await.unwrap();
        let shown = text(&order, executions).await.unwrap();
        assert!(
            shown.contains("received") && !shown.contains("waits for"),
            "{shown}"
        );
        assert!(!shown.contains('\x1b'), "{shown}");
        let json = whole(&order, executions).await.unwrap();
        assert_eq!(
            (&json["awaits"], &json["signals"]),
            (&json!([]), &json!([]))
        );
    }

    #[tokio::test]
    async fn show_lists_the_signals_that_no_step_has_taken() {
        let options = RuntimeOptions::new().concurrent_executions(0);
        let (runtime, order) = waiting(&Arc::default(), options).await;
        let executions = runtime.executions();
        let id = order.id().to_string();
        for words in [
            &["Parcel", "a\x1b[2J"][..],
            &["Parcel", "b", "--idempotency-key", "request 17"],
        ] {
            let arguments = parsed(&[&[id.as_str()], words].concat());
            signal(&arguments, executions).await.unwrap();
        }
        let shown = text(&order, executions).await.unwrap();
        let first = "\nthe signal 1, `Parcel`, was sent and not taken:\n  \"a\\u001b[2J\"\n";
        assert!(shown.contains(first), "{shown}");
        let json = whole(&order, executions).await.unwrap();
        assert_eq!(json["signals"][1]["body"], "b");
        assert_eq!(json["signals"][1]["idempotencyKey"], "request 17");
    }
}
