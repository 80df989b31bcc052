//! The law of loaded flows: a flow that is exported, loaded again and run does what the compiled one
//! does. It returns the same, tells an observer the same, and keeps the same journal, on every
//! engine; and so does the flow that is written as YAML and read back.
//!
//! Each module of tests lists its flows with [`law!`], and one test of the binary calls [`hold`].
//! A flow that nobody lists fails that test.

mod check;
mod dream;
mod exceptions;
mod handover;
mod inputs;
mod ways;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, Once, PoisonError};

use flow_loader::Registry;
use flow_spec::FlowDocument;
use serde_json::Value;

use crate::check::Case;
use crate::dream::Literals;
use crate::exceptions::LEFT_OUT;
use crate::ways::SomeWhere;

pub use crate::exceptions::{IN_TEST_FUNCTIONS_OF_DURABLE, IN_TEST_FUNCTIONS_OF_INTEGRATION};
#[doc(hidden)]
pub use crate::inputs::Type;
#[doc(hidden)]
pub use crate::ways::{Everywhere, Subject};
#[doc(hidden)]
pub use flow_loader::registry;
#[doc(hidden)]
pub use flow_runtime::Flow;
#[doc(hidden)]
pub use inventory;

/// Puts flows under the law: those of the list are compared with what is loaded from their
/// documents, with these nodes.
///
/// - `nodes`: the nodes, as in `registry!`.
/// - `flows`: the flows. A flow without `new()` comes with its value: `Flow(value)`. It can have nodes
///   of its own, `Flow with [Prefix = Prefix { … }]`. In braces behind that, it can have inputs
///   besides those that are made up, `inputs: [json!({ … })]`, and answers of people by path,
///   `answers: json!({ … })`.
/// - `registries`: nodes that are registered elsewhere.
/// - `functions`: those with which flows decide about attempts.
/// - `types`: types of inputs, whose values are made up. Common ones are known, and those that are
///   listed in other modules.
/// - `not_json`: flows whose inputs or outputs cannot be JSON, which is checked.
/// - `left_out`: other flows that are not compared. `exceptions.rs` has the reason for each.
#[macro_export]
macro_rules! law {
    (
        nodes: [$($nodes:tt)*],
        flows: [$(
            $($flow:ident)::+ $(($value:expr))? $(with [$($own:tt)*])? $({ $($setting:ident: $given:expr),* $(,)? })?
        ),* $(,)?],
        $(registries: [$($registry:expr),* $(,)?],)?
        $(functions: [$($function:path),* $(,)?],)?
        $(types: [$($type:ty),* $(,)?],)?
        $(not_json: [$($($not_json:ident)::+ $(($not_json_value:expr))?),* $(,)?],)?
        $(left_out: [$($($left_out:ident)::+),* $(,)?],)?
    ) => {
        const _: () = {
            $crate::inventory::submit! {
                $crate::Listed(|| $crate::Group {
                    file: ::core::file!(),
                    nodes: $crate::registry![$($nodes)*]
                        $($(.with($registry))*)?
                        $($(.with_retry_if(::core::stringify!($function), $function))*)?,
                    types: ::std::vec![$($($crate::Type::of::<$type>(::core::stringify!($type))),*)?],
                    flows: ::std::vec![
                        $($crate::listed!([$($flow)::+] $(($value))?)
                            $(.nodes($crate::registry![$($own)*]))?
                            $($(.$setting($given))*)?,)*
                        $($($crate::listed!([$($not_json)::+] $(($not_json_value))?).not_json(),)*)?
                        $($($crate::Entry::left_out(<$($left_out)::+ as $crate::Flow>::SPEC),)*)?
                    ],
                })
            }
        };
    };
}

/// Compares flows with those that were compiled from the source that they were written as. Nodes,
/// types and inputs are those of [`law!`] in the same file.
#[macro_export]
macro_rules! again {
    ($($flow:ident => $again:ident),+ $(,)?) => {
        const _: () = {
            $crate::inventory::submit! {
                $crate::Listed(|| $crate::Group {
                    file: ::core::file!(),
                    nodes: $crate::registry![],
                    types: ::std::vec![],
                    flows: ::std::vec![$(
                        {
                            use $crate::{AgainNothing as _, AgainStored as _, AgainUnstored as _};
                            $crate::Entry::again(
                                <$again as $crate::Flow>::SPEC,
                                <$flow as $crate::Flow>::SPEC,
                                (&&&$crate::Maker::<$again>::new()).again(),
                            )
                        }
                    ),+],
                })
            }
        };
    };
}

