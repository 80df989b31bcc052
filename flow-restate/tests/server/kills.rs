//! Kills of workers and of the server.

use std::time::Duration;

use fastrand::Rng;
use flow_services::Restate;
use serde_json::json;

use crate::client::{Settings, WHOLE, attach, query, server_and_worker_with, start};
use crate::flows::Batch;
use crate::{plainly, visits_of};

/// Runs with a few steps in each invocation.
const IN_PARTS: Settings = Settings {
    entries: Some(12),
    ..WHOLE
};

/// The number of kills, with random waits in between. The variable `FLOW_RESTATE_KILLS` can raise
/// it.
fn kills() -> u32 {
    let kills = std::env::var("FLOW_RESTATE_KILLS");
    kills.map_or(5, |kills| kills.parse().unwrap())
}

/// The waits between the kills. The variable `FLOW_RESTATE_SEED` repeats the waits of an earlier
/// test by its seed.
fn waits() -> Rng {
    let seed = std::env::var("FLOW_RESTATE_SEED");
    let seed = seed.map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("FLOW_RESTATE_SEED={seed}");
    Rng::with_seed(seed)
}

/// The number of unfinished runs of a flow. A kill without any would show nothing.
async fn under_way(server: &Restate, flow: &str) -> usize {
    let unfinished = format!(
        "SELECT id FROM sys_invocation WHERE target_service_name = '{flow}' AND target_handler_name = 'run' AND status <> 'completed'"
    );
    query(server, &unfinished).await.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_after_its_worker_is_killed() {
    kill_the_worker(WHOLE, "whole").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_in_parts_after_its_worker_is_killed() {
    kill_the_worker(IN_PARTS, "parts").await;
}

/// The id of an invocation derives from its key, so no two tests share one.
async fn kill_the_worker(settings: Settings, key: &str) {
    let Some((server, mut worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let limit = 60 * kills();
    let input = json!({ "number": 0, "limit": limit });
    let invocation = start(&server, "SlowCount", key, &input).await;
    let mut waits = waits();
    for round in 0..kills() {
        start(
            &server,
            "Batch",
            &format!("b{round}"),
            &json!({ "count": 100 }),
        )
        .await;
        tokio::time::sleep(Duration::from_millis(waits.u64(20..600))).await;
        assert_eq!(under_way(&server, "SlowCount").await, 1, "kill {round}");
        tokio::task::block_in_place(|| worker.kill());
        worker.start_again();
    }
    let output = attach(&server.ingress(), "SlowCount", key).await;
    assert_eq!(output, Ok(json!({ "number": limit, "end": "default" })));
    let wanted = plainly(&Batch::new(), &json!({ "count": 100 })).await;
    for round in 0..kills() {
        let output = attach(&server.ingress(), "Batch", &format!("b{round}")).await;
        assert_eq!(output.as_ref(), Ok(&wanted));
    }
    // A step begins only when the outcome of the previous one has been delivered.
    let visits = visits_of(&invocation);
    assert!(
        visits.is_sorted(),
        "a step whose outcome was delivered ran again: {visits:?}"
    );
    assert_eq!(visits.last(), Some(&limit));
    let again = visits.len() - usize::try_from(limit).unwrap();
    println!(
        "{again} of {limit} steps ran again, after {} kills",
        kills()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_no_finished_step_again_after_the_server_is_killed() {
    kill_the_server(WHOLE, "killed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_no_finished_step_again_in_parts_after_the_server_is_killed() {
    kill_the_server(IN_PARTS, "killed-in-parts").await;
}

async fn kill_the_server(settings: Settings, name: &str) {
    let Some((mut server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    // Many at once, so that something is under way at each kill.
    let limit = 150 * kills();
    let input = json!({ "number": 0, "limit": limit });
    let mut runs = Vec::new();
    for number in 0..16 {
        let key = format!("{name}{number}");
        let invocation = start(&server, "Count", &key, &input).await;
        runs.push((key, invocation));
    }
    let begun = || -> usize { runs.iter().map(|(_, id)| visits_of(id).len()).sum() };
    let mut waits = waits();
    for round in 0..kills().div_ceil(2) {
        // The server takes a moment to resume its runs.
        let before = begun();
        for _ in 0..3000 {
            if begun() > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(begun() > before, "the server does not go on with its runs");
        tokio::time::sleep(Duration::from_millis(waits.u64(50..400))).await;
        // A restarted server knows some of its runs later than others.
        let mut known = under_way(&server, "Count").await;
        for _ in 0..500 {
            if known == 16 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            known = under_way(&server, "Count").await;
        }
        assert_eq!(known, 16, "kill {round}");
        tokio::task::block_in_place(|| {
            server.kill();
            server.start_again();
        });
    }
    let each_once: Vec<u32> = (1..=limit).collect();
    for (key, invocation) in runs {
        let output = attach(&server.ingress(), "Count", &key).await;
        assert_eq!(output, Ok(json!({ "number": limit, "end": "default" })));
        assert_eq!(visits_of(&invocation), each_once);
    }
}
