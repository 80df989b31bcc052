//! Who asks at random.

use crate::{Answer, Call, EXECUTIONS, TOKENS};

/// What is asked of a store.
#[derive(Debug, Clone, Copy)]
pub struct Asks {
    /// Whether an execution that was deleted is created again. On Redis, a process remembers which
    /// call made its claim, and does not write with it to another execution of the same id and fence,
    /// which the store in memory would let it do.
    reuses_ids: bool,
    /// Whether the log is read. On Postgres, it ends before the oldest write that is under way, so
    /// that a reader misses nothing later: it can be behind everything else.
    reads_log: bool,
}

impl Asks {
    /// What is asked of the store at this place.
    pub fn of(place: &str) -> Asks {
        Asks {
            reuses_ids: !place.starts_with("redis://"),
            reads_log: !place.starts_with("postgres://"),
        }
    }
}

/// A process that asks at random, with a clock of its own, and with what it has learned from the answers. So some of what it
/// asks is sensible and some is out of date.
#[derive(Debug)]
pub struct Caller {
    random: fastrand::Rng,
    number: u8,
    asks: Asks,
    /// Whether it has created the execution that may be deleted.
    has_created: bool,
    now_ms: u64,
    /// Of each execution the fence of the last claim, and the next record as far as known.
    known: [(u64, u64); EXECUTIONS as usize],
    /// When it last claimed each, or renewed its claims.
    claimed_ms: [u64; EXECUTIONS as usize],
}

impl Caller {
    /// One of several, whose clocks do not agree.
    pub fn new(number: u8, seed: u64, asks: Asks) -> Self {
        let mut random = fastrand::Rng::with_seed(seed ^ (u64::from(number) << 56));
        Caller {
            now_ms: 1000 + random.u64(0..80),
            random,
            number,
            asks,
            has_created: false,
            known: [(1, 1); EXECUTIONS as usize],
            claimed_ms: [0; EXECUTIONS as usize],
        }
    }

    /// What it asks next.
    pub fn next_call(&mut self) -> Call {
        let mut call = self.any_call();
        match &mut call {
            // One caller creates the second execution once, and only that is deleted.
            Call::Create { execution, .. } if !self.asks.reuses_ids && *execution > 0 => {
                if self.number > 0 || self.has_created {
                    *execution = 0;
                }
                self.has_created = true;
            }
            Call::Delete { execution } if !self.asks.reuses_ids => *execution = 1,
            Call::Log if !self.asks.reads_log => call = Call::List,
            _ => {}
        }
        call
    }

    fn any_call(&mut self) -> Call {
        self.now_ms += self.random.u64(0..30);
        let (now_ms, holder) = (self.now_ms, self.number);
        let random = &mut self.random;
        let execution = random.u8(0..EXECUTIONS);
        let question = random.u8(0..TOKENS);
        let (fence, next) = self.known[usize::from(execution)];
        match random.u8(0..100) {
            0..12 => Call::Create {
                execution,
                key: random.bool().then_some(0),
                question: (random.u8(0..3) == 0).then_some(question),
                holder: random.bool().then_some(holder),
                now_ms,
            },
            12..26 => Call::Claim {
                execution,
                holder,
                now_ms,
            },
            26..27 => Call::ClaimOf { execution },
            27..30 => Call::BreakClaim {
                execution,
                holder,
                claimed_ms: self.claimed_ms[usize::from(execution)],
            },
            30..34 => Call::Renew { holder, now_ms },
            34..60 => Call::Append {
                execution,
                fence,
                seq: (random.u8(0..4) > 0).then_some(next),
                opened: (random.u8(0..4) == 0).then_some(question),
                closed: (random.u8(0..6) == 0).then_some(question),
                status: (random.u8(0..3) == 0).then(|| random.u8(1..4)),
                taken: (random.u8(0..6) == 0).then(|| random.u64(1..3)),
                awaited: (random.u8(0..3) == 0).then(|| random.u8(0..2)),
                release: random.u8(0..6) == 0,
                now_ms,
            },
            60..64 => Call::End {
                execution,
                since_ms: random.bool().then_some(now_ms),
                now_ms,
            },
            64..70 => Call::Signal {
                execution,
                name: random.u8(0..2),
                key: (random.u8(0..3) == 0).then_some(0),
                now_ms,
            },
            70..76 => Call::Settle {
                question,
                answer: random.bool().then_some(holder),
                now_ms,
            },
            76..79 => Call::Delete { execution },
            79..86 => Call::Execution { execution },
            86..89 => Call::Records { execution },
            89..91 => Call::Pauses { execution },
            91..93 => Call::Signals { execution },
            93..94 => Call::Pause { question },
            94..96 => Call::Due { now_ms },
            96..98 => Call::List,
            _ => Call::Log,
        }
    }

    /// What it has learned.
    pub fn learn(&mut self, call: &Call, answer: &Answer) {
        match *call {
            Call::Claim {
                execution, now_ms, ..
            } if answer.row.is_some() => self.claimed_ms[usize::from(execution)] = now_ms,
            Call::Renew { now_ms, .. } => self.claimed_ms = [now_ms; EXECUTIONS as usize],
            _ => {}
        }
        match *call {
            Call::Claim { execution, .. } | Call::Execution { execution } => {
                if let Some(row) = &answer.row {
                    let known = &mut self.known[usize::from(execution)];
                    *known = match call {
                        Call::Claim { .. } => (row.fence, row.next_seq),
                        _ => (known.0, row.next_seq),
                    };
                }
            }
            Call::Append {
                execution,
                seq: Some(seq),
                ..
            } if answer.text == "()" => self.known[usize::from(execution)].1 = seq + 1,
            _ => {}
        }
    }

    /// Whether it gives this call up before it has an answer.
    pub fn gives_up(&mut self) -> bool {
        self.random.u8(0..25) == 0
    }
}