/// A flow under the law.
#[doc(hidden)]
#[macro_export]
macro_rules! listed {
    ([$flow:path]) => {
        $crate::listed!([$flow](<$flow>::new()))
    };
    ([$flow:path] ($value:expr)) => {{
        use $crate::{ForNothing as _, ForStored as _, ForUnstored as _};
        $crate::Entry::new(
            <$flow as $crate::Flow>::SPEC,
            (&&&$crate::Maker::<$flow>::new()).subject(|| $value),
        )
    }};
}

/// The flows of a module.
#[doc(hidden)]
pub struct Listed(pub fn() -> Group);

inventory::collect!(Listed);

/// The flows of a module.
#[doc(hidden)]
pub struct Group {
    /// The source file.
    pub file: &'static str,
    /// The nodes.
    pub nodes: Registry,
    /// The types of inputs that only this module knows.
    pub types: Vec<Type>,
    /// The flows.
    pub flows: Vec<Entry>,
}

/// A flow of a module.
#[doc(hidden)]
pub struct Entry {
    spec: &'static str,
    subject: Subject,
    expected: Expected,
    nodes: Registry,
    inputs: Vec<Value>,
    answers: Value,
}

#[derive(PartialEq)]
enum Expected {
    Law,
    NotJson,
    LeftOut,
    /// Another flow, which was compiled from the source that this one was written as.
    Again(&'static str),
}

impl Entry {
    /// A flow under the law.
    pub fn new(spec: &'static str, subject: Subject) -> Self {
        Entry {
            spec,
            subject,
            expected: Expected::Law,
            nodes: Registry::new(),
            inputs: Vec::new(),
            answers: Value::Null,
        }
    }

    /// A flow that is left out.
    pub fn left_out(spec: &'static str) -> Self {
        Entry {
            expected: Expected::LeftOut,
            ..Entry::new(spec, Subject::NotJson)
        }
    }

    /// The flow that was compiled from the source as which the flow `original` was written.
    pub fn again(spec: &'static str, original: &'static str, subject: Subject) -> Self {
        Entry {
            expected: Expected::Again(original),
            ..Entry::new(spec, subject)
        }
    }

    /// Its inputs or outputs cannot be JSON.
    pub fn not_json(mut self) -> Self {
        self.expected = Expected::NotJson;
        self
    }

    /// Nodes of its own.
    pub fn nodes(mut self, nodes: Registry) -> Self {
        self.nodes = nodes;
        self
    }

    /// Inputs.
    pub fn inputs<const N: usize>(mut self, inputs: [Value; N]) -> Self {
        self.inputs = inputs.into();
        self
    }

    /// Answers of people, by path.
    pub fn answers(mut self, answers: Value) -> Self {
        self.answers = answers;
        self
    }
}

/// Chooses what runs a flow. Generated code imports the traits; rustc takes the first that applies.
#[doc(hidden)]
pub struct Maker<F>(PhantomData<fn() -> F>);

impl<F> Maker<F> {
    /// Of flows of this type.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub fn new() -> Self {
        Maker(PhantomData)
    }
}

macro_rules! subjects {
    ($($given:ident $default:ident [$($bounds:tt)*] $maker:ty => $subject:expr;)*) => {$(
        /// Chooses what runs a flow.
        #[doc(hidden)]
        pub trait $given<F> {
            /// The flow.
            fn subject(&self, make: impl Fn() -> F) -> Subject;
        }

        impl<F: $($bounds)* 'static> $given<F> for $maker {
            fn subject(&self, make: impl Fn() -> F) -> Subject {
                $subject(make())
            }
        }

        /// Chooses what runs a flow that has a default.
        #[doc(hidden)]
        pub trait $default<F> {
            /// The flow.
            fn again(&self) -> Subject;
        }

        impl<F: $($bounds)* Default + 'static> $default<F> for $maker {
            fn again(&self) -> Subject {
                $subject(F::default())
            }
        }
    )*};
}
subjects! {
    ForStored AgainStored [Everywhere +] &&Maker<F> => |flow| Subject::Stored(Arc::new(flow));
    ForUnstored AgainUnstored [SomeWhere +] &Maker<F> => |flow| Subject::Unstored(Arc::new(flow));
}

