//! An error is the same before a crash as after it.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{DurableFlow, MemoryStore, StartOptions};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::runtime;

/// Stored with its value.
#[derive(Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("declined: {code}")]
struct Declined {
    code: u32,
}

/// The same, in another part of a node.
#[derive(Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("unfit: {0}")]
struct Unfit(String);

/// Only its texts are stored.
#[derive(Debug, thiserror::Error)]
#[error("lost")]
struct Lost(#[source] std::fmt::Error);

/// Which of the types an error is, and its texts.
fn kind_of(error: &NodeError) -> String {
    let kind = match (
        error.downcast_ref::<Declined>(),
        error.downcast_ref::<Unfit>(),
    ) {
        (Some(Declined { code }), _) => format!("Declined {code}"),
        (_, Some(Unfit(why))) => format!("Unfit {why}"),
        _ if error.downcast_ref::<Lost>().is_some() => "Lost".to_owned(),
        _ => "unknown".to_owned(),
    };
    let source = error.error().source().map(ToString::to_string);
    format!("{kind}: {}, {source:?}, {error:#}", error.error())
}

#[node]
fn pay(code: &u32) -> Result<(), Declined> {
    Err(Declined { code: *code })
}

#[node]
fn lose(code: &u32) -> Result<(), Lost> {
    let _ = code;
    Err(Lost(std::fmt::Error))
}

#[derive(Default)]
struct Phases;

/// Fails in `prep`, or in `exec` and its fallback, or in `post`.
#[node(writes = nothing)]
impl Phases {
    fn prep(&self, code: &u32) -> Result<u32, Unfit> {
        if *code == 0 {
            Err(Unfit("prep".to_owned()))
        } else {
            Ok(*code)
        }
    }

    fn exec(&self, code: &u32) -> Result<u32, Declined> {
        if *code == 3 {
            Ok(3)
        } else {
            Err(Declined { code: *code })
        }
    }

    fn exec_fallback(&self, error: &NodeError) -> Result<u32, Unfit> {
        Err(Unfit(kind_of(error)))
    }

    fn post(&self, exec_res: u32) -> Result<u32, Declined> {
        Err(Declined { code: exec_res })
    }
}

#[node(writes = kind)]
fn kind(error: &NodeError) -> String {
    kind_of(error)
}

flow! {
    Inner(code: u32) {
        start >> pay >> end;
    }
}

macro_rules! fails {
    ($($flow:ident: $node:ident,)*) => {
        $(flow! {
            $flow(code: u32) -> (kind: Option<String>) {
                start >> $node >> end;
                $node - "error" >> wait(20s) >> kind >> end("failed");
            }
        })*
    };
}

fails! {
    Pays: pay,
    Loses: lose,
    InPhases: Phases,
    InInner: Inner,
}

#[node(writes = kind)]
fn kinds(paid: &[Result<(), NodeError>]) -> String {
    let kinds = paid.iter().map(|paid| kind_of(paid.as_ref().unwrap_err()));
    kinds.collect::<Vec<_>>().join("; ")
}

flow! {
    Collected(codes: Vec<u32>) -> (kind: String) {
        node paid: for code in codes { pay } with collect_errors;
        start >> paid >> wait(20s) >> kinds >> end;
    }
}

/// What a durable run says, without a crash and with one while it waits.
async fn durable<F: DurableFlow>(new: fn() -> F, input: fn() -> F::Input) -> [String; 2] {
    let mut kinds = Vec::new();
    for stops in [false, true] {
        let store = Arc::new(MemoryStore::new());
        let mut on = runtime(&store, new());
        let started = on
            .executions()
            .start::<F>(input(), StartOptions::new())
            .await
            .unwrap();
        if stops {
            tokio::time::sleep(Duration::from_secs(10)).await;
            on.shut_down().await;
            on = runtime(&store, new());
            on.recover().await.unwrap();
        }
        let settled = on
            .executions()
            .get(started.id())
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let output = settled.output_json().unwrap().unwrap();
        kinds.push(output["kind"].as_str().unwrap().to_owned());
    }
    kinds.try_into().unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_error_that_can_be_stored_keeps_its_type() {
    let plain = Pays::new().run(PaysInput { code: 7 }).await.unwrap();
    let plain = plain.kind.unwrap();
    assert!(
        plain.starts_with("Declined 7: declined: 7, None, node `pays.pay` failed"),
        "{plain}"
    );
    assert_eq!(
        durable(Pays::new, || PaysInput { code: 7 }).await,
        [&*plain; 2]
    );
    let plain = InInner::new().run(InInnerInput { code: 7 }).await.unwrap();
    let plain = plain.kind.unwrap();
    assert_eq!(
        durable(InInner::new, || InInnerInput { code: 7 }).await,
        [&*plain; 2]
    );
}

#[tokio::test(start_paused = true)]
async fn any_other_error_is_unknown_from_the_start() {
    let plain = Loses::new().run(LosesInput { code: 7 }).await.unwrap();
    let plain = plain.kind.unwrap();
    assert!(
        plain.starts_with("Lost: lost, Some(\"an error occurred"),
        "{plain}"
    );
    let unknown = plain.replacen("Lost", "unknown", 1);
    assert_eq!(
        durable(Loses::new, || LosesInput { code: 7 }).await,
        [&*unknown; 2]
    );
}

#[tokio::test(start_paused = true)]
async fn the_errors_of_all_parts_of_a_node_keep_their_types() {
    for (input, kind) in [
        (
            (|| InPhasesInput { code: 0 }) as fn() -> InPhasesInput,
            "Unfit prep",
        ),
        (|| InPhasesInput { code: 1 }, "Unfit Declined 1"),
        (|| InPhasesInput { code: 3 }, "Declined 3"),
    ] {
        let plain = InPhases::new().run(input()).await.unwrap().kind.unwrap();
        assert!(plain.starts_with(kind), "{plain}");
        assert_eq!(durable(InPhases::new, input).await, [&*plain; 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn errors_that_a_loop_collects_keep_their_types() {
    let input = || CollectedInput { codes: vec![1, 2] };
    let plain = Collected::new().run(input()).await.unwrap().kind;
    assert!(
        plain.contains("Declined 1") && plain.contains("; Declined 2"),
        "{plain}"
    );
    assert_eq!(durable(Collected::new, input).await, [&*plain; 2]);
}
