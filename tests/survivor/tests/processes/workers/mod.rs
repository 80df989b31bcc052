//! Four workers take executions out of one queue, while every moment one of them is killed, drained,
//! or stopped for longer than its lease, and another one is added. On Postgres and on Redis, their
//! clocks differ by up to two hours.
//!
//! What they did is judged by what they noted: each step and each call of the store, with its times.
//! A short form is part of the tests. The whole one, with a worker that goes every second:
//! `WORKERS=2000 cargo test -p flow-survivor --test processes -- --nocapture come_and_go`.
//! `KEEP=folder` keeps the database (of Postgres a dump) and the notes if something is wrong.

mod claims;
mod crew;
mod limits;
mod lives;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use flow_durable::{
    Execution, ListOptions, RecordKind, Runtime, RuntimeError, RuntimeOptions, StartOptions,
    Status, Token,
};
use flow_survivor::job::{Batch, BatchInput, Errand, ErrandInput, Job, JobInput};
use flow_survivor::told::now_us;
use flow_survivor::{GoOn, expected_questions, expected_total};

use crate::database::{Server, block_on};
use crate::grave::Grave;
use crate::support::{Outcome, check_journal};
use claims::{Times, judge_claims, judge_drained, judge_steps, taken_over, went_on_after};
use crew::Crew;
use limits::{Given, KEY_AT_MOST, judge_limits, judge_order, waits};
use lives::{History, Life, histories};

const LEASE: Duration = Duration::from_millis(600);

const WORKERS: usize = 4;

/// How many executions there are in the short form.
const FEW: u64 = 200;

/// How many executions there are, how often a worker goes, and how long all may take.
#[derive(Clone, Copy)]
struct Scale {
    executions: u64,
    every: Duration,
    at_most: Duration,
}

impl Scale {
    fn from_env() -> Outcome<Scale> {
        let (executions, every_ms) = match std::env::var("WORKERS") {
            Ok(text) => match text.parse() {
                Ok(executions) => (executions, 1000),
                Err(_) => return Err(format!("WORKERS is `{text}`, and has to be a number").into()),
            },
            Err(_) => (FEW, 400),
        };
        Ok(Scale {
            executions,
            every: Duration::from_millis(every_ms),
            at_most: Duration::from_secs(120 + executions / 2),
        })
    }
}

/// What an execution was started with, and what came of it.
struct Started {
    execution: Execution,
    given: Given,
    number: u64,
}

/// Starts executions, and answers what they ask.
struct Front {
    runtime: Runtime,
    /// Answers the same questions at the same time.
    other: Runtime,
    began_ms: u64,
    started: Vec<Started>,
    answers: BTreeMap<Token, Answer>,
    wrong: Vec<String>,
}

/// An answer that was accepted.
struct Answer {
    execution: String,
    bonus: u64,
    /// The time before it was given, in microseconds.
    at: u64,
}

fn rounds_of(number: u64) -> u64 {
    1 + number % 3
}

/// The items of a batch.
fn batch_of(number: u64) -> Vec<u64> {
    (number..number + 10).collect()
}

impl Front {
    async fn new(grave: &Grave) -> Outcome<Front> {
        let runtime = async || -> Outcome<Runtime> {
            let options = RuntimeOptions::new().concurrent_executions(0);
            let runtime = Runtime::with_options(grave.database().store().await?, options);
            runtime.register(Job::new())?;
            runtime.register(Errand::new())?;
            runtime.register(Batch::new())?;
            Ok(runtime)
        };
        Ok(Front {
            runtime: runtime().await?,
            other: runtime().await?,
            began_ms: now_us() / 1000,
            started: Vec::new(),
            answers: BTreeMap::new(),
            wrong: Vec::new(),
        })
    }

