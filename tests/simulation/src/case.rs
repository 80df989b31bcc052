//! One case: a flow, what its steps do, and how it is disturbed.

use std::fmt;

use fastrand::Rng;

use crate::backend::Backend;
use crate::flows;
use crate::versions::{Changed, Version};

/// A case. All that happens follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The number of the flow.
    pub flow: usize,
    /// Decides what its steps do.
    pub world: u64,
    /// After how many records there is a snapshot; 0 for none.
    pub snapshot_every: usize,
    /// Whether the records before a snapshot are removed.
    pub prune: bool,
    /// What happens to the processes, one after the other.
    pub stops: Vec<Stop>,
    /// Of how many records a new execution goes on.
    pub copies: usize,
    /// Which processes have the flow as a document.
    pub loaded: Loaded,
    /// Which store outlives them.
    pub backend: Backend,
    /// A process that is stopped and goes on, while another one takes over.
    pub freeze: Option<Freeze>,
    /// Whether the time to answer may run out between any two readings of the clock.
    pub moves: bool,
    /// At which call of the store somebody removes the execution, in each process.
    pub deleted: Option<u64>,
    /// At how many records somebody cancels the execution.
    pub cancelled: Option<u64>,
    /// From which process on there is another version of the flow. One that cannot continue the execution with
    /// it leaves that as it is, and all that come after have the old version.
    pub changed: Option<Changed>,
    /// Whether other tasks run while the store answers, some answers come later than a claim lasts, and
    /// somebody waits for the end all the time.
    pub busy: bool,
}

/// A process is stopped for longer than its claims last, as by `SIGSTOP`, and goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// The number of the process, from 0.
    pub process: usize,
    /// At its call of the store with this number, from 1.
    pub call: u64,
    /// Whether the call has its effect before.
    pub has_effect: bool,
    /// How often the other process calls the store until it dies.
    pub other_calls: u64,
}

impl Freeze {
    fn random(rng: &mut Rng) -> Freeze {
        let most = [12, 40, 120][rng.usize(..3)];
        Freeze {
            process: rng.usize(..2),
            call: rng.u64(1..=most),
            has_effect: rng.bool(),
            other_calls: {
                let most = [12, 40, 1000][rng.usize(..3)];
                rng.u64(1..=most)
            },
        }
    }

    /// What the command line has: `0:12:after:40`.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn parse(text: &str) -> Result<Freeze, String> {
        let wrong = || format!("`{text}` is not as 0:12:after:40");
        let [process, call, when, other_calls] = text
            .split(':')
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| wrong())?;
        Ok(Freeze {
            process: process.parse().map_err(|_| wrong())?,
            call: call.parse().map_err(|_| wrong())?,
            has_effect: when == "after",
            other_calls: other_calls.parse().map_err(|_| wrong())?,
        })
    }
}

impl fmt::Display for Freeze {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.has_effect { "after" } else { "before" };
        let Freeze {
            process,
            call,
            other_calls,
            ..
        } = self;
        write!(f, "{process}:{call}:{when}:{other_calls}")
    }
}

/// Which processes have the flow as a document, and not as it was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// None.
    Never,
    /// All.
    Always,
    /// The second one, the fourth, and so on.
    Second,
}

impl Loaded {
    const ALL: [(Loaded, &str); 3] = [
        (Loaded::Never, "never"),
        (Loaded::Always, "always"),
        (Loaded::Second, "second"),
    ];

    /// Whether the process with this number, from 0, is one of them.
    pub(crate) fn is_in(self, process: usize) -> bool {
        match self {
            Loaded::Never => false,
            Loaded::Always => true,
            Loaded::Second => process % 2 == 1,
        }
    }

    /// The one that the command line names.
    ///
    /// # Errors
    ///
    /// There is none of this name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Loaded::ALL.iter().find(|(_, name)| *name == text);
        let found = found.map(|(loaded, _)| *loaded);
        found.ok_or_else(|| format!("`{text}` is not never, always or second"))
    }
}

/// Something that happens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// At its call of the store with this number, from 1.
    pub call: u64,
    /// What.
    pub kind: StopKind,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// The process dies before the call has had its effect.
    DieBefore,
    /// The process dies after that.
    DieAfter,
    /// The call fails without an effect.
    FailBefore,
    /// The call has its effect and fails.
    FailAfter,
    /// The process shuts down after the call.
    ShutDown,
}

impl StopKind {
    const ALL: [(StopKind, char); 5] = [
        (StopKind::DieBefore, 'b'),
        (StopKind::DieAfter, 'a'),
        (StopKind::FailBefore, 'f'),
        (StopKind::FailAfter, 'l'),
        (StopKind::ShutDown, 's'),
    ];
}

impl Case {
    /// The case of a seed. In one of three, nodes of the flow add, or it has races.
    pub fn of_seed(seed: u64) -> Case {
        let mut case = Case::without_additions(seed);
        let mut rng = Rng::with_seed(!seed);
        if rng.u8(..3) == 0 {
            case.flow = rng.usize(flows::PLAIN..flows::all().len());
        }
        let one_in = if flows::UNDOING.contains(&case.flow) {
            2
        } else {
            16
        };
        case.maybe_cancelled(&mut rng, one_in);
        case
    }

    /// The case of a seed with a saga: see [`crate::saga`].
    pub fn of_saga(seed: u64) -> Case {
        let mut case = Case::without_additions(seed);
        let mut rng = Rng::with_seed(!seed);
        case.flow = rng.usize(flows::SAGAS);
        case.deleted = None;
        case.maybe_cancelled(&mut rng, 2);
        case
    }

