#![doc = include_str!("../README.md")]

mod address;
mod call;
mod claims;
mod database;
mod errors;
mod hints;
mod options;
mod read;
mod reply;
mod rows;
mod script;
mod settings;
mod signals;
mod tls;
mod write;

pub use options::{Durability, RedisOptions};

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use flow_store::hints::Hints;
use flow_store::{
    Append, Changes, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged,
    Mark, NewSignal, PauseRow, Record, Renewal, Row, Sent, Settlement, SignalRow, Status, Store,
    StoreError, Take, Token,
};
use uuid::Uuid;

use self::database::Database;

/// A store on a Redis server. Any number of processes may use the same one.
pub struct RedisStore {
    database: Arc<Database>,
}

impl RedisStore {
    /// Opens the store at an address such as `redis://user:password@host:6379/0`, with the default
    /// options. The parameters `name` and `durability` of the address set the options of these
    /// names: `redis://host?name=billing&durability=every_second`. With the feature `tls`,
    /// `rediss://` encrypts the connections. `cacert` names a file with the certificates to trust
    /// instead of the system's: `rediss://host?cacert=/etc/redis/ca.pem`.
    ///
    /// # Errors
    ///
    /// The address is invalid; it requires TLS, but the feature `tls` is off or the server's
    /// certificate is not trusted; the server cannot be reached; it has settings with which the
    /// store cannot keep its guarantees; or [`StoreError::TooNew`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), flow_store::StoreError> {
    /// let store = flow_redis::RedisStore::connect("redis://localhost").await?;
    /// # Ok(()) }
    /// ```
    pub async fn connect(url: &str) -> Result<RedisStore, StoreError> {
        RedisStore::connect_with(url, RedisOptions::new()).await
    }

    /// Opens the store with these options. Settings in the address take precedence.
    ///
    /// # Errors
    ///
    /// Errors of [`connect`](RedisStore::connect), or the name of the store is invalid.
    pub async fn connect_with(url: &str, options: RedisOptions) -> Result<RedisStore, StoreError> {
        let database = Database::new(url, options)?;
        read::last_offset(&database).await?;
        Ok(RedisStore { database })
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address is left out, since it may contain a password.
        f.debug_struct("RedisStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        read::clock_ms(&self.database).await
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        write::create(&self.database, &row, &records, &pauses, claim).await
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        write::create_part(&self.database, of, fence, &row, &records).await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        write::put_structure(&self.database, hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        read::structure(&self.database, hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        read::execution(&self.database, id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        read::list(&self.database, query).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        write::claim(&self.database, id, holder, now_ms, until_ms).await
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        read::claim_of(&self.database, id).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        write::mark(&self.database, id, fence, &mark).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        write::break_claim(&self.database, id, claim).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        write::renew(&self.database, holder, until_ms).await
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        write::take_queued(&self.database, take).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        write::append(&self.database, id, fence, &append).await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        write::end(&self.database, id, status, reason, &record, condition).await
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        write::reopen(&self.database, id, status, &record).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        read::records(&self.database, id, from_seq, limit).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        read::pauses(&self.database, id).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        read::pause(&self.database, token).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        write::settle(&self.database, token, settlement, now_ms).await
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        signals::signal(&self.database, id, &signal).await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        signals::signals(&self.database, id).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        read::due(&self.database, now_ms, after, limit).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        read::log(&self.database, execution, after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        read::last_offset(&self.database).await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        write::delete(&self.database, id).await
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.database.hints.as_ref().map(Hints::changes)
    }
}
