//! Schedules: each tick once, whatever the processes do.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::schedule::{Schedule, ScheduleError, ScheduleEvent, Schedules, Tick};
use flow_durable::{ListOptions, MemoryStore, Runtime, RuntimeError, StartOptions, Status, Store};
use flow_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::stores::{Broken, Faulty};
use crate::support::{Shared, minutes, options, pass, store};

mod clocks;
mod known;

#[node]
async fn file_report(day: &str) -> String {
    tokio::time::sleep(Duration::from_secs(90)).await;
    format!("what happened on {day}")
}

flow! {
    Filed(day: String) -> (file_report: String) {
        start >> file_report >> end;
    }
}

fn process(store: impl Store) -> Runtime {
    let runtime = Runtime::with_options(store, options());
    runtime.register(Filed::new()).unwrap();
    runtime
}

fn filed(name: &str, expression: &str) -> Schedule {
    let input = |tick: &Tick| FiledInput {
        day: tick.to_string(),
    };
    Schedule::new::<Filed>(name, expression, input).unwrap()
}

type Told = Arc<Mutex<Vec<String>>>;

/// A morning that begins with the test, one minute and one second after 08:00.
#[derive(Clone, Copy)]
struct Morning(tokio::time::Instant);

impl Morning {
    fn begins() -> Self {
        Morning(tokio::time::Instant::now())
    }

    fn now(self) -> SystemTime {
        // 08:00 on 2027-01-15, in UTC.
        let eight = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        eight + Duration::from_secs(61) + self.0.elapsed()
    }

    /// Runs this schedule as a task of its own, and notes what it tells: `started`, `failed`,
    /// `retried` or `missed`, and the time of day.
    fn run(self, schedule: &Schedule, runtime: &Runtime, told: &Told) -> JoinHandle<()> {
        run_by(schedule, runtime, told, move || self.now())
    }

    /// Lets time go by until this many minutes and seconds after 08:00.
    async fn until(self, minute: u64, second: u64) {
        let then = Duration::from_secs(60 * minute + second - 61);
        pass(then.checked_sub(self.0.elapsed()).unwrap()).await;
    }
}

fn run_by(
    schedule: &Schedule,
    runtime: &Runtime,
    told: &Told,
    clock: impl Fn() -> SystemTime + Send + Sync + 'static,
) -> JoinHandle<()> {
    let (told, runtime) = (told.clone(), runtime.clone());
    let tell = move |event: &ScheduleEvent<'_>| {
        let (word, tick) = match event {
            ScheduleEvent::Started { tick, .. } => ("started", tick),
            ScheduleEvent::Failed {
                tick,
                is_tried_again: true,
                ..
            } => ("retried", tick),
            ScheduleEvent::Failed { tick, .. } => ("failed", tick),
            ScheduleEvent::Missed { tick, .. } => ("missed", tick),
            ScheduleEvent::Waits { .. } => return told.lock().unwrap().push("waits".to_owned()),
            _ => panic!("{event}"),
        };
        let line = format!("{word} {}", tick.time().strftime("%H:%M"));
        told.lock().unwrap().push(line);
    };
    let schedules = Schedules::new().with(schedule.clone());
    let schedules = schedules.observer(tell).clock(clock);
    tokio::spawn(async move {
        let ended = schedules.run(&runtime).await;
        panic!("{ended:?}")
    })
}

fn lines(told: &Told) -> Vec<String> {
    told.lock().unwrap().clone()
}

/// The inputs of all executions, each of which is there once, in order.
async fn days(store: &Shared) -> Vec<String> {
    let looks = process(store.clone());
    let mut days = Vec::new();
    for execution in &looks.executions().list(ListOptions::new()).await.unwrap() {
        let journal = execution.journal().await.unwrap();
        let input: Value = serde_json::from_str(&journal[0].payload).unwrap();
        days.push(input["day"].as_str().unwrap().to_owned());
    }
    days.sort();
    days
}

