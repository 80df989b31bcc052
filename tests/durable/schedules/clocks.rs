//! Clocks that are set, by people or because summer begins or ends.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::schedule::jiff::civil::DateTime;
use flow_durable::schedule::jiff::tz::{AmbiguousOffset, TimeZone};
use flow_durable::schedule::jiff::{Timestamp, ToSpan as _};

use super::{Morning, Told, days, filed, lines, process, run_by};
use crate::support::{minutes, pass, store};

fn at(text: &str) -> SystemTime {
    text.parse::<Timestamp>().unwrap().into()
}

/// In Vienna, 2027-03-28 has no time from 02:00 to 03:00, and 2027-10-31 has it twice.
#[test]
fn clocks_that_are_set_forward_and_back() {
    let ticks = |expression: &str, from: &str, count: usize| -> Vec<String> {
        let schedule = filed("vienna", expression)
            .time_zone("Europe/Vienna")
            .unwrap();
        let mut time = at(from);
        let mut next = || {
            let tick = schedule.next_after(time).unwrap();
            time = tick.at();
            tick.time().strftime("%d %H:%M %:z").to_string()
        };
        (0..count).map(|_| next()).collect()
    };
    let (spring, autumn) = ("2027-03-27T12:00:00Z", "2027-10-30T12:00:00Z");
    assert_eq!(
        ticks("30 2 * * *", spring, 2),
        ["28 03:00 +02:00", "29 02:30 +02:00"]
    );
    assert_eq!(
        ticks("30 2 * * *", autumn, 2),
        ["31 02:30 +02:00", "01 02:30 +01:00"]
    );
    let hourly = ticks("0 * * * *", "2027-10-30T23:30:00Z", 4);
    assert_eq!(
        hourly,
        [
            "31 02:00 +02:00",
            "31 02:00 +01:00",
            "31 03:00 +01:00",
            "31 04:00 +01:00"
        ]
    );
    assert_eq!(
        ticks("0 1-3 * * *", "2027-03-27T23:30:00Z", 4),
        [
            "28 01:00 +01:00",
            "28 03:00 +02:00",
            "29 01:00 +02:00",
            "29 02:00 +02:00"
        ]
    );
    assert_eq!(
        ticks("0,30 2,14 * * *", spring, 4),
        [
            "27 14:00 +01:00",
            "27 14:30 +01:00",
            "28 03:00 +02:00",
            "28 14:00 +02:00"
        ]
    );
    assert_eq!(
        ticks("0,30 2,14 * * *", "2027-10-30T13:00:00Z", 3),
        ["31 02:00 +02:00", "31 02:30 +02:00", "31 14:00 +01:00"]
    );
    assert_eq!(
        ticks("30 1-3 * * *", "2027-10-30T22:00:00Z", 4),
        [
            "31 01:30 +02:00",
            "31 02:30 +02:00",
            "31 03:30 +01:00",
            "01 01:30 +01:00"
        ]
    );
    assert_eq!(
        ticks("@daily", spring, 2),
        ["28 00:00 +01:00", "29 00:00 +02:00"]
    );
    assert_eq!(
        ticks("0 */2 * * *", "2027-03-27T22:30:00Z", 3),
        ["28 00:00 +01:00", "28 04:00 +02:00", "28 06:00 +02:00"]
    );
    assert!(at("2027-01-15T08:00:00Z") == UNIX_EPOCH + Duration::from_secs(1_800_000_000));
}

/// A clock that was a day ahead for a while, in one of two processes: the ticks of the day to come are
/// started early, and once, and both go on with the ticks of now.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_ahead_and_is_set_back_holds_up_nothing() {
    let morning = Morning::begins();
    let (store, told) = (store(), Told::default());
    let ahead = Arc::new(Mutex::new(Duration::ZERO));
    let by = ahead.clone();
    let schedule = filed("often", "*/10 * * * *");
    let clock = move || morning.now() + *by.lock().unwrap();
    run_by(&schedule, &process(store.clone()), &told, clock);
    morning.until(9, 0).await;
    *ahead.lock().unwrap() = minutes(24 * 60);
    morning.until(11, 0).await;
    *ahead.lock().unwrap() = Duration::ZERO;
    morning.until(25, 0).await;
    let expected = ["missed 08:10", "started 08:10", "started 08:20"];
    assert_eq!(lines(&told), expected, "the second is that of tomorrow");

    let other = Told::default();
    morning.run(&schedule, &process(store.clone()), &other);
    morning.until(31, 0).await;
    assert_eq!(lines(&other), ["started 08:30"]);
    // Set back by half an hour: what has been started is not started again.
    let before = days(&store).await;
    let back = move || morning.now() - minutes(30);
    let late = Told::default();
    run_by(&schedule, &process(store.clone()), &late, back);
    morning.until(52, 0).await;
    assert_eq!(lines(&late), ["started 08:10", "started 08:20"]);
    let mut after = days(&store).await;
    after.retain(|day| !before.contains(day));
    // The first one was missed before.
    let new = [10, 40, 50].map(|minute| format!("2027-01-15T08:{minute}:00+00:00[UTC]"));
    assert_eq!(after, new);
}

/// The nights in which clocks are set, and an evening before in UTC.
const NIGHTS: [(&str, &str); 4] = [
    ("Europe/Berlin", "2027-03-27T18:00:00Z"),
    ("Europe/Berlin", "2027-10-30T18:00:00Z"),
    ("America/New_York", "2027-03-13T22:00:00Z"),
    ("America/New_York", "2027-11-06T22:00:00Z"),
];

