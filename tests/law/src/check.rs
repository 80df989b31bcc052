//! The law for one flow.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use flow_durable::{Durable, MemoryStore};
use flow_loader::{Format, LoadedFlow, Registry, load};
use flow_runtime::engine::{AnyFlow, Direct, Observed};
use flow_spec::{DEFAULT_ACTION, FlowDocument};
use serde_json::Value;

use crate::dream::{Dice, Literals};
use crate::handover::handed_over;
use crate::inputs::{Type, input};
use crate::ways::{Answers, Ran, Signals, Subject, durable, observed, plain, runtime};

/// How many inputs are made up for a flow at least, and at most until each of its routes is taken.
const INPUTS: Range<u64> = 4..16;

/// How many inputs the flow is run with that was read from YAML. It is the same document.
const OF_YAML: u64 = 3;

/// How many executions are handed over.
const HANDED_OVER: usize = 1;

/// A flow and what it is run with.
pub(crate) struct Case<'a> {
    pub(crate) spec: &'a str,
    pub(crate) subject: &'a Subject,
    pub(crate) types: Vec<&'a Type>,
    /// Those of the source file.
    pub(crate) literals: Arc<Literals>,
    pub(crate) inputs: &'a [Value],
    pub(crate) answers: &'a Value,
}

/// The routes of a flow: nodes with their actions.
pub(crate) type Routes = BTreeSet<String>;

/// What was seen of a flow that holds the law.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) runs: usize,
    pub(crate) untaken: Routes,
    pub(crate) routes: usize,
    pub(crate) handed_over: usize,
}

impl Case<'_> {
    /// Loads the flow from JSON and from YAML, and compares both with the compiled one.
    ///
    /// # Errors
    ///
    /// What differs, in words.
    pub(crate) fn check(&self, nodes: &Registry) -> Result<Seen, String> {
        let document = self.document()?;
        let loaded = load(self.spec, Format::Json, nodes);
        let loaded = loaded.map_err(|error| format!("it is not loaded:\n{error}"))?;
        let yaml = flow_text::to_yaml(&document);
        let from_yaml = load(&yaml, Format::Yaml, nodes);
        let from_yaml = from_yaml.map_err(|error| format!("it is not loaded as YAML:\n{error}"))?;
        let others = [
            ("JSON", subject(self.subject, loaded)),
            ("YAML", subject(self.subject, from_yaml)),
        ];
        self.compare(&others)
    }

    fn document(&self) -> Result<FlowDocument, String> {
        FlowDocument::parse_spec(self.spec).map_err(|problems| format!("{problems:?}"))
    }

    /// Compares the flow with others, with as many inputs as it takes to take all routes.
    ///
    /// # Errors
    ///
    /// What differs, in words.
    pub(crate) fn compare(&self, others: &[(&str, Subject)]) -> Result<Seen, String> {
        let document = &self.document()?;
        let mut seen = Seen {
            untaken: routes(document),
            ..Seen::default()
        };
        seen.routes = seen.untaken.len();
        for (round, given) in (1000..).zip(self.inputs) {
            self.round(others, round, given.clone(), &mut seen)?;
        }
        for round in 0..INPUTS.end {
            if round >= INPUTS.start && seen.untaken.is_empty() {
                break;
            }
            let mut dice = Dice::new(&self.literals, round);
            let given = input(document, &self.types, &mut dice)?;
            self.round(others, round, given, &mut seen)?;
        }
        Ok(seen)
    }

    fn round(
        &self,
        others: &[(&str, Subject)],
        round: u64,
        given: Value,
        seen: &mut Seen,
    ) -> Result<(), String> {
        let mut dice = Dice::new(&self.literals, round);
        let external = |path: &str| match self.subject {
            Subject::Stored(flow) => AnyFlow::<Direct>::external(&**flow, path),
            Subject::Unstored(flow) => AnyFlow::<Direct>::external(&**flow, path),
            Subject::NotJson => None,
        };
        let signals = Signals::new(&self.document()?, external, &mut dice);
        let answers = Answers::new(Dice::new(&self.literals, round), self.answers, signals);
        let compiled = self.all(self.subject, &given, &answers);
        for line in compiled.iter().flat_map(|(_, ran)| &ran.happened) {
            seen.untaken.remove(line);
        }
        for (text, other) in others {
            if *text == "YAML" && round >= OF_YAML {
                continue;
            }
            let loaded = self.all(other, &given, &answers);
            for ((way, compiled), (_, loaded)) in compiled.iter().zip(&loaded) {
                seen.runs += 1;
                if let Some(difference) = compiled.difference(loaded) {
                    return Err(format!("{way}, from {text}, with {given}:\n{difference}"));
                }
            }
        }
        let first = seen.handed_over < HANDED_OVER && others[0].0 == "JSON";
        if let (true, Subject::Stored(compiled), (_, Subject::Stored(loaded))) =
            (first, self.subject, &others[0])
        {
            let (compiled, loaded) = (compiled.clone(), loaded.clone());
            let copies = paused(handed_over(compiled, loaded, &given, &answers))?;
            seen.handed_over += 1;
            seen.runs += copies;
        }
        Ok(())
    }

    /// Runs a flow in every way that is open to it.
    fn all(&self, subject: &Subject, given: &Value, answers: &Answers) -> Vec<(&'static str, Ran)> {
        let (direct, with_observer, stored) = match subject {
            Subject::Stored(flow) => {
                let (direct, with_observer): (
                    &dyn AnyFlow<Direct>,
                    &dyn for<'r> AnyFlow<Observed<'r>>,
                ) = (&**flow, &**flow);
                let stored: Arc<dyn AnyFlow<Durable>> = flow.clone();
                (direct, with_observer, Some(stored))
            }
            Subject::Unstored(flow) => {
                let (direct, with_observer): (
                    &dyn AnyFlow<Direct>,
                    &dyn for<'r> AnyFlow<Observed<'r>>,
                ) = (&**flow, &**flow);
                (direct, with_observer, None)
            }
            Subject::NotJson => unreachable!("only flows whose values can be JSON are run"),
        };
        let mut ran = vec![("observed", paused(observed(with_observer, given, answers)))];
        if matches!(&ran[0].1.ended, Err(error) if error.contains("steps")) {
            return ran;
        }
        ran.push(("plain", paused(plain(direct, given))));
        if let Some(stored) = stored {
            let name = stored.name().to_owned();
            let run = async {
                let runtime = runtime(MemoryStore::new(), stored);
                durable(&runtime, &name, given, answers).await.0
            };
            ran.push(("durable", paused(run)));
        }
        ran
    }
}

/// A loaded flow, for the engines that run the compiled one.
fn subject(compiled: &Subject, loaded: LoadedFlow) -> Subject {
    match compiled {
        Subject::Stored(_) => Subject::Stored(Arc::new(loaded)),
        _ => Subject::Unstored(Arc::new(loaded)),
    }
}

/// Runs a future to its end while time stands still.
pub(crate) fn paused<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run),
        Err(error) => panic!("there is no runtime: {error}"),
    }
}

/// The routes of a flow, as its events tell of them.
fn routes(document: &FlowDocument) -> Routes {
    let edges = document.edges.iter();
    let edges = edges.map(|edge| (edge.from.as_str(), edge.condition.as_str()));
    let ends = document.ends.iter().filter_map(|end| {
        let action = end.condition.as_deref().unwrap_or(DEFAULT_ACTION);
        Some((end.from.as_deref()?, action))
    });
    let route =
        |(from, action): (&str, &str)| format!("{}.{from} - {action:?}", document.namespace);
    edges.chain(ends).map(route).collect()
}