/// Nothing runs a flow.
#[doc(hidden)]
pub trait ForNothing<F> {
    /// Nothing.
    fn subject(&self, make: impl Fn() -> F) -> Subject;
}

impl<F> ForNothing<F> for Maker<F> {
    fn subject(&self, _: impl Fn() -> F) -> Subject {
        Subject::NotJson
    }
}

/// Nothing runs a flow, or it has no default.
#[doc(hidden)]
pub trait AgainNothing<F> {
    /// Nothing.
    fn again(&self) -> Subject;
}

impl<F> AgainNothing<F> for Maker<F> {
    fn again(&self) -> Subject {
        Subject::NotJson
    }
}

/// What was seen of the flows of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Flows that every engine runs.
    pub stored: usize,
    /// Flows with a value that cannot be stored, between inputs and outputs that can be JSON.
    pub unstored: usize,
    /// Flows whose inputs or outputs cannot be JSON.
    pub not_json: usize,
    /// Flows that are left out for other reasons.
    pub left_out: usize,
    /// The routes of all flows.
    pub routes: usize,
    /// Routes that no run took.
    pub untaken: Vec<String>,
    /// Flows that were compiled again from the source that they were written as.
    pub again: usize,
    /// How many runs were compared.
    pub runs: usize,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held {
            stored,
            unstored,
            not_json,
            left_out,
            routes,
            untaken,
            again,
            runs,
        } = self;
        write!(
            f,
            "{stored} flows, {unstored} without a store, {again} compiled again, {not_json} not JSON, {left_out} left out; {} of {routes} routes in {runs} runs",
            routes - untaken.len(),
        )
    }
}

/// Compares all flows of this program that are listed, and sees that all of them are, or are among
/// `elsewhere`: the names of flows inside test functions.
///
/// # Panics
///
/// A flow does not do the same after it was loaded, or is not listed.
pub fn hold(elsewhere: &[&str]) -> Held {
    let (mut held, mut wrong) = (Held::default(), Vec::new());
    quiet_panics();
    let mut unlisted: BTreeMap<&str, usize> = BTreeMap::new();
    for flow in flow_runtime::flows() {
        *unlisted.entry(flow.spec()).or_default() += 1;
    }
    let groups: Vec<Group> = inventory::iter::<Listed>
        .into_iter()
        .map(|listed| (listed.0)())
        .collect();
    for group in &groups {
        for entry in &group.flows {
            if let Some(left) = unlisted.get_mut(entry.spec) {
                *left = left.saturating_sub(1);
            }
            let added = quietly(|| held.add(&groups, group, entry));
            if let Err(why) = added {
                wrong.push(format!("{} {}: {why}", group.file, name(entry.spec)));
            }
        }
    }
    wrong.extend(unexplained(&groups));
    let unlisted = unlisted.into_iter().filter(|(_, left)| *left > 0);
    let unlisted: Vec<String> = unlisted.map(|(spec, _)| name(spec)).collect();
    let gone = elsewhere
        .iter()
        .filter(|known| !unlisted.iter().any(|name| name == *known));
    wrong.extend(gone.map(|name| format!("there is no flow {name} in a test function any more")));
    let unknown = unlisted
        .iter()
        .filter(|name| !elsewhere.contains(&name.as_str()));
    wrong.extend(unknown.map(|name| format!("{name} is not listed in `law!`")));
    assert!(
        wrong.is_empty(),
        "{}\n{} failures; {held}",
        wrong.join("\n"),
        wrong.len()
    );
    held
}