    /// Starts one with this number: every fourth has a key, every seventh a time.
    async fn start(&mut self, number: u64) -> Outcome {
        let priority = i32::try_from(fastrand::u64(..3))? - 1;
        let mut options = StartOptions::new().priority(priority);
        let key = number
            .is_multiple_of(4)
            .then(|| format!("key {}", number % 3));
        if let Some(key) = &key {
            options = options.concurrency_key(key, NonZeroU32::try_from(KEY_AT_MOST as u32)?);
        }
        let mut not_before_ms = 0;
        if number.is_multiple_of(7) {
            not_before_ms = self.began_ms + fastrand::u64(500..5000);
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(not_before_ms);
            options = options.not_before(time);
        }
        let (execution, flow) = if number % 5 == 3 {
            let start = self
                .runtime
                .executions()
                .start::<Errand>(ErrandInput { number }, options);
            (start.await?, "Errand")
        } else if number % 11 == 6 {
            let numbers = batch_of(number);
            let start = self
                .runtime
                .executions()
                .start::<Batch>(BatchInput { numbers }, options);
            (start.await?, "Batch")
        } else {
            let input = JobInput {
                rounds: rounds_of(number),
                round: 0,
                total: 0,
            };
            (
                self.runtime
                    .executions()
                    .start::<Job>(input, options)
                    .await?,
                "Job",
            )
        };
        assert_eq!(execution.status(), Status::Queued);
        let given = Given {
            id: execution.id().to_string(),
            flow,
            priority,
            not_before_ms,
            key,
            stored_us: now_us(),
        };
        self.started.push(Started {
            execution,
            given,
            number,
        });
        Ok(())
    }

    /// Answers what is asked, twice at the same time, of which one is accepted.
    async fn answer(&mut self) -> Outcome {
        let listed = self
            .runtime
            .executions()
            .list(ListOptions::new().status(Status::Paused));
        for execution in listed.await? {
            for question in execution.questions().await? {
                let token = question.token();
                if !question.prompt().starts_with("Go on") || self.answers.contains_key(&token) {
                    continue;
                }
                let (at, yes) = (now_us(), |bonus| GoOn::Yes { bonus });
                let (one, two) = tokio::join!(
                    self.runtime.executions().resume(token, yes(1000)),
                    self.other.executions().resume(token, yes(3000))
                );
                let bonus = match (one, two) {
                    (
                        Ok(_),
                        Err(RuntimeError::AlreadyAnswered { .. } | RuntimeError::Over { .. }),
                    ) => 1000,
                    (
                        Err(RuntimeError::AlreadyAnswered { .. } | RuntimeError::Over { .. }),
                        Ok(_),
                    ) => 3000,
                    both => {
                        self.wrong
                            .push(format!("{token} was answered so: {both:?}"));
                        continue;
                    }
                };
                let answer = Answer {
                    execution: execution.id().to_string(),
                    bonus,
                    at,
                };
                self.answers.insert(token, answer);
            }
        }
        Ok(())
    }

