//! A case: a flow, a seed from which all follows that nodes and people do, and what goes wrong. It can be written as one line
//! and read again.

use std::fmt;
use std::str::FromStr;

/// How nodes behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// What they return depends on the seed and on what they read. Nothing is a matter of chance: of the branches of a fork, one
    /// can fail. However often the run is stopped, its result is that of the undisturbed run.
    Calm,
    /// Everything may fail at any time. Which of two is first can be another one after a stop.
    Wild,
    /// As `Wild`, and what nodes return is another thing in each process.
    Fickle,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    CrashBefore,
    CrashAfter,
    FailBefore,
    FailAfter,
    FreezeBefore,
    FreezeAfter,
    Crash,
    Freeze,
    ShutDown,
    /// A process more.
    Twin,
    Cancel,
}

impl What {
    const ALL: [(What, &'static str); 11] = [
        (What::CrashBefore, "crash-before"),
        (What::CrashAfter, "crash-after"),
        (What::FailBefore, "fail-before"),
        (What::FailAfter, "fail-after"),
        (What::FreezeBefore, "freeze-before"),
        (What::FreezeAfter, "freeze-after"),
        (What::Crash, "crash"),
        (What::Freeze, "freeze"),
        (What::ShutDown, "shut-down"),
        (What::Twin, "twin"),
        (What::Cancel, "cancel"),
    ];
}

/// When it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// At this call of the store of the process.
    Call(u64),
    /// After so many milliseconds of the process.
    Time(u64),
}

/// Something that goes wrong in one of the processes, of which the first is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) life: usize,
    pub(crate) when: When,
    pub(crate) what: What,
}

/// All that a run follows from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) flow: usize,
    pub(crate) seed: u64,
    pub(crate) mode: Mode,
    /// How often something fails, in percent.
    pub(crate) trouble: u8,
    /// Whether nodes give way to others before they do something.
    pub(crate) yields: bool,
    /// How slow the store is: 0 not at all, 1 in polls, 2 in milliseconds.
    pub(crate) latency: u8,
    /// After how many records a snapshot is made; 0 is the default.
    pub(crate) snapshots: usize,
    pub(crate) prune: bool,
    /// How many nodes may be under way at once; 0 is no limit.
    pub(crate) at_once: usize,
    pub(crate) faults: Vec<Fault>,
    /// The record that another execution is forked from.
    pub(crate) fork: Option<u64>,
    /// Whether reads of the store are in the trace. Not written.
    pub(crate) verbose: bool,
}

impl Case {
    pub(crate) fn calm(flow: usize, seed: u64) -> Case {
        Case {
            flow,
            seed,
            mode: Mode::Calm,
            trouble: 25,
            yields: false,
            latency: 0,
            snapshots: 0,
            prune: false,
            at_once: 0,
            faults: Vec::new(),
            fork: None,
            verbose: false,
        }
    }

    pub(crate) fn fault_at_call(&self, life: usize, call: u64) -> Option<What> {
        let fault = self
            .faults
            .iter()
            .find(|fault| fault.life == life && fault.when == When::Call(call));
        fault.map(|fault| fault.what)
    }

    /// The next fault of a process that has to do with time, from this time of it on.
    pub(crate) fn fault_after(&self, life: usize, from_ms: u64) -> Option<(u64, What)> {
        let times = self.faults.iter().filter_map(|fault| match fault.when {
            When::Time(ms) if fault.life == life && ms >= from_ms => Some((ms, fault.what)),
            _ => None,
        });
        times.min_by_key(|(ms, _)| *ms)
    }

    pub(crate) fn has(&self, what: What) -> bool {
        self.faults.iter().any(|fault| fault.what == what)
    }

    pub(crate) fn undisturbed(&self) -> Case {
        Case {
            yields: false,
            latency: 0,
            snapshots: 0,
            prune: false,
            faults: Vec::new(),
            fork: None,
            ..self.clone()
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            Mode::Calm => "calm",
            Mode::Wild => "wild",
            Mode::Fickle => "fickle",
        };
        write!(
            f,
            "flow={} seed={} mode={mode} trouble={}",
            self.flow, self.seed, self.trouble
        )?;
        if self.yields {
            f.write_str(" yields=1")?;
        }
        for (name, value) in [
            ("latency", usize::from(self.latency)),
            ("snapshots", self.snapshots),
            ("prune", usize::from(self.prune)),
            ("at-once", self.at_once),
        ] {
            if value > 0 {
                write!(f, " {name}={value}")?;
            }
        }
        for Fault { life, when, what } in &self.faults {
            let (_, name) = What::ALL
                .iter()
                .find(|(one, _)| one == what)
                .unwrap_or(&What::ALL[0]);
            match when {
                When::Call(call) => write!(f, " {name}={life}#{call}")?,
                When::Time(ms) => write!(f, " {name}={life}+{ms}")?,
            }
        }
        match self.fork {
            Some(seq) => write!(f, " fork={seq}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut case = Case::calm(0, 0);
        for part in text.split_whitespace() {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` has no `=`"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("`{value}` is no number"))
            };
            match name {
                "flow" => case.flow = number()? as usize,
                "seed" => case.seed = number()?,
                "mode" => {
                    case.mode = match value {
                        "calm" => Mode::Calm,
                        "wild" => Mode::Wild,
                        "fickle" => Mode::Fickle,
                        _ => return Err(format!("`{value}` is no mode")),
                    }
                }
                "trouble" => case.trouble = number()? as u8,
                "yields" => case.yields = number()? > 0,
                "latency" => case.latency = number()? as u8,
                "snapshots" => case.snapshots = number()? as usize,
                "prune" => case.prune = number()? > 0,
                "at-once" => case.at_once = number()? as usize,
                "fork" => case.fork = Some(number()?),
                name => {
                    let what = What::ALL.iter().find(|(_, known)| *known == name);
                    let (what, _) = what.ok_or_else(|| format!("`{name}` is not known"))?;
                    let parse = |text: &str| {
                        text.parse::<u64>()
                            .map_err(|_| format!("`{text}` is no number"))
                    };
                    let (life, when) = match (value.split_once('#'), value.split_once('+')) {
                        (Some((life, call)), _) => (life, When::Call(parse(call)?)),
                        (_, Some((life, ms))) => (life, When::Time(parse(ms)?)),
                        _ => return Err(format!("`{value}` says not when")),
                    };
                    case.faults.push(Fault {
                        life: parse(life)? as usize,
                        when,
                        what: *what,
                    });
                }
            }
        }
        Ok(case)
    }
}
