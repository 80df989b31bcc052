//! What is asked of a store, small enough to be written down, made at random, and asked of another
//! store again.

mod caller;

pub use caller::{Asks, Caller};

use std::sync::Arc;

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_redis::{RedisOptions, RedisStore};
use flow_sqlite::{Durability, SqliteOptions, SqliteStore};
use flow_store::{
    Append, Claim, EndIf, ExecutionId, JOURNAL_FORMAT, ListQuery, NewSignal, PauseRow, PauseState,
    Record, RecordKind, Row, Settlement, Status, Store, StoreError, Token,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The store at a place: the address of a Redis server, with the name of the store as its parameter
/// `name`; that of a Postgres database, with a parameter `schema`; or the name of a file of SQLite.
///
/// The callers have made up the time, so all of these judge claims by the times that they are given.
///
/// # Errors
///
/// It cannot be opened.
pub async fn store_at(place: &str) -> Result<Arc<dyn Store>, StoreError> {
    if place.starts_with("redis://") {
        let options = RedisOptions::new().callers_clocks();
        return Ok(Arc::new(RedisStore::connect_with(place, options).await?));
    }
    Ok(match place.split_once("?schema=") {
        Some((url, schema)) => {
            let options = PostgresOptions::new().schema(schema).callers_clocks();
            Arc::new(PostgresStore::connect_with(url, options).await?)
        }
        None => {
            let options = SqliteOptions::new().durability(Durability::Normal);
            Arc::new(SqliteStore::open_with(place, options).await?)
        }
    })
}

/// How many executions there are in a world.
pub const EXECUTIONS: u8 = 2;

/// How many questions there may be.
pub const TOKENS: u8 = 3;

/// How long a claim lasts, in milliseconds.
pub const LEASE_MS: u64 = 50;

/// A call of a store. Executions, questions and holders are numbers, so that a world can be told from others in one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the names are those of the store's methods and their parameters"
)]
pub enum Call {
    Create {
        execution: u8,
        key: Option<u8>,
        question: Option<u8>,
        holder: Option<u8>,
        now_ms: u64,
    },
    Claim {
        execution: u8,
        holder: u8,
        now_ms: u64,
    },
    ClaimOf {
        execution: u8,
    },
    BreakClaim {
        execution: u8,
        holder: u8,
        claimed_ms: u64,
    },
    Renew {
        holder: u8,
        now_ms: u64,
    },
    Append {
        execution: u8,
        fence: u64,
        /// The number of the record, if there is one.
        seq: Option<u64>,
        opened: Option<u8>,
        closed: Option<u8>,
        /// Its place in [`Status::STORED`].
        status: Option<u8>,
        /// The number of a signal.
        taken: Option<u64>,
        /// The name of a signal.
        awaited: Option<u8>,
        release: bool,
        now_ms: u64,
    },
    End {
        execution: u8,
        /// Only if it is paused and untouched since then.
        since_ms: Option<u64>,
        now_ms: u64,
    },
    Signal {
        execution: u8,
        name: u8,
        key: Option<u8>,
        now_ms: u64,
    },
    Settle {
        question: u8,
        answer: Option<u8>,
        now_ms: u64,
    },
    Delete {
        execution: u8,
    },
    Execution {
        execution: u8,
    },
    Records {
        execution: u8,
    },
    Pauses {
        execution: u8,
    },
    Signals {
        execution: u8,
    },
    Pause {
        question: u8,
    },
    Due {
        now_ms: u64,
    },
    List,
    Log,
}

/// What a store answers: as text, which is the same for every store, and the row that it has.
#[derive(Debug, Clone)]
pub struct Answer {
    /// All of it but the words of an error.
    pub text: String,
    /// The execution, if that is the answer.
    pub row: Option<Row>,
}

/// The executions, questions and holders of one history among many in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct World {
    /// Which history it is.
    pub number: u64,
    /// An offset in the store's log before which there is nothing of it.
    pub after: u64,
}

impl World {
    /// In a store where there is nothing else.
    pub fn alone(number: u64) -> Self {
        World { number, after: 0 }
    }

    fn uuid(self, kind: u64, number: u8) -> Uuid {
        Uuid::from_u64_pair(self.number, kind << 8 | u64::from(number))
    }