#[tokio::test(start_paused = true)]
async fn each_tick_is_one_execution_over_all_processes() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let schedule = filed("often", "*/10 * * * *")
        .time_zone("Europe/Vienna")
        .unwrap();
    let processes: Vec<_> = (0..4).map(|_| process(store.clone())).collect();
    let running: Vec<_> = processes
        .iter()
        .map(|process| morning.run(&schedule, process, &told))
        .collect();
    // One of them ends, and begins again.
    morning.until(25, 0).await;
    running[0].abort();
    processes[0].shut_down().await;
    morning.until(45, 0).await;
    morning.run(&schedule, &process(store.clone()), &told);
    morning.until(65, 0).await;

    let days = days(&store).await;
    let ticks: Vec<_> = (1..=6).map(|ten| (ten / 6 + 9, ten * 10 % 60)).collect();
    let tick = |(hour, minute)| format!("2027-01-15T{hour:02}:{minute:02}:00+01:00[Europe/Vienna]");
    assert_eq!(days, ticks.into_iter().map(tick).collect::<Vec<_>>());
    let mut times = BTreeMap::<_, usize>::new();
    for line in lines(&told) {
        *times.entry(line).or_default() += 1;
    }
    assert_eq!(times["started 09:10"], 4);
    assert_eq!(times["started 09:30"], 3);
    assert_eq!(times["started 10:00"], 4);
    assert_eq!(times.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn what_came_due_while_nobody_ran_is_started_if_it_is_not_too_late() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let schedule = filed("often", "*/10 * * * *").catch_up(minutes(15));
    let running = morning.run(&schedule, &process(store.clone()), &told);
    morning.until(11, 0).await;
    running.abort();
    assert_eq!(lines(&told), ["started 08:10"], "it was not known before");

    morning.until(43, 0).await;
    told.lock().unwrap().clear();
    morning.run(&schedule, &process(store.clone()), &told);
    morning.until(52, 0).await;
    assert_eq!(
        lines(&told),
        ["started 08:30", "started 08:40", "started 08:50"]
    );
    assert_eq!(days(&store).await.len(), 4, "08:20 is missed");
}

#[tokio::test(start_paused = true)]
async fn a_new_schedule_that_catches_up_with_nothing_begins_with_what_comes() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let schedule = filed("often", "*/10 * * * *").catch_up(Duration::ZERO);
    morning.until(2, 0).await;
    morning.run(&schedule, &process(store.clone()), &told);
    morning.until(25, 0).await;
    assert_eq!(lines(&told), ["started 08:10", "started 08:20"]);
}

/// The machine sleeps: time goes by on the clock, and not for timers.
#[tokio::test(start_paused = true)]
async fn what_a_process_slept_through_is_told() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let slept = Arc::new(Mutex::new(Duration::ZERO));
    let by = slept.clone();
    let schedule = filed("often", "*/10 * * * *").catch_up(minutes(5));
    let clock = move || morning.now() + *by.lock().unwrap();
    run_by(&schedule, &process(store.clone()), &told, clock);
    morning.until(12, 0).await;
    *slept.lock().unwrap() = minutes(60);
    pass(Duration::from_secs(30)).await;
    // It is 09:12:30.
    pass(minutes(9)).await;
    let expected = [
        "started 08:10",
        "missed 08:20",
        "started 09:10",
        "started 09:20",
    ];
    assert_eq!(lines(&told), expected);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_asked_again_until_it_is_too_late() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let broken = Faulty::new(&store, Broken::default());
    let schedule = filed("often", "*/10 * * * *").catch_up(minutes(2));
    morning.until(2, 30).await;
    morning.run(&schedule, &process(broken.clone()), &told);
    morning.until(9, 0).await;
    told.lock().unwrap().clear();
    broken.fault.fail("create");
    morning.until(10, 30).await;
    broken.fault.mend();
    morning.until(11, 0).await;
    let told_now = lines(&told);
    assert!(
        told_now.iter().any(|line| line == "retried 08:10"),
        "{told_now:?}"
    );
    assert_eq!(told_now.last().unwrap(), "started 08:10");
    assert_eq!(
        days(&store)
            .await
            .iter()
            .filter(|day| day.contains("T08:10"))
            .count(),
        1
    );

    broken.fault.fail("create");
    morning.until(26, 0).await;
    broken.fault.mend();
    morning.until(31, 0).await;
    let told_now = lines(&told);
    assert!(
        told_now.iter().any(|line| line == "failed 08:20"),
        "{told_now:?}"
    );
    assert_eq!(told_now.last().unwrap(), "started 08:30");
    assert!(!days(&store).await.iter().any(|day| day.contains("T08:20")));
}