    async fn are_over(&self) -> Outcome<bool> {
        for status in [Status::Queued, Status::Running, Status::Paused] {
            let listed = self
                .runtime
                .executions()
                .list(ListOptions::new().status(status).limit(1));
            if !listed.await?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The parts of a batch have done each item once.
    async fn judge_parts(&self, execution: &Execution) -> Outcome {
        let mut items = BTreeMap::new();
        for part in self
            .runtime
            .executions()
            .list(ListOptions::new().flow("Batch.all"))
            .await?
            .iter()
        {
            if part.part_of() != Some(execution.id()) {
                continue;
            }
            assert_eq!(part.status(), Status::Completed);
            for record in part.journal().await? {
                if record.kind == RecordKind::Outcome {
                    *items.entry(record.path).or_insert(0) += 1;
                }
            }
        }
        let expected = (0..10).map(|item| (format!("batch.all[{item}]"), 1));
        assert_eq!(items, expected.collect(), "{}", execution.id());
        Ok(())
    }

    /// Everything is completed, with the right output and each outcome once.
    async fn judge(&mut self) -> Outcome {
        for started in &self.started {
            let execution = started.execution.refreshed().await?;
            let id = &started.given.id;
            if execution.status() != Status::Completed {
                let status = execution.status();
                self.wrong.push(format!("{id} is {status}"));
                continue;
            }
            let journal = execution.journal().await?;
            let (number, rounds) = (started.number, rounds_of(started.number));
            let own = self.answers.values().filter(|it| it.execution == *id);
            let bonus: Vec<u64> = own.map(|it| it.bonus).collect();
            if started.given.flow == "Errand" {
                let output = execution.output::<Errand>()?.ok_or("no output")?;
                assert_eq!(output.number, (number + 1) * 2, "{id}");
                let outcomes = journal.iter().filter(|it| it.kind == RecordKind::Outcome);
                assert_eq!(outcomes.count(), 2, "{id}: {journal:?}");
            } else if started.given.flow == "Batch" {
                let output = execution.output::<Batch>()?.ok_or("no output")?;
                let expected = batch_of(number).into_iter().map(|number| number + 1);
                assert_eq!(output.all, expected.collect::<Vec<u64>>(), "{id}");
                self.judge_parts(&execution).await?;
            } else {
                let output = execution.output::<Job>()?.ok_or("no output")?;
                let questions = expected_questions(rounds);
                let total = expected_total(rounds) - questions * 1000 + bonus.iter().sum::<u64>();
                assert_eq!(output.total, total, "{id}");
                check_journal(&journal, rounds);
            }
        }
        Ok(())
    }
}

/// Lets workers come and go until everything is over.
async fn work(grave: &Grave, front: &mut Front, scale: Scale) -> Outcome<Vec<Life>> {
    let mut crew = Crew::new(grave);
    let half = scale.executions / 2;
    for number in 0..half {
        front.start(number).await?;
    }
    for _ in 0..WORKERS {
        crew.add()?;
    }
    let mut numbers = half..scale.executions;
    let (began, mut changed) = (Instant::now(), Instant::now());
    loop {
        for number in numbers.by_ref().take(5) {
            front.start(number).await?;
        }
        front.answer().await?;
        if numbers.is_empty() && front.are_over().await? {
            break;
        }
        if began.elapsed() > scale.at_most {
            front.wrong.push("somebody waits for ever".to_owned());
            break;
        }
        if changed.elapsed() >= scale.every {
            changed = Instant::now();
            crew.change()?;
        }
        crew.look()?;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    crew.end().await?;
    Ok(crew.lives)
}

fn shown(times: &[u64]) -> String {
    let ms = |us: Option<&u64>| us.map_or("-".to_owned(), |us| format!("{} ms", us / 1000));
    let (median, most) = (times.get(times.len() / 2), times.last());
    format!("{}, {} at most, of {}", ms(median), ms(most), times.len())
}

/// What is wrong, after the times were printed.
fn judge(front: &Front, lives: &[Life]) -> Vec<String> {
    let given: Vec<Given> = front.started.iter().map(|it| it.given.clone()).collect();
    let all = histories(lives);
    let (mut wrong, mut times) = (Vec::new(), Times::default());
    judge_notes(&all, lives, &given, &mut wrong);
    judge_claims(&all, lives, &mut wrong);
    judge_steps(&all, lives, &mut times, &mut wrong);
    judge_drained(&all, lives, &mut wrong);
    judge_limits(&all, lives, &given, &mut wrong);
    judge_order(&all, lives, &given, &mut wrong);
    taken_over(&all, lives, &mut times);
    for (priority, waits) in waits(&all, &given) {
        println!(
            "  waited in the queue with priority {priority}: {}",
            shown(&waits)
        );
    }
    let answered = front.answers.values().map(|it| (&*it.execution, it.at));
    let answered = went_on_after(&all, answered);
    println!("  went on after an answer: {}", shown(&answered));
    println!("  went on after a kill: {}", shown(&times.killed));
    println!("  went on after a drain: {}", shown(&times.drained));
    let count = |is: fn(&Life) -> bool| lives.iter().filter(|life| is(life)).count();
    println!(
        "  {} workers, {} killed, {} stops; {} leases ran out in life; {} steps ran again, {} began late",
        lives.len(),
        count(|life| life.killed_us().is_some()),
        lives.iter().map(|life| life.stops.len()).sum::<usize>(),
        times.ran_out,
        times.reruns,
        times.late
    );
    wrong.extend(judge_times(&times));
    // Who was answered has begun before: only those wait that find no place, and for others like them.
    let longest_in_queue = waits(&all, &given).into_values().flatten().max();
    if answered.last() > longest_in_queue.as_ref() {
        wrong.push("who was answered waits for longer than anybody in the queue".to_owned());
    }
    wrong
}

/// There is something to be judged: workers went, and what they did with each execution is known.
fn judge_notes(
    all: &BTreeMap<String, History>,
    lives: &[Life],
    given: &[Given],
    wrong: &mut Vec<String>,
) {
    if lives.len() <= WORKERS {
        wrong.push("no worker has gone before the end".to_owned());
    }
    for one in given {
        let history = all.get(&one.id);
        if history.is_none_or(|history| history.tenures.is_empty() || history.writes.is_empty()) {
            wrong.push(format!("nobody has noted what was done with {}", one.id));
        }
    }
    if lives.iter().all(|life| life.notes.began.is_empty()) {
        wrong.push("nobody has noted a step".to_owned());
    }
}

/// What a worker left that was killed goes on when its lease is over; what it gave up does not wait
/// for that. A busy machine has time.
fn judge_times(times: &Times) -> Vec<String> {
    let mut wrong = Vec::new();
    // A few say nothing: each may have waited for a place.
    let enough = |times: &&[u64]| times.len() >= 10;
    let median = |times| Some(times).filter(enough)?.get(times.len() / 2).copied();
    let lease = u64::try_from(LEASE.as_micros()).unwrap_or(u64::MAX);
    if median(&times.killed).is_some_and(|median| median > lease * 3) {
        wrong.push("it takes much longer than a lease to take over".to_owned());
    }
    if median(&times.drained).is_some_and(|median| median > lease) {
        wrong.push("what was given up has to wait".to_owned());
    }
    wrong
}

async fn come_and_go(grave: &Grave) -> Outcome {
    let scale = Scale::from_env()?;
    let mut front = Front::new(grave).await?;
    let began = Instant::now();
    let lives = work(grave, &mut front, scale).await?;
    println!(
        "{}: {} executions in {:.1?}",
        grave.database().server().name(),
        scale.executions,
        began.elapsed()
    );
    let mut wrong = judge(&front, &lives);
    front.judge().await?;
    wrong.append(&mut front.wrong);
    if !wrong.is_empty() {
        if let Some(kept) = std::env::var_os("KEEP") {
            grave.keep(Path::new(&kept))?;
        }
        for wrong in wrong.iter().take(50) {
            println!("  {wrong}");
        }
    }
    assert!(wrong.is_empty(), "{} violations", wrong.len());
    Ok(())
}

fn come_and_go_on(server: Server) -> Outcome {
    let grave = Grave::new(server)?;
    block_on(come_and_go(&grave))
}

#[test]
fn workers_that_come_and_go_do_everything_once() -> Outcome {
    come_and_go_on(Server::Sqlite)
}

#[test]
fn workers_that_come_and_go_on_postgres_do_everything_once() -> Outcome {
    Server::postgres().map_or(Ok(()), come_and_go_on)
}

#[test]
fn workers_that_come_and_go_on_redis_do_everything_once() -> Outcome {
    Server::redis().map_or(Ok(()), come_and_go_on)
}