    /// The execution with this number.
    pub fn execution(self, number: u8) -> ExecutionId {
        ExecutionId::from(self.uuid(1, number))
    }

    fn token(self, number: u8) -> Token {
        Token::from(self.uuid(2, number))
    }

    fn holder(self, number: u8) -> Uuid {
        self.uuid(3, number)
    }

    fn has(self, id: ExecutionId) -> bool {
        id.as_uuid().as_u64_pair().0 == self.number
    }

    fn flow(self) -> String {
        format!("flow {}", self.number)
    }

    fn question(self, number: u8, execution: u8, now_ms: u64) -> PauseRow {
        PauseRow {
            token: self.token(number),
            execution: self.execution(execution),
            path: "flow.node".to_owned(),
            step: "flow.node".to_owned(),
            prompt: format!("question {number}"),
            expected: "Answer".to_owned(),
            schema: None,
            created_ms: now_ms,
            expires_ms: (number == 0).then_some(now_ms + 30),
            state: PauseState::Open,
        }
    }
}

fn record(seq: u64, now_ms: u64) -> Record {
    Record {
        seq,
        at_ms: now_ms,
        kind: RecordKind::NodeStarted,
        path: "flow.node".to_owned(),
        step: "flow.node".to_owned(),
        visit: 1,
        item: None,
        attempt: 0,
        payload: String::new(),
    }
}

/// A claim that was made at this time.
fn claim(world: World, holder: u8, now_ms: u64) -> Claim {
    Claim::new(world.holder(holder), now_ms, now_ms + LEASE_MS)
}

fn text(answer: &impl std::fmt::Debug) -> Answer {
    Answer {
        text: format!("{answer:?}"),
        row: None,
    }
}

fn of_row(row: Option<Row>) -> Answer {
    Answer {
        row: row.clone(),
        ..text(&row)
    }
}

fn refused(error: &StoreError) -> Answer {
    let kind = match error {
        StoreError::LeaseLost(_) => "the lease is lost",
        StoreError::NotFound(_) => "there is no such execution",
        StoreError::UnknownToken(_) => "there is no such question",
        StoreError::Other(_) => "refused",
        // What may have happened or not is no answer that a history can be judged by.
        failed => return text(&format!("failed: {failed:?}")),
    };
    text(&kind)
}

impl Call {
    /// Asks a store.
    pub async fn ask(&self, store: &dyn Store, world: World) -> Answer {
        self.answer(store, world)
            .await
            .unwrap_or_else(|error| refused(&error))
    }

