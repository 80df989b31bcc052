//! What is done when a run is over, however it ends.

use std::future::pending;
use std::sync::{Arc, Mutex};

use flow_runtime::Lifecycle;
use flow_runtime::prelude::*;

/// What happened, in order.
type Log = Arc<Mutex<Vec<String>>>;

fn taken(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

/// Registers two functions, and says whether they were taken.
struct Opens(Log);

#[node(writes = opened, retry(attempts = 2))]
impl Opens {
    fn exec(&self, cx: &Context) -> Result<u32, String> {
        let note = |text: &str| {
            let (log, text) = (self.0.clone(), text.to_owned());
            move || log.lock().unwrap().push(text)
        };
        let lifecycle = cx.lifecycle().ok_or("a run without options")?;
        let first = lifecycle.on_finish(cx.namespace(), note(cx.namespace()));
        assert_eq!(first, cx.attempt() == 0, "once per key");
        assert!(lifecycle.has(cx.namespace()) && !lifecycle.has("other"));
        lifecycle.on_finish(format!("{} panics", cx.namespace()), || panic!("no"));
        if cx.attempt() == 0 {
            return Err("once more".into());
        }
        Ok(1)
    }
}

struct Ends(&'static str);

#[node(writes = ended)]
impl Ends {
    async fn exec(&self, opened: &u32) -> Result<u32, String> {
        match self.0 {
            "fails" => Err("it fails".into()),
            "panics" => panic!("it panics"),
            "hangs" => pending().await,
            _ => Ok(*opened),
        }
    }
}

flow! {
    Inside() -> (opened: u32) {
        node opens: Opens;
        start >> opens >> end;
    }
}

flow! {
    Around() -> (ended: u32) {
        node opens: Opens;
        node inside: Inside;
        node ends: Ends;
        start >> opens >> inside >> ends >> end;
    }
}

fn around(log: &Log, ends: &'static str) -> Around {
    let inside = Inside::builder().opens(Opens(log.clone())).build();
    Around::builder()
        .opens(Opens(log.clone()))
        .inside(inside)
        .ends(Ends(ends))
        .build()
}

/// M-014, M-016, M-017: at the end, in the reverse order, also those of a flow inside.
#[tokio::test]
async fn it_is_done_once_in_reverse_order_however_the_run_ends() {
    let expected = ["around.inside.opens", "around.opens"];
    for ends in ["completes", "fails", "panics", "hangs"] {
        let log = Log::default();
        let flow = around(&log, ends);
        let run = flow.run_with(AroundInput {}, RunOptions::new());
        let ended = tokio::time::timeout(std::time::Duration::from_millis(20), run).await;
        assert_eq!(matches!(ended, Ok(Ok(_))), ends == "completes", "{ends}");
        assert_eq!(ended.is_err(), ends == "hangs", "it is dropped");
        assert_eq!(taken(&log), expected, "{ends}");
    }
}

#[tokio::test]
async fn a_lifecycle_that_a_run_is_given_is_finished_by_who_gave_it() {
    let (log, lifecycle) = (Log::default(), Lifecycle::new());
    let to_log = log.clone();
    assert!(lifecycle.on_finish("given", move || to_log.lock().unwrap().push("given".into())));
    let options = RunOptions::new().lifecycle(lifecycle.clone());
    let flow = around(&log, "completes");
    flow.run_with(AroundInput {}, options).await.unwrap();
    assert!(taken(&log).is_empty());
    lifecycle.finish();
    let expected = ["around.inside.opens", "around.opens", "given"];
    assert_eq!(taken(&log), expected);
    assert_eq!(
        lifecycle.failures(),
        [
            "`around.inside.opens panics`: no",
            "`around.opens panics`: no"
        ]
    );
    assert!(!lifecycle.on_finish("late", || unreachable!("it is over")));
    lifecycle.finish();
    assert!(taken(&log).is_empty());
}

#[tokio::test]
async fn what_is_registered_while_it_ends_is_refused() {
    let (log, lifecycle) = (Log::default(), Lifecycle::new());
    let (inner, to_log) = (lifecycle.clone(), log.clone());
    lifecycle.on_finish("outer", move || {
        let taken = inner.on_finish("inner", || unreachable!("it ends"));
        to_log.lock().unwrap().push(taken.to_string());
    });
    lifecycle.finish();
    assert_eq!(taken(&log), ["false"]);
}

#[tokio::test]
async fn a_run_without_options_has_none() {
    let error = around(&Log::default(), "completes")
        .run(AroundInput {})
        .await;
    assert!(format!("{:#}", error.unwrap_err()).contains("a run without options"));
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [Inside, Around],
}
