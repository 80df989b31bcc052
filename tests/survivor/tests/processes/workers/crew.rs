//! The workers: they come, are killed, drained or stopped, and go.

use std::time::{Duration, Instant};

use flow_survivor::told::now_us;
use rustix::process::Signal;

use super::LEASE;
use super::lives::{End, Life, Notes};
use crate::database::Server;
use crate::grave::Grave;
use crate::support::{Outcome, Process};

/// How long a worker may take to stop or to end.
const TOO_LONG: Duration = Duration::from_secs(60);

/// By how much the clock of a worker may be wrong where the store has its own.
const WRONG_BY_MS: i64 = 60 * 60 * 1000;

/// A worker that has not ended.
struct Worker {
    name: String,
    process: Process,
    stops: Vec<(u64, u64)>,
    /// When it was stopped, and when it goes on.
    stopped: Option<(u64, Instant)>,
    asked_us: Option<u64>,
}

/// The workers, those that have ended too.
pub(super) struct Crew<'a> {
    grave: &'a Grave,
    spawned: usize,
    workers: Vec<Worker>,
    pub(super) lives: Vec<Life>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(grave: &'a Grave) -> Self {
        Crew {
            grave,
            spawned: 0,
            workers: Vec::new(),
            lives: Vec::new(),
        }
    }

    pub(super) fn add(&mut self) -> Outcome {
        let name = format!("worker {}", self.spawned);
        self.spawned += 1;
        let clock_ms = match self.grave.database().server() {
            // There the clocks of the processes are the ones that count.
            Server::Sqlite => 0,
            Server::Postgres(_) | Server::Redis(_) => fastrand::i64(-WRONG_BY_MS..=WRONG_BY_MS),
        };
        let process = self.grave.worker(&name, LEASE, clock_ms)?;
        self.workers.push(Worker {
            name,
            process,
            stops: Vec::new(),
            stopped: None,
            asked_us: None,
        });
        Ok(())
    }

    /// A worker goes, and another one comes.
    pub(super) fn change(&mut self) -> Outcome {
        let able = |worker: &&mut Worker| worker.stopped.is_none() && worker.asked_us.is_none();
        let mut able: Vec<&mut Worker> = self.workers.iter_mut().filter(able).collect();
        let index = fastrand::usize(..able.len().max(1));
        let Some(worker) = able.get_mut(index) else {
            return Ok(());
        };
        match fastrand::u8(..3) {
            0 => {
                worker.process.kill()?;
                let killed = now_us();
                let name = worker.name.clone();
                self.ended(&name, End::Killed(killed))?;
                self.add()
            }
            1 => {
                worker.asked_us = Some(now_us());
                worker.process.end_input();
                self.add()
            }
            _ => {
                let since = now_us();
                worker.process.signal(Signal::STOP)?;
                let began = Instant::now();
                while !worker.process.is_stopped()? {
                    if began.elapsed() > TOO_LONG {
                        return Err(format!("{} does not stop", worker.name).into());
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                if !self.grave.database().can_be_written()? {
                    // It was writing, and is in the way of everybody, also of who lets it go on.
                    worker.stops.push((since, now_us()));
                    return worker.process.signal(Signal::CONT);
                }
                let more = Duration::from_millis(fastrand::u64(0..200));
                worker.stopped = Some((since, Instant::now() + LEASE + more));
                Ok(())
            }
        }
    }

    /// Lets those go on whose time has come, and sees who has ended.
    pub(super) fn look(&mut self) -> Outcome {
        let mut ended = Vec::new();
        for worker in &mut self.workers {
            if let Some((since, until)) = worker.stopped
                && Instant::now() >= until
            {
                worker.stops.push((since, now_us()));
                worker.process.signal(Signal::CONT)?;
                worker.stopped = None;
            }
            if let Some(success) = worker.process.is_over()? {
                let Some(asked_us) = worker.asked_us.filter(|_| success) else {
                    return Err(format!("{} has ended: {success}", worker.name).into());
                };
                let ended_us = now_us();
                ended.push((worker.name.clone(), End::Drained { asked_us, ended_us }));
            }
        }
        for (name, end) in ended {
            self.ended(&name, end)?;
        }
        Ok(())
    }

    fn ended(&mut self, name: &str, end: End) -> Outcome {
        let is_it = |worker: &Worker| worker.name == name;
        let index = self
            .workers
            .iter()
            .position(is_it)
            .ok_or("no such worker")?;
        let mut worker = self.workers.swap_remove(index);
        worker.process.succeeds()?;
        self.lives.push(Life {
            notes: Notes::read(&self.grave.effects(name))?,
            name: worker.name,
            end,
            stops: worker.stops,
        });
        Ok(())
    }

    /// Drains all.
    pub(super) async fn end(&mut self) -> Outcome {
        let began = Instant::now();
        while !self.workers.is_empty() {
            if began.elapsed() > TOO_LONG {
                return Err(format!("{} workers do not end", self.workers.len()).into());
            }
            for worker in &mut self.workers {
                if worker.stopped.is_none() && worker.asked_us.is_none() {
                    worker.asked_us = Some(now_us());
                    worker.process.end_input();
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.look()?;
        }
        Ok(())
    }
}