    fn maybe_cancelled(&mut self, rng: &mut Rng, one_in: u8) {
        if self.deleted.is_none() && rng.u8(..one_in) == 0 {
            let most = [12, 40, 120][rng.usize(..3)];
            self.cancelled = Some(rng.u64(1..=most));
        }
    }

    /// The case of a seed with a flow without races in which no node adds.
    pub fn without_additions(seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let stops = (0..rng.usize(1..5)).map(|_| {
            // Most executions make some hundred calls; the first ones are made by every process.
            let most = [12, 40, 120, 400][rng.usize(..4)];
            Stop {
                call: rng.u64(1..=most),
                kind: StopKind::ALL[rng.usize(..5)].0,
            }
        });
        let stops = stops.collect();
        let mut case = Case {
            flow: rng.usize(..flows::PLAIN),
            world: rng.u64(..1_000_000),
            snapshot_every: [0, 1, 2, 5, 20][rng.usize(..5)],
            prune: rng.u8(..4) == 0,
            stops,
            copies: usize::from(rng.u8(..4) == 0) * 2,
            loaded: Loaded::ALL[rng.usize(..3)].0,
            backend: Backend::Memory,
            freeze: (rng.u8(..3) == 0).then(|| Freeze::random(&mut rng)),
            moves: rng.u8(..4) == 0,
            deleted: (rng.u8(..8) == 0).then(|| {
                let most = [12, 40, 120][rng.usize(..3)];
                rng.u64(1..=most)
            }),
            cancelled: None,
            changed: None,
            busy: false,
        };
        if case.freeze.is_none() && case.deleted.is_none() && rng.bool() {
            case.changed = Some(Changed {
                process: rng.usize(..3),
                at: rng.u64(..1_000_000),
            });
        }
        case.busy = rng.bool();
        case
    }

    /// Whether its version, if it has another one, does the same steps.
    pub(crate) fn keeps_the_end(&self) -> bool {
        self.changed.is_none_or(Changed::keeps_the_end)
    }

    /// What the process with this number has, from 0.
    pub(crate) fn version(&self, process: usize) -> Version {
        match self.changed {
            Some(Changed { process: first, at }) if process >= first => Version::Changed(at),
            _ if self.loaded.is_in(process) => Version::Loaded,
            _ => Version::Compiled,
        }
    }

    /// The stops as the command line has them: `12b,3a`.
    fn stops_as_text(&self) -> String {
        let one = |stop: &Stop| {
            let letter = StopKind::ALL.iter().find(|(kind, _)| *kind == stop.kind);
            format!("{}{}", stop.call, letter.map_or('?', |(_, letter)| *letter))
        };
        self.stops.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// Stops that the command line has.
    ///
    /// # Errors
    ///
    /// It is not a list of numbers with a letter each.
    pub fn parse_stops(text: &str) -> Result<Vec<Stop>, String> {
        let parse = |part: &str| {
            let number: String = part.chars().take_while(char::is_ascii_digit).collect();
            let kind = StopKind::ALL
                .iter()
                .find(|(_, letter)| part[number.len()..] == letter.to_string());
            match (number.parse(), kind) {
                (Ok(call), Some((kind, _))) => Ok(Stop { call, kind: *kind }),
                _ => Err(format!(
                    "`{part}` is not a number and one of b, a, f, l and s"
                )),
            }
        };
        text.split(',')
            .filter(|part| !part.is_empty())
            .map(parse)
            .collect()
    }

    /// How it ends without a stop, in memory.
    pub(crate) fn undisturbed(&self) -> Case {
        Case {
            snapshot_every: 0,
            prune: false,
            stops: Vec::new(),
            copies: 0,
            loaded: Loaded::Never,
            backend: Backend::Memory,
            freeze: None,
            moves: false,
            deleted: None,
            cancelled: None,
            changed: None,
            busy: false,
            ..self.clone()
        }
    }
}

/// The command that repeats it.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cargo run -p flow-simulation -- --flow {} --world {} --stops {:?} --snapshot-every {} --copies {}",
            self.flow,
            self.world,
            self.stops_as_text(),
            self.snapshot_every,
            self.copies
        )?;
        let name = Loaded::ALL
            .iter()
            .find(|(loaded, _)| *loaded == self.loaded);
        if let Some((_, name)) = name.filter(|_| self.loaded != Loaded::Never) {
            write!(f, " --loaded {name}")?;
        }
        if self.prune {
            f.write_str(" --prune")?;
        }
        if self.moves {
            f.write_str(" --moves")?;
        }
        if self.busy {
            f.write_str(" --busy")?;
        }
        if let Some(freeze) = &self.freeze {
            write!(f, " --freeze {freeze}")?;
        }
        if let Some(call) = self.deleted {
            write!(f, " --deleted {call}")?;
        }
        if let Some(records) = self.cancelled {
            write!(f, " --cancelled {records}")?;
        }
        if let Some(changed) = self.changed {
            write!(f, " --changed {changed}")?;
        }
        let name = Backend::ALL.iter().find(|(it, _)| *it == self.backend);
        if let Some((_, name)) = name.filter(|_| self.backend != Backend::Memory) {
            write!(f, " --store {name}")?;
        }
        Ok(())
    }
}

impl Case {
    /// Whether steps may time out that do not undisturbed: too often that means that nothing is
    /// compared.
    pub fn times_out_as_undisturbed(&self) -> bool {
        self.freeze.is_none() && !self.moves && !self.busy
    }
}
