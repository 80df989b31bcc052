//! Which typed inputs a name takes, of which several versions were registered one after the other.

use std::sync::Arc;

use flow_durable::{Durable, DurableFlow, Runtime, RuntimeError, StartOptions};
use flow_runtime::engine::AnyFlow;
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::support::{options, store};

#[node(writes = sum)]
fn sum(number: &u64) -> u64 {
    *number
}

#[node(writes = sum)]
fn sum_of(number: &u64, more: Option<&u64>) -> u64 {
    number + more.unwrap_or(&100)
}

#[node(writes = sum)]
fn sum_of_text(number: &u64, text: &str) -> u64 {
    number + text.len() as u64
}

/// A node with something that is dropped with it.
#[derive(Clone)]
pub(crate) struct Holds(Arc<()>);

#[node(writes = sum)]
impl Holds {
    fn exec(&self, number: &u64) -> u64 {
        number + Arc::strong_count(&self.0) as u64
    }
}

mod one {
    use super::*;

    flow! {
        pub(crate) Typed(number: u64) -> (sum: u64) {
            start >> sum >> end;
        }
    }
}

mod two {
    use super::*;

    flow! {
        pub(crate) Typed(number: u64, more: Option<u64>) -> (sum: u64) {
            start >> sum_of >> end;
        }
    }
}

mod three {
    use super::*;

    flow! {
        pub(crate) Typed(number: u64, text: String) -> (sum: u64) {
            start >> sum_of_text >> end;
        }
    }
}

flow! {
    Kept(number: u64) -> (sum: u64) {
        node holds: Holds;
        start >> holds >> end;
    }
}

async fn started<F: DurableFlow>(
    runtime: &Runtime,
    input: F::Input,
) -> Result<Value, RuntimeError> {
    let executions = runtime.executions();
    let execution = executions.start::<F>(input, StartOptions::new()).await?;
    Ok(execution.settled().await?.output_json()?.unwrap()["sum"].clone())
}

#[tokio::test(start_paused = true)]
async fn the_newest_version_takes_the_typed_input_of_each_that_it_can_read() {
    let first = || one::TypedInput { number: 7 };
    let runtime = Runtime::with_options(store(), options());
    runtime.register(one::Typed::new()).unwrap();
    assert_eq!(started::<one::Typed>(&runtime, first()).await.unwrap(), 7);

    runtime.add_version(two::Typed::new()).unwrap();
    let second = two::TypedInput {
        number: 7,
        more: Some(1),
    };
    assert_eq!(started::<two::Typed>(&runtime, second).await.unwrap(), 8);
    assert_eq!(started::<one::Typed>(&runtime, first()).await.unwrap(), 107);

    runtime.add_version(one::Typed::new()).unwrap();
    let without = two::TypedInput {
        number: 7,
        more: None,
    };
    assert_eq!(started::<two::Typed>(&runtime, without).await.unwrap(), 7);
    let lost = two::TypedInput {
        number: 7,
        more: Some(1),
    };
    let refused = started::<two::Typed>(&runtime, lost).await.unwrap_err();
    let reason = "input `more`: the newest version of the flow has no such input";
    assert!(refused.to_string().contains(reason), "{refused}");

    runtime.add_version(three::Typed::new()).unwrap();
    let refused = started::<one::Typed>(&runtime, first()).await.unwrap_err();
    assert!(
        matches!(refused, RuntimeError::Unstorable { .. }),
        "{refused}"
    );
}

/// The name takes the typed input whichever way the flow is passed.
#[tokio::test(start_paused = true)]
async fn a_flow_behind_a_pointer_takes_its_typed_input() {
    let runtime = Runtime::with_options(store(), options());
    let flow: Arc<dyn AnyFlow<Durable>> = Arc::new(one::Typed::new());
    runtime.register(Arc::new(flow)).unwrap();
    let input = one::TypedInput { number: 7 };
    assert_eq!(started::<one::Typed>(&runtime, input).await.unwrap(), 7);
    let other = two::TypedInput {
        number: 7,
        more: None,
    };
    let refused = started::<two::Typed>(&runtime, other).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the flow `Typed` that is registered does not take inputs of this type"
    );
    let execution =
        runtime
            .executions()
            .start_json("Typed", json!({ "number": 8 }), StartOptions::new());
    let execution = execution.await.unwrap().settled().await.unwrap();
    assert_eq!(execution.output_json().unwrap().unwrap()["sum"], 8);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_was_replaced_is_dropped() {
    let runtime = Runtime::with_options(store(), options());
    let held = Arc::new(());
    let flow = |held: &Arc<()>| Kept::builder().holds(Holds(held.clone())).build();
    runtime.register(flow(&held)).unwrap();
    assert_eq!(Arc::strong_count(&held), 2);
    let other = Arc::new(());
    runtime.replace(flow(&other)).unwrap();
    assert_eq!(
        (Arc::strong_count(&held), Arc::strong_count(&other)),
        (1, 2)
    );
    let input = KeptInput { number: 1 };
    assert_eq!(started::<Kept>(&runtime, input).await.unwrap(), 3);
}

flow_law::law! {
    nodes: [sum, sum_of, sum_of_text],
    flows: [
        one::Typed,
        two::Typed,
        three::Typed,
        Kept(Kept::builder().holds(Holds(Arc::new(()))).build()) with [Holds = Holds(Arc::new(()))],
    ],
}