#[tokio::test(start_paused = true)]
async fn a_key_lets_a_tick_wait_for_the_execution_of_the_last_one() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let one = StartOptions::new().concurrency_key("filed", NonZeroU32::MIN);
    let schedule = filed("often", "* * * * *")
        .options(one)
        .catch_up(Duration::ZERO);
    let runtime = process(store.clone());
    morning.until(1, 30).await;
    morning.run(&schedule, &runtime, &told);
    morning.until(4, 45).await;
    let mut statuses = BTreeMap::<String, usize>::new();
    for execution in &runtime.executions().list(ListOptions::new()).await.unwrap() {
        *statuses.entry(execution.status().to_string()).or_default() += 1;
    }
    assert_eq!(statuses[&Status::Running.to_string()], 1, "{statuses:?}");
    assert_eq!(statuses[&Status::Completed.to_string()], 1, "{statuses:?}");
    assert_eq!(statuses[&Status::Queued.to_string()], 1, "{statuses:?}");
}

/// Another version of the program makes another input of a tick that is started already.
#[tokio::test(start_paused = true)]
async fn a_tick_that_another_version_has_started_is_done() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    morning.run(
        &filed("often", "*/10 * * * *"),
        &process(store.clone()),
        &told,
    );
    let newer = Schedule::by_name(
        "often",
        "*/10 * * * *",
        "Filed",
        |_| json!({ "day": "other" }),
    );
    let newer_told = Told::default();
    morning.until(2, 0).await;
    morning.run(&newer.unwrap(), &process(store.clone()), &newer_told);
    morning.until(25, 0).await;
    assert_eq!(days(&store).await.len(), 2);
    let mut all = lines(&told);
    all.extend(lines(&newer_told));
    all.sort();
    let expected = [
        "failed 08:10",
        "failed 08:20",
        "started 08:10",
        "started 08:20",
    ];
    assert_eq!(all, expected, "whichever was first");
}

#[tokio::test(start_paused = true)]
async fn an_input_that_does_not_fit_is_told_and_not_tried_again() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let wrong = Schedule::by_name("wrong", "*/10 * * * *", "Filed", |_| json!({ "dya": 1 }));
    morning.run(&wrong.unwrap(), &process(store.clone()), &told);
    morning.until(21, 0).await;
    assert_eq!(lines(&told), ["failed 08:10", "failed 08:20"]);
    assert!(days(&store).await.is_empty());
}

#[tokio::test]
async fn what_is_wrong_with_schedules_is_said_before_they_run() {
    let runtime = process(Arc::new(MemoryStore::new()));
    let twice = Schedules::new()
        .with(filed("a", "* * * * *"))
        .with(filed("a", "1 * * * *"));
    let error = twice.run(&runtime).await.unwrap_err();
    assert_eq!(error.to_string(), "two schedules are named `a`");
    let other = Schedule::by_name("b", "* * * * *", "Filled", |_| json!({})).unwrap();
    let error = Schedules::new()
        .with(other)
        .run(&runtime)
        .await
        .unwrap_err();
    let said = "the schedule `b` starts the flow `Filled`, which is not registered";
    assert_eq!(error.to_string(), said);

    let wrong = |expression: &str| Schedule::by_name("c", expression, "Filed", |_| json!({}));
    for expression in [
        "",
        "* * * *",
        "60 * * * *",
        "* * * * * UTC",
        "@dayly",
        "*/0 * * * *",
        "5-1 * * * *",
        "* * * * * * 2030",
    ] {
        let error = wrong(expression).unwrap_err();
        assert!(
            matches!(error, ScheduleError::Expression { .. }),
            "{expression}: {error}"
        );
    }
    let error = filed("c", "* * * * *")
        .time_zone("Europe/Wien")
        .unwrap_err();
    let said = "the schedule `c` has an unknown time zone, `Europe/Wien`: write one as `Europe/Vienna` or `UTC`";
    assert_eq!(error.to_string(), said);
    let error = wrong("0 0 30 2 *").unwrap_err();
    let said = "the schedule `c` never comes due: no time is `0 0 30 2 *`";
    assert_eq!(error.to_string(), said);
}

/// The error of a start is one of the runtime.
#[tokio::test(start_paused = true)]
async fn a_runtime_that_is_shut_down_starts_no_tick() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let runtime = process(store.clone());
    let schedule = filed("often", "*/10 * * * *").catch_up(Duration::ZERO);
    morning.run(&schedule, &runtime, &told);
    morning.until(2, 0).await;
    runtime.shut_down().await;
    morning.until(11, 0).await;
    assert_eq!(lines(&told), ["failed 08:10"]);
    let input = FiledInput { day: "now".into() };
    let refused = runtime
        .executions()
        .start::<Filed>(input, StartOptions::new())
        .await;
    assert!(matches!(refused, Err(RuntimeError::ShutDown(_))));
}

flow_law::law! {
    nodes: [file_report],
    flows: [
        Filed,
    ],
}
