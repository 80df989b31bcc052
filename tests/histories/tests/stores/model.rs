//! Every way in which holders with clocks that do not agree can claim, renew, write, end, wake up
//! late and die, up to some number of ticks. The rules are those of the store in memory itself:
//! each step of the model is a call of it.

use std::hash::{Hash, Hasher};

use flow_histories::{Call, LEASE_MS, World};
use flow_store::Status;
use futures_executor::block_on;
use stateright::semantics::SequentialSpec as _;
use stateright::{Checker as _, Model, Property};

use crate::spec::Spec;

/// One tick of the clocks; a lease lasts two.
const TICK_MS: u64 = LEASE_MS / 2;

const COMPLETED: u8 = 3;

/// The holders by their clocks, which are so many ticks behind or ahead, and how long it goes on.
#[derive(Debug, Clone)]
struct Claims {
    skews: Vec<i64>,
    ticks: u64,
    /// How many records may be written.
    records: u64,
    /// How often it may be claimed.
    claims: u64,
}

/// What a holder knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    /// Nothing.
    Free,
    /// It has claimed the execution with this fence, knows the next record, and has a lease until this time of its clock.
    Holds {
        fence: u64,
        next: u64,
        until_ms: u64,
    },
    /// It is gone, without a word.
    Dead,
}

/// A write that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Accepted {
    holder: u8,
    fence: u64,
    /// The fence of the newest claim at that time.
    newest: u64,
    /// Whether the execution was over before it.
    over: bool,
}

#[derive(Debug, Clone)]
struct State {
    store: Spec,
    ticks: u64,
    holders: Vec<Holder>,
    accepted: Vec<Accepted>,
    /// The fence of the newest claim.
    newest: u64,
    /// Whose that claim is, and until when: what the store does not tell.
    claimed: Option<(u8, u64)>,
    /// The execution as the store has it.
    row: String,
    over: bool,
    refused: bool,
    overtaken: bool,
}

impl State {
    fn key(&self) -> impl Hash + PartialEq + '_ {
        (
            (self.ticks, &self.holders, &self.accepted, self.newest),
            (self.claimed, &self.row, self.refused, self.overtaken),
        )
    }
}

// What the store was asked before says nothing that its contents do not say.
impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Tick,
    Claim(u8),
    Renew(u8),
    Append(u8),
    Release(u8),
    Complete(u8),
    End,
    Die(u8),
}

impl Claims {
    /// The time of a holder's clock.
    fn now_ms(&self, state: &State, holder: u8) -> u64 {
        let skew = self.skews[usize::from(holder)] * TICK_MS as i64;
        (1000 + state.ticks * TICK_MS).saturating_add_signed(skew)
    }

    /// A holder writes, with what it believes.
    fn append(&self, state: &mut State, holder: u8, status: Option<u8>, release: bool) {
        let now_ms = self.now_ms(state, holder);
        let Holder::Holds {
            fence,
            next,
            until_ms,
        } = state.holders[usize::from(holder)]
        else {
            return;
        };
        let over = state.over;
        let answer = state.store.invoke(&Call::Append {
            execution: 0,
            fence,
            seq: Some(next),
            opened: None,
            closed: None,
            status,
            taken: None,
            awaited: None,
            release,
            now_ms,
        });
        let goes_on = answer == "()" && status.is_none() && !release;
        state.holders[usize::from(holder)] = if goes_on {
            Holder::Holds {
                fence,
                next: next + 1,
                until_ms,
            }
        } else {
            Holder::Free
        };
        if answer == "()" {
            let newest = state.newest;
            state.accepted.push(Accepted {
                holder,
                fence,
                newest,
                over,
            });
            if status.is_some() || release {
                state.claimed = None;
            }
        } else {
            state.refused = true;
        }
    }
}