/// The flows that are left out without a reason, and the reasons without a flow.
fn unexplained(groups: &[Group]) -> Vec<String> {
    let reasons = LEFT_OUT.iter().flat_map(|(_, flows)| *flows);
    let here = |file: &str| groups.iter().any(|group| folded(group.file) == file);
    let mut reasons: Vec<(&str, String)> = reasons
        .filter(|(file, _)| here(file))
        .map(|(file, flow)| (*file, (*flow).to_owned()))
        .collect();
    let mut wrong = Vec::new();
    for group in groups {
        for entry in &group.flows {
            if entry.expected != Expected::LeftOut {
                continue;
            }
            let (file, flow) = (folded(group.file), name(entry.spec));
            let is_it = |(of, known): &(&str, String)| *of == file && *known == flow;
            match reasons.iter().position(is_it) {
                Some(known) => {
                    reasons.remove(known);
                }
                None => wrong.push(format!(
                    "{file} {flow}: `exceptions.rs` does not say why it is left out"
                )),
            }
        }
    }
    let gone = reasons.iter();
    wrong.extend(gone.map(|(file, flow)| format!("{file} {flow}: it is not left out any more")));
    wrong
}

/// A path without `..`: an example is a module of a test in another folder.
fn folded(file: &str) -> String {
    let mut parts = Vec::new();
    for part in file.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

thread_local! {
    /// True while this thread runs flows, whose panics are results.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the panics of flows from being printed: there are thousands, each with its backtrace.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                print(info);
            }
        }));
    });
}

fn quietly<T>(run: impl FnOnce() -> T) -> T {
    QUIET.set(true);
    let ran = panic::catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    ran.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

impl Held {
    fn add(&mut self, groups: &[Group], group: &Group, entry: &Entry) -> Result<(), String> {
        match (&entry.expected, &entry.subject) {
            (Expected::LeftOut, _) => {
                self.left_out += 1;
                return Ok(());
            }
            (Expected::Again(_), Subject::NotJson) => return Ok(()),
            (Expected::Again(original), again) => {
                let of_file = groups.iter().filter(|other| other.file == group.file);
                let mut all =
                    of_file.flat_map(|group| group.flows.iter().map(move |entry| (group, entry)));
                let original = all
                    .find(|(_, entry)| entry.spec == *original && entry.expected == Expected::Law);
                let Some((group, original)) = original else {
                    return Ok(());
                };
                let seen = case(groups, group, original).compare(&[("source", again.clone())])?;
                self.again += 1;
                self.runs += seen.runs;
                return Ok(());
            }
            (Expected::NotJson, Subject::NotJson) => {
                self.not_json += 1;
                return Ok(());
            }
            (Expected::NotJson, _) => {
                return Err("its values can be JSON: list it in `flows`".to_owned());
            }
            (Expected::Law, Subject::NotJson) => {
                return Err("its values cannot be JSON: list it in `not_json`".to_owned());
            }
            (Expected::Law, Subject::Stored(_)) => self.stored += 1,
            (Expected::Law, Subject::Unstored(_)) => self.unstored += 1,
        }
        let nodes = group.nodes.clone().with(entry.nodes.clone());
        let seen = case(groups, group, entry).check(&nodes)?;
        self.routes += seen.routes;
        self.runs += seen.runs;
        self.untaken.extend(seen.untaken);
        Ok(())
    }
}

fn case<'a>(groups: &'a [Group], group: &'a Group, entry: &'a Entry) -> Case<'a> {
    let types = [group]
        .into_iter()
        .chain(groups)
        .flat_map(|group| &group.types);
    Case {
        spec: entry.spec,
        subject: &entry.subject,
        types: types.collect(),
        literals: literals(group.file),
        inputs: &entry.inputs,
        answers: &entry.answers,
    }
}

fn name(spec: &str) -> String {
    FlowDocument::parse_spec(spec).map_or_else(|_| spec.to_owned(), |document| document.name)
}

/// The literals of a source file of the workspace.
fn literals(file: &'static str) -> Arc<Literals> {
    static KNOWN: Mutex<BTreeMap<&str, Arc<Literals>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        match std::fs::read_to_string(format!("{path}{file}")) {
            Ok(source) => Arc::new(Literals::of(&source)),
            Err(error) => panic!("{file}: {error}"),
        }
    };
    known.entry(file).or_insert_with(read).clone()
}