/// A cron expression, and the times of day that it is about, said another way.
struct Expression {
    text: &'static str,
    minutes: &'static [i8],
    hours: &'static [i8],
    is_of_each_hour: bool,
}

const fn fixed(text: &'static str, minutes: &'static [i8], hours: &'static [i8]) -> Expression {
    Expression {
        text,
        minutes,
        hours,
        is_of_each_hour: false,
    }
}

const fn of_each_hour(
    text: &'static str,
    minutes: &'static [i8],
    hours: &'static [i8],
) -> Expression {
    Expression {
        is_of_each_hour: true,
        ..fixed(text, minutes, hours)
    }
}

const ALL_HOURS: &[i8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
];

const EXPRESSIONS: [Expression; 10] = [
    fixed("30 2 * * *", &[30], &[2]),
    fixed("30 1 * * *", &[30], &[1]),
    fixed("0 2 * * *", &[0], &[2]),
    fixed("0 3 * * *", &[0], &[3]),
    fixed("0,15,45 1-3 * * *", &[0, 15, 45], &[1, 2, 3]),
    fixed("0 0,2,14 * * *", &[0], &[0, 2, 14]),
    fixed("0 30 2 * * *", &[30], &[2]),
    of_each_hour("*/15 * * * *", &[0, 15, 30, 45], ALL_HOURS),
    of_each_hour(
        "30 */2 * * *",
        &[30],
        &[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22],
    ),
    of_each_hour("@hourly", &[0], ALL_HOURS),
];

impl Expression {
    fn is_about(&self, local: DateTime) -> bool {
        self.minutes.contains(&local.minute()) && self.hours.contains(&local.hour())
    }

    /// All ticks of two days, minute by minute.
    fn expected(&self, zone: &TimeZone, from: Timestamp) -> BTreeSet<Timestamp> {
        let minutes = (0..2 * 24 * 60).map(|minute| minute.minutes());
        if self.is_of_each_hour {
            let instants = minutes.map(|minutes| from + minutes);
            return instants
                .filter(|instant| self.is_about(instant.to_zoned(zone.clone()).datetime()))
                .collect();
        }
        let first = from.to_zoned(zone.clone()).datetime();
        let locals = minutes.map(|minutes| first + minutes);
        let comes_due = |mut local: DateTime| {
            // What is left out comes due at the next minute that there is.
            while is_left_out(zone, local) {
                local += 1.minute();
            }
            let first = zone.to_ambiguous_zoned(local).earlier();
            first.unwrap().timestamp()
        };
        locals
            .filter(|local| self.is_about(*local))
            .map(comes_due)
            .collect()
    }
}

fn is_left_out(zone: &TimeZone, local: DateTime) -> bool {
    let offset = zone.to_ambiguous_zoned(local).offset();
    matches!(offset, AmbiguousOffset::Gap { .. })
}

/// Whenever a process looks, also within the hour that is left out or there twice, it sees the same next
/// tick.
#[test]
fn each_process_sees_the_same_ticks_of_the_nights_in_which_clocks_are_set() {
    for (zone, from) in NIGHTS {
        let (name, zone) = (zone, TimeZone::get(zone).unwrap());
        let from: Timestamp = from.parse().unwrap();
        for expression in &EXPRESSIONS {
            let schedule = filed("night", expression.text).time_zone(name).unwrap();
            let expected = expression.expected(&zone, from);
            for look in 0..(16 * 12) {
                for second in [-1, 0, 1] {
                    let now = from + (look * 5).minutes() + second.seconds();
                    let next = schedule.next_after(now.into()).unwrap();
                    let mut after = expected.range(now..).filter(|tick| **tick > now);
                    let case = format!("{} in {name} at {now}", expression.text);
                    assert_eq!(next.time().timestamp(), *after.next().unwrap(), "{case}");
                }
            }
        }
    }
}

/// Two processes run through the night, one of which has its clock set back by an hour meanwhile, as
/// somebody does who sets it to the time of winter by hand. Each tick is one execution.
#[tokio::test(start_paused = true)]
async fn two_processes_start_each_tick_of_such_a_night_once() {
    for (zone, from) in NIGHTS {
        let time_zone = TimeZone::get(zone).unwrap();
        let from: Timestamp = from.parse().unwrap();
        for expression in EXPRESSIONS.iter().skip(4).step_by(3) {
            let schedule = filed("night", expression.text).time_zone(zone).unwrap();
            let store = store();
            let began = tokio::time::Instant::now();
            let clock = move || SystemTime::from(from) + began.elapsed();
            let set_back = Arc::new(Mutex::new(Duration::ZERO));
            let by = set_back.clone();
            let (right, wrong) = (process(store.clone()), process(store.clone()));
            let told = Told::default();
            let first = run_by(&schedule, &right, &told, clock);
            let behind = move || clock() - *by.lock().unwrap();
            let second = run_by(&schedule, &wrong, &told, behind);
            pass(minutes(7 * 60 + 3)).await;
            *set_back.lock().unwrap() = minutes(60);
            pass(minutes(5 * 60)).await;
            first.abort();
            second.abort();
            let until = from + (12 * 60 + 3).minutes();
            let ticks = expression.expected(&time_zone, from);
            let mut expected: Vec<_> = ticks
                .range(from..until)
                .map(|tick| tick.to_zoned(time_zone.clone()).to_string())
                .collect();
            expected.sort();
            assert_eq!(
                days(&store).await,
                expected,
                "{} in {zone}",
                expression.text
            );
            assert!(lines(&told).iter().all(|line| line.starts_with("started")));
        }
    }
}