impl Model for Claims {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut store = Spec::new(World::alone(0));
        store.invoke(&Call::Create {
            execution: 0,
            key: None,
            question: None,
            holder: None,
            now_ms: 1000,
        });
        let mut state = State {
            store,
            ticks: 2,
            holders: vec![Holder::Free; self.skews.len()],
            accepted: Vec::new(),
            newest: 0,
            claimed: None,
            row: String::new(),
            over: false,
            refused: false,
            overtaken: false,
        };
        look(&mut state);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.ticks < 2 + self.ticks {
            actions.push(Action::Tick);
        }
        for (number, holder) in (0..).zip(&state.holders) {
            match holder {
                Holder::Free if state.newest < self.claims => actions.push(Action::Claim(number)),
                Holder::Holds { .. } => {
                    actions.extend([Action::Renew(number), Action::Die(number)]);
                    if (state.accepted.len() as u64) < self.records {
                        actions.push(Action::Append(number));
                        actions.push(Action::Release(number));
                        actions.push(Action::Complete(number));
                    }
                }
                Holder::Free | Holder::Dead => {}
            }
        }
        if !state.over {
            actions.push(Action::End);
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Tick => {
                state.ticks += 1;
                return Some(state);
            }
            Action::Die(holder) => {
                state.holders[usize::from(holder)] = Holder::Dead;
                return Some(state);
            }
            Action::Claim(holder) => {
                let now_ms = self.now_ms(&state, holder);
                let call = Call::Claim {
                    execution: 0,
                    holder,
                    now_ms,
                };
                state.store.invoke(&call);
                let had = state.row.clone();
                look(&mut state);
                if state.row == had {
                    return None;
                }
                let (fence, next) = fence_and_next(&state);
                let until_ms = now_ms + LEASE_MS;
                state.overtaken |= state.claimed.is_some();
                state.holders[usize::from(holder)] = Holder::Holds {
                    fence,
                    next,
                    until_ms,
                };
                state.newest = fence;
                state.claimed = Some((holder, until_ms));
            }
            Action::Renew(holder) => {
                let now_ms = self.now_ms(&state, holder);
                let held = state.store.invoke(&Call::Renew { holder, now_ms }) != "[]";
                let known = &mut state.holders[usize::from(holder)];
                match (known, held) {
                    (Holder::Holds { until_ms, .. }, true) => {
                        *until_ms = now_ms + LEASE_MS;
                        state.claimed = Some((holder, *until_ms));
                    }
                    (known, _) => *known = Holder::Free,
                }
            }
            Action::Append(holder) => self.append(&mut state, holder, None, false),
            Action::Release(holder) => self.append(&mut state, holder, None, true),
            Action::Complete(holder) => self.append(&mut state, holder, Some(COMPLETED), false),
            Action::End => {
                let now_ms = 1000 + state.ticks * TICK_MS;
                state.store.invoke(&Call::End {
                    execution: 0,
                    since_ms: None,
                    now_ms,
                });
                state.claimed = None;
            }
        }
        look(&mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one holder writes under a fence", |_, state: &State| {
                let accepted = &state.accepted;
                accepted.iter().all(|one| {
                    let mut same = accepted.iter().filter(|other| other.fence == one.fence);
                    same.all(|other| other.holder == one.holder)
                })
            }),
            Property::always(
                "nothing is written after a later claim",
                |_, state: &State| {
                    state
                        .accepted
                        .iter()
                        .all(|write| write.fence == write.newest)
                },
            ),
            Property::always("nothing is written when it is over", |_, state: &State| {
                state.accepted.iter().all(|write| !write.over)
            }),
            Property::always(
                "no claim is to be had that is valid",
                |claims: &Claims, state: &State| {
                    let Some((_, until_ms)) = state.claimed else {
                        return true;
                    };
                    let mut holders = 0..claims.skews.len() as u8;
                    holders.all(|holder| {
                        let now_ms = claims.now_ms(state, holder);
                        until_ms <= now_ms || is_refused(state, holder, now_ms)
                    })
                },
            ),
            Property::always("what nobody renews can be had", |_, state: &State| {
                let free_ms = state.claimed.map_or(0, |(_, until_ms)| until_ms);
                let mut store = state.store.clone();
                let due = store.invoke(&Call::Due { now_ms: free_ms }) != "[]";
                state.over != (due && !is_refused(state, 9, free_ms))
            }),
            Property::always(
                "if the clocks agree, one believes to hold it",
                |claims: &Claims, state: &State| {
                    let believes = |(number, holder): &(u8, &Holder)| match holder {
                        Holder::Holds { until_ms, .. } => claims.now_ms(state, *number) < *until_ms,
                        _ => false,
                    };
                    let agree = claims.skews.windows(2).all(|pair| pair[0] == pair[1]);
                    let believing = (0..).zip(&state.holders).filter(believes).count();
                    !agree || state.over || believing <= 1
                },
            ),
            Property::sometimes("a holder is overtaken", |_, state: &State| state.overtaken),
            Property::sometimes("a late write is refused", |_, state: &State| state.refused),
            Property::sometimes("two holders have written", |_, state: &State| {
                state
                    .accepted
                    .iter()
                    .any(|write| write.holder != state.accepted[0].holder)
            }),
            Property::sometimes("it is ended though it is claimed", |_, state: &State| {
                let holds = |holder: &Holder| matches!(holder, Holder::Holds { .. });
                state.over && state.holders.iter().any(holds)
            }),
        ]
    }
}

/// Whether a claim is refused.
fn is_refused(state: &State, holder: u8, now_ms: u64) -> bool {
    let mut store = state.store.clone();
    let call = Call::Claim {
        execution: 0,
        holder,
        now_ms,
    };
    store.invoke(&call) == "None"
}

/// Looks what the store has.
fn look(state: &mut State) {
    let call = Call::Execution { execution: 0 };
    let answer = block_on(call.ask(&state.store.store, state.store.world));
    state.over = answer.row.is_some_and(|row| row.status.is_over());
    state.row = answer.text;
}

fn fence_and_next(state: &State) -> (u64, u64) {
    let call = Call::Execution { execution: 0 };
    let answer = block_on(call.ask(&state.store.store, state.store.world));
    answer.row.map_or((0, 0), |row| (row.fence, row.next_seq))
}

fn check(claims: Claims) {
    let checker = claims.clone().checker().threads(2).spawn_bfs().join();
    println!("{claims:?}: {} states", checker.unique_state_count());
    checker.assert_properties();
}

/// With `MODEL=all` for more clocks: `MODEL=all cargo test -p flow-histories -- --nocapture the_rules_of_claims`.
#[test]
fn the_rules_of_claims_keep_what_they_promise() {
    assert_eq!(Status::STORED[usize::from(COMPLETED)], Status::Completed);
    let all = std::env::var("MODEL").is_ok_and(|model| model == "all");
    let two: &[[i64; 2]] = if all {
        &[[0, 0], [0, 1], [-1, 1], [2, -1], [3, 0]]
    } else {
        &[[0, 0], [-1, 1]]
    };
    let three: &[[i64; 3]] = if all {
        &[[0, 0, 0], [-1, 0, 2], [0, 1, 1]]
    } else {
        &[[-1, 0, 2]]
    };
    for skews in two {
        check(Claims {
            skews: skews.to_vec(),
            ticks: 4 + u64::from(all),
            records: 3,
            claims: 3 + u64::from(all),
        });
    }
    for skews in three {
        check(Claims {
            skews: skews.to_vec(),
            ticks: 3,
            records: 2 + u64::from(all),
            claims: 3,
        });
    }
}
