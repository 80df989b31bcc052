//! Schedules that are new, and those that are known.

use std::time::Duration;

use super::{Morning, Told, days, filed, lines, process};
use crate::stores::{Broken, Faulty};
use crate::support::{minutes, pass, store};

/// A schedule is new until some process has run it, however much it catches up with.
#[tokio::test(start_paused = true)]
async fn a_new_schedule_begins_with_its_next_tick() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let every_second = filed("often", "* * * * * *").catch_up(minutes(60));
    let first = morning.run(&every_second, &process(store.clone()), &told);
    morning.until(1, 3).await;
    pass(Duration::from_millis(500)).await;
    first.abort();
    assert_eq!(days(&store).await.len(), 3, "08:01:01, 02 and 03");

    // It is known now: the next process catches up with what came due since.
    morning.until(1, 10).await;
    let second = morning.run(&every_second, &process(store.clone()), &told);
    pass(Duration::from_millis(500)).await;
    second.abort();
    assert_eq!(days(&store).await.len(), 10);

    // Under another expression or time zone, or with another flow, it is new.
    let every_minute = filed("often", "* * * * *").catch_up(minutes(60));
    let elsewhere = every_minute.clone().time_zone("Europe/Berlin").unwrap();
    for changed in [every_minute, elsewhere] {
        let running = morning.run(&changed, &process(store.clone()), &told);
        pass(Duration::from_millis(1)).await;
        running.abort();
    }
    assert_eq!(days(&store).await.len(), 10);
}

/// Two processes see a new schedule a while apart: it is known since the first.
#[tokio::test(start_paused = true)]
async fn a_schedule_is_known_since_the_first_process_that_runs_it() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let schedule = filed("often", "*/10 * * * *").catch_up(minutes(60));
    let first = morning.run(&schedule, &process(store.clone()), &told);
    pass(Duration::from_millis(1)).await;
    first.abort();
    morning.until(35, 0).await;
    assert!(lines(&told).is_empty());
    morning.run(&schedule, &process(store.clone()), &told);
    morning.until(36, 0).await;
    let caught_up = ["started 08:10", "started 08:20", "started 08:30"];
    assert_eq!(lines(&told), caught_up);
}

/// No tick is started before the store says since when the schedule is known.
#[tokio::test(start_paused = true)]
async fn a_new_schedule_waits_for_its_store() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let broken = Faulty::new(&store, Broken::default());
    let schedule = filed("often", "*/10 * * * *").catch_up(minutes(60));
    broken.fault.fail("put_structure");
    morning.run(&schedule, &process(broken.clone()), &told);
    morning.until(12, 0).await;
    let waits = lines(&told);
    assert!(
        waits.len() > 3 && waits.iter().all(|line| line == "waits"),
        "{waits:?}"
    );
    broken.fault.mend();
    morning.until(13, 0).await;
    assert_eq!(lines(&told).last().unwrap(), "started 08:10");
}