    async fn answer(&self, store: &dyn Store, world: World) -> Result<Answer, StoreError> {
        let until = |now_ms: u64| now_ms + LEASE_MS;
        Ok(match *self {
            Call::Create {
                execution,
                key,
                question,
                holder,
                now_ms,
            } => {
                let row = Row {
                    id: world.execution(execution),
                    flow: world.flow(),
                    structure: "structure".to_owned(),
                    owner: None,
                    idempotency_key: key.map(|key| format!("key {key}")),
                    input_hash: "hash".to_owned(),
                    status: Status::Running,
                    format: JOURNAL_FORMAT,
                    options: "{}".to_owned(),
                    created_ms: now_ms,
                    updated_ms: now_ms,
                    wake_ms: None,
                    next_seq: 1,
                    snapshot_seq: None,
                    copied_from: None,
                    result: None,
                    fence: 0,
                    priority: 0,
                    not_before_ms: None,
                    concurrency: None,
                    halted: None,
                    take_overs: None,
                    cancelled_ms: None,
                };
                let question = question.map(|number| world.question(number, execution, now_ms));
                let claim = holder.map(|holder| claim(world, holder, now_ms));
                let questions = question.into_iter().collect();
                text(
                    &store
                        .create(row, vec![record(0, now_ms)], questions, claim)
                        .await?,
                )
            }
            Call::Claim {
                execution,
                holder,
                now_ms,
            } => {
                let (id, holder) = (world.execution(execution), world.holder(holder));
                of_row(store.claim(id, holder, now_ms, until(now_ms)).await?)
            }
            Call::ClaimOf { execution } => text(&store.claim_of(world.execution(execution)).await?),
            Call::BreakClaim {
                execution,
                holder,
                claimed_ms,
            } => {
                let claim = claim(world, holder, claimed_ms);
                text(&store.break_claim(world.execution(execution), claim).await?)
            }
            Call::Renew { holder, now_ms } => {
                text(&store.renew(world.holder(holder), until(now_ms)).await?)
            }
            Call::Append {
                execution,
                fence,
                seq,
                opened,
                closed,
                status,
                taken,
                awaited,
                release,
                now_ms,
            } => {
                let append = Append {
                    records: seq.map(|seq| record(seq, now_ms)).into_iter().collect(),
                    opened: opened
                        .map(|number| world.question(number, execution, now_ms))
                        .into_iter()
                        .collect(),
                    closed: closed
                        .map(|number| world.token(number))
                        .into_iter()
                        .collect(),
                    status: status.map(|place| Status::STORED[usize::from(place)]),
                    taken: taken.into_iter().collect(),
                    awaited: awaited.map(|name| name.to_string()).into_iter().collect(),
                    release,
                    now_ms,
                    ..Append::default()
                };
                text(
                    &store
                        .append(world.execution(execution), fence, append)
                        .await?,
                )
            }
            Call::End {
                execution,
                since_ms,
                now_ms,
            } => {
                let condition = since_ms.map_or(EndIf::NotOver, EndIf::PausedUntouchedSince);
                let record = Record {
                    kind: RecordKind::RunCancelled,
                    ..record(0, now_ms)
                };
                let id = world.execution(execution);
                of_row(Some(
                    store
                        .end(id, Status::Cancelled, "ended", record, condition)
                        .await?,
                ))
            }
            Call::Settle {
                question,
                answer,
                now_ms,
            } => {
                let settlement = match answer {
                    Some(answer) => Settlement::Answer(answer.to_string()),
                    None => Settlement::TimedOut,
                };
                text(
                    &store
                        .settle(world.token(question), settlement, now_ms)
                        .await?,
                )
            }
            Call::Signal {
                execution,
                name,
                key,
                now_ms,
            } => {
                let signal = NewSignal {
                    name: name.to_string(),
                    payload: now_ms.to_string(),
                    digest: format!("of {now_ms}"),
                    key: key.map(|key| key.to_string()),
                    now_ms,
                };
                text(&store.signal(world.execution(execution), signal).await?)
            }
            Call::Delete { execution } => text(&store.delete(world.execution(execution)).await?),
            Call::Execution { execution } => {
                of_row(store.execution(world.execution(execution)).await?)
            }
            Call::Records { execution } => text(
                &store
                    .records(world.execution(execution), 0, usize::MAX)
                    .await?,
            ),
            Call::Pauses { execution } => text(&store.pauses(world.execution(execution)).await?),
            Call::Signals { execution } => text(&store.signals(world.execution(execution)).await?),
            Call::Pause { question } => text(&store.pause(world.token(question)).await?),
            Call::Due { now_ms } => {
                let mut due = store.due(now_ms, None, usize::MAX).await?;
                // What is damaged, which nothing is here, stays and is a difference.
                due.retain(|id| id.as_ref().map_or(true, |id| world.has(*id)));
                text(&due)
            }
            Call::List => {
                let query = ListQuery {
                    flow: Some(world.flow()),
                    ..ListQuery::default()
                };
                text(&store.list(&query).await?)
            }
            Call::Log => {
                let mut logged = store.log(None, world.after, usize::MAX).await?;
                logged.retain(|logged| logged.as_ref().map_or(true, |it| world.has(it.execution)));
                let seqs = logged.iter().map(|logged| {
                    let logged = logged.as_ref();
                    logged.map(|logged| (logged.execution, logged.record.seq))
                });
                text(&seqs.collect::<Vec<_>>())
            }
        })
    }
}

/// A line of what a process did: when it asked what, and when it had which answer, in nanoseconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// The history that it belongs to.
    pub world: u64,
    /// The call.
    pub call: Call,
    /// When it was made.
    pub asked_ns: u64,
    /// The answer.
    pub answer: String,
    /// When it came.
    pub answered_ns: u64,
}
