//! statig 0.4.1: a state machine, whose states are the nodes.
//!
//! In a step, the current state does its work and goes to the next one. A run consists of the steps
//! until the machine is in its state `done`. The states read and write the context, which each step
//! receives. A machine is only its current state, so each run has its own. Observers are the hooks
//! around each dispatch and each transition.
//!
//! The states are sync methods, as the library intends: they cannot wait. `statig_async` has async
//! ones.

use std::process::ExitCode;

use bench_harness::{
    Contender, ROUNDS, Task as Runs, Workload, main as contend, task as runs, work,
};
use statig::prelude::*;

fn add(total: &mut u64) {
    *total = work::add(*total);
}

/// The large value.
struct Payload(Vec<u8>);

fn touch(payload: &mut Payload) {
    work::touch_in_place(&mut payload.0);
}

/// The data of the loop.
struct Totals {
    total: u64,
    limit: u64,
}

/// The common part of the machines. Each is in a module, since the library generates a `State`.
macro_rules! run {
    ($context:ty) => {
        pub(super) struct Machine;

        pub(super) fn run(context: &mut $context) {
            let mut machine = Machine.state_machine();
            while !matches!(machine.state(), State::Done { .. }) {
                machine.step_with_context(context);
            }
        }
    };
}

/// Hooks that ignore everything.
macro_rules! hooks {
    () => {
        impl Machine {
            fn dispatch(&mut self, _: StateOrSuperstate<'_, State, Superstate>, _: &()) {}

            fn transition(&mut self, _: &State, _: &State) {}
        }
    };
}

/// Ten states of one kind.
macro_rules! chain {
    ($context:ty, $work:ident $(, $($hooks:tt)*)?) => {
        chain! {
            @states [$($($hooks)*)?] $context, $work,
            one two, two three, three four, four five, five six,
            six seven, seven eight, eight nine, nine ten, ten done
        }
    };
    (@states [$($hooks:tt)*] $context:ty, $work:ident, $($state:ident $next:ident),*) => {
        run!($context);

        #[state_machine(initial = "State::one()", $($hooks)*)]
        impl Machine {
            $(
                #[state]
                fn $state(context: &mut $context) -> Outcome<State> {
                    $work(context);
                    Transition(State::$next())
                }
            )*

            #[state]
            fn done() -> Outcome<State> {
                Handled
            }
        }
    };
}

macro_rules! rounds {
    ($($hooks:tt)*) => {
        run!(Totals);

        #[state_machine(initial = "State::one()", $($hooks)*)]
        impl Machine {
            #[state]
            fn one(context: &mut Totals) -> Outcome<State> {
                context.total = work::add(context.total);
                Transition(State::check())
            }

            #[state]
            fn check(context: &mut Totals) -> Outcome<State> {
                match work::is_enough(context.total, context.limit) {
                    true => Transition(State::done()),
                    false => Transition(State::one()),
                }
            }

            #[state]
            fn done() -> Outcome<State> {
                Handled
            }
        }
    };
}

mod single {
    use super::*;

    chain!(@states [] u64, add, one done);
}

mod plain {
    use super::*;

    chain!(u64, add);
}

mod large {
    use super::*;

    chain!(Payload, touch);
}

mod observed {
    use super::*;

    hooks!();
    chain! {
        u64, add,
        before_dispatch = "Self::dispatch",
        after_dispatch = "Self::dispatch",
        before_transition = "Self::transition",
        after_transition = "Self::transition"
    }
}

mod rounds {
    use super::*;

    rounds!();
}

mod observed_rounds {
    use super::*;

    hooks!();
    rounds! {
        before_dispatch = "Self::dispatch",
        after_dispatch = "Self::dispatch",
        before_transition = "Self::transition",
        after_transition = "Self::transition"
    }
}

mod branch {
    use super::*;

    run!(u64);

    #[state_machine(initial = "State::choose()")]
    impl Machine {
        #[state]
        fn choose(context: &mut u64) -> Outcome<State> {
            Transition(match work::way(*context) {
                0 => State::left(),
                1 => State::middle(),
                _ => State::right(),
            })
        }

        #[state]
        fn left(context: &mut u64) -> Outcome<State> {
            *context = work::plus(*context, 1);
            Transition(State::meet())
        }

        #[state]
        fn middle(context: &mut u64) -> Outcome<State> {
            *context = work::plus(*context, 2);
            Transition(State::meet())
        }

        #[state]
        fn right(context: &mut u64) -> Outcome<State> {
            *context = work::plus(*context, 3);
            Transition(State::meet())
        }

        #[state]
        fn meet(context: &mut u64) -> Outcome<State> {
            *context = work::double(*context);
            Transition(State::done())
        }

        #[state]
        fn done() -> Outcome<State> {
            Handled
        }
    }
}

/// The runs of a machine over one number.
fn numbers(run: impl Fn(&mut u64) + 'static) -> Runs {
    runs(async move |mut value| {
        run(&mut value);
        value
    })
}

fn totals(run: impl Fn(&mut Totals) + 'static) -> Runs {
    runs(async move |total| {
        let limit = total + ROUNDS;
        let mut totals = Totals { total, limit };
        run(&mut totals);
        totals.total
    })
}

struct Statig;

impl Contender for Statig {
    fn workload(workload: Workload) -> Result<Runs, &'static str> {
        Ok(match workload {
            Workload::Single => numbers(single::run),
            Workload::Chain => numbers(plain::run),
            Workload::ObservedChain => numbers(observed::run),
            Workload::Loop => totals(rounds::run),
            Workload::Observed => totals(observed_rounds::run),
            Workload::Branch => numbers(branch::run),
            Workload::Payload => {
                let mut payload = Payload(work::payload());
                runs(async move |_| {
                    let before = work::first_of(&payload.0);
                    large::run(&mut payload);
                    work::changes(before, &payload.0)
                })
            }
            Workload::Concurrent => return Err("a state cannot wait"),
            Workload::FallibleChain => return Err("a state returns no error"),
            Workload::Fork => return Err("one state at a time"),
            Workload::Nested => return Err("a machine is not a state"),
            Workload::Batch | Workload::WaitingBatch => return Err("no state for each item"),
            Workload::Load => return Err("a machine is built in Rust"),
        })
    }
}

fn main() -> ExitCode {
    contend::<Statig>()
}
