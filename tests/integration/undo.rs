//! `undo`: what was done is taken back, when a flow says so or when it does not reach an end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_runtime::CancellationToken;
use flow_runtime::prelude::*;
use tokio::time::sleep;

/// What was done and taken back, in this order.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<String>>>);

impl Ledger {
    fn add(&self, entry: String) {
        self.0.lock().unwrap().push(entry);
    }

    fn entries(&self) -> String {
        self.0.lock().unwrap().join(" ")
    }
}

/// The name of the step that fails, panics or takes long.
type Fate = &'static str;

/// What was done: it is taken back under the same name.
#[derive(Debug, Clone, PartialEq)]
struct Receipt(String);

#[derive(Clone)]
struct Do(&'static str);

#[node(writes = receipt)]
impl Do {
    async fn exec(&self, ledger: &Ledger, fate: &Fate) -> Result<Receipt, String> {
        let name = self.0;
        sleep(Duration::from_millis(10)).await;
        if *fate == name {
            return Err(format!("{name} fails"));
        }
        if fate.strip_prefix("panic ") == Some(name) {
            panic!("{name} panics");
        }
        ledger.add(name.to_owned());
        // Whoever is dropped here would leave an entry that nobody takes back.
        sleep(Duration::from_millis(10)).await;
        Ok(Receipt(name.to_owned()))
    }
}

#[derive(Clone, Default)]
struct Undo;

#[node]
impl Undo {
    async fn exec(&self, ledger: &Ledger, receipt: Receipt, fate: &Fate) -> Result<(), String> {
        let Receipt(name) = receipt;
        sleep(Duration::from_millis(10)).await;
        if fate.strip_suffix(" stays") == Some(&name) {
            return Err(format!("{name} stays"));
        }
        ledger.add(format!("-{name}"));
        Ok(())
    }
}

flow! {
    /// A chain of six.
    Chain(ledger: Ledger, fate: Fate) -> () {
        node undo_a: Undo { receipt <- a };
        node undo_b: Undo { receipt <- b };
        node undo_c: Undo { receipt <- c };
        node undo_d: Undo { receipt <- d };
        node undo_e: Undo { receipt <- e };
        node undo_f: Undo { receipt <- f };
        node step_a: Do { receipt -> a } = Do("a") with undo = undo_a;
        node step_b: Do { receipt -> b } = Do("b") with undo = undo_b;
        node step_c: Do { receipt -> c } = Do("c") with undo = undo_c;
        node step_d: Do { receipt -> d } = Do("d") with undo = undo_d;
        node step_e: Do { receipt -> e } = Do("e") with undo = undo_e;
        node step_f: Do { receipt -> f } = Do("f") with undo = undo_f;
        start >> step_a >> step_b >> step_c >> step_d >> step_e >> step_f >> end;
    }
}

async fn chain(fate: Fate) -> (Result<ChainOutput, FlowError>, String) {
    let ledger = Ledger::default();
    let input = ChainInput {
        ledger: ledger.clone(),
        fate,
    };
    let ended = Chain::new().run(input).await;
    (ended, ledger.entries())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_fails_is_undone_from_the_newest_visit_on() {
    let all = ["a", "b", "c", "d", "e", "f"];
    for (at, fate) in all.into_iter().enumerate() {
        let (ended, entries) = chain(fate).await;
        let error = ended.unwrap_err();
        assert_eq!(error.path(), format!("chain.step_{fate}"));
        let done = all[..at].iter().map(|name| (*name).to_owned());
        let undone = all[..at].iter().rev().map(|name| format!("-{name}"));
        let expected: Vec<String> = done.chain(undone).collect();
        assert_eq!(entries, expected.join(" "));
    }
    let (ended, entries) = chain("nobody").await;
    assert_eq!((ended.is_ok(), &*entries), (true, "a b c d e f"));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics_is_undone() {
    let (ended, entries) = chain("panic c").await;
    assert!(matches!(ended, Err(FlowError::Panicked { .. })));
    assert_eq!(entries, "a b -b -a");
}

#[tokio::test(start_paused = true)]
async fn an_undo_node_that_fails_ends_the_undoing() {
    let ledger = Ledger::default();
    let input = ChainInput {
        ledger: ledger.clone(),
        fate: "b stays",
    };
    let token = CancellationToken::new();
    let options = RunOptions::new().cancellation(token.clone());
    let flow = Chain::new();
    let run = flow.run_with(input, options);
    let cancel = async {
        sleep(Duration::from_millis(75)).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(run, cancel);
    let error = ended.unwrap_err();
    assert_eq!(ledger.entries(), "a b c d -d -c");
    assert_eq!(error.path(), "chain.step_b");
    assert_eq!(
        format!("{error:#}"),
        "what `chain.step_b` did was not undone: node `chain.step_b!undo` failed after 1 attempt: b stays; \
         it was to be undone because the run was cancelled at `chain.step_e`"
    );
}

/// A step that is under way is finished first, whenever the run is cancelled.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_is_undone_wherever_it_is() {
    let mut seen = std::collections::BTreeSet::new();
    for after in 0..125 {
        let ledger = Ledger::default();
        let input = ChainInput {
            ledger: ledger.clone(),
            fate: "nobody",
        };
        let token = CancellationToken::new();
        let options = RunOptions::new().cancellation(token.clone());
        let flow = Chain::new();
        let run = flow.run_with(input, options);
        let cancel = async {
            sleep(Duration::from_millis(after)).await;
            token.cancel();
        };
        let (ended, ()) = tokio::join!(run, cancel);
        let entries = ledger.entries();
        let (done, undone): (Vec<&str>, Vec<&str>) = entries
            .split(' ')
            .partition(|entry| !entry.starts_with('-'));
        match ended {
            Err(FlowError::Cancelled { .. }) => {
                let mirrored: Vec<String> =
                    done.iter().rev().map(|name| format!("-{name}")).collect();
                assert_eq!(undone, mirrored, "cancelled after {after} ms");
            }
            ended => {
                assert!(ended.is_ok() && after >= 119, "{ended:?}");
                assert_eq!(entries, "a b c d e f");
            }
        }
        seen.insert(entries.clone());
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[derive(Clone, Default)]
struct UndoLast;

#[node]
impl UndoLast {
    fn exec(&self, ledger: &Ledger, all: &[Receipt]) {
        let names: Vec<&str> = all.iter().map(|receipt| &*receipt.0).collect();
        ledger.add(format!("-{}", names.join("+")));
    }
}

flow! {
    /// Branches that add to one list, and share an undo node that reads it.
    Both(ledger: Ledger, fate: Fate) -> (all: Vec<Receipt>) {
        node undo_last: UndoLast;
        node step_a: Do { receipt -> +all } = Do("a") with undo = undo_last;
        node step_b: Do { receipt -> +all } = Do("b") with undo = undo_last;
        node step_c: Do { receipt -> c } = Do("c");
        node both: [step_a, step_b];
        start >> both >> step_c >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_undo_node_of_a_branch_reads_what_its_branch_has_added() {
    let ledger = Ledger::default();
    let input = BothInput {
        ledger: ledger.clone(),
        fate: "c",
    };
    let error = Both::new().run(input).await.unwrap_err();
    assert_eq!(error.path(), "both.step_c");
    assert_eq!(ledger.entries(), "a b -b -a");
}

flow_law::law! {
    nodes: [],
    flows: [],
    not_json: [Chain, Both],
}
