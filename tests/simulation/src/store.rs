//! The store as one process sees it: calls can fail, be slow, or be the last thing that the process did.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flow_runtime::durable::{
    Append, Claim, Created, ExecutionId, ListQuery, Logged, PauseRow, Record, Row, Settlement,
    Status, Store, StoreError, Token,
};
use uuid::Uuid;

use crate::case::What;
use crate::world::{Stopped, World, hash_of};

/// The store of the world, as one process sees it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    world: Arc<World>,
    life: usize,
}

impl Seen {
    pub(crate) fn new(world: &Arc<World>, life: usize) -> Self {
        Seen {
            world: world.clone(),
            life,
        }
    }

    /// Before a call has its effect. What goes wrong after it.
    async fn before(&self, call: &'static str) -> Result<Option<What>, StoreError> {
        let Some(number) = self.world.counted() else {
            self.world.violated(
                "no hang",
                format!("process {} calls the store for ever", self.life),
            );
            self.world.stop(self.life, Stopped::Crashed);
            return std::future::pending().await;
        };
        let what = self.world.case.fault_at_call(self.life, number);
        let what = what.filter(|_| !self.world.state().quiet);
        self.slowly(number).await;
        match what {
            Some(What::CrashBefore) => {
                self.world
                    .say(|| format!("crashes before {call} (call {number})"));
                self.world.stop(self.life, Stopped::Crashed);
                std::future::pending().await
            }
            Some(What::FreezeBefore) => {
                self.world
                    .say(|| format!("freezes before {call} (call {number})"));
                self.freeze().await;
                Ok(None)
            }
            Some(What::FailBefore) => {
                self.world
                    .say(|| format!("{call} (call {number}) fails without effect"));
                Err(failed())
            }
            what => {
                if self.world.case.verbose {
                    self.world.say(|| format!("calls {call} (call {number})"));
                }
                Ok(what)
            }
        }
    }

    async fn slowly(&self, number: u64) {
        let case = &self.world.case;
        let time = hash_of(&[case.seed, 77, self.life as u64, number]) >> 7;
        match case.latency {
            0 => {}
            1 => {
                for _ in 0..time % 4 {
                    tokio::task::yield_now().await;
                }
            }
            _ => match time % 4 {
                0 => tokio::time::sleep(Duration::from_millis(1 + time / 4 % 30)).await,
                1 => tokio::task::yield_now().await,
                _ => {}
            },
        }
    }

    async fn freeze(&self) {
        self.world.stop(self.life, Stopped::Frozen);
        loop {
            let thawed = self.world.thawed.notified();
            if self.world.stopped(self.life) != Some(Stopped::Frozen) {
                return;
            }
            thawed.await;
        }
    }

    /// After a call had its effect.
    async fn after<T>(
        &self,
        what: Option<What>,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match what {
            Some(What::CrashAfter) => {
                self.world.say(|| "crashes after it".to_owned());
                self.world.stop(self.life, Stopped::Crashed);
                std::future::pending().await
            }
            Some(What::FreezeAfter) => {
                self.world.say(|| "freezes after it".to_owned());
                self.freeze().await;
                result
            }
            Some(What::FailAfter) if result.is_ok() => {
                self.world.say(|| "its answer is lost".to_owned());
                Err(failed())
            }
            _ => result,
        }
    }
}

fn failed() -> StoreError {
    StoreError::Other("the simulation says so".into())
}

macro_rules! pass_on {
    ($self:ident, $name:literal, $call:expr) => {{
        let what = $self.before($name).await?;
        let result = $call.await;
        $self.after(what, result).await
    }};
}

#[async_trait]
impl Store for Seen {
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        let what = self.before("create").await?;
        let (id, copy, claims) = (row.id, records.clone(), claim.is_some());
        let result = self.world.store.create(row, records, pauses, claim).await;
        if let Ok(Created::New) = result {
            self.world.stored(id, &copy);
            if claims {
                self.world.claimed(id);
            }
        }
        self.after(what, result).await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        pass_on!(
            self,
            "put_structure",
            self.world.store.put_structure(hash, structure)
        )
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        pass_on!(self, "structure", self.world.store.structure(hash))
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        pass_on!(self, "execution", self.world.store.execution(id))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Row>, StoreError> {
        pass_on!(self, "list", self.world.store.list(query))
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        let what = self.before("claim").await?;
        let result = self.world.store.claim(id, holder, now_ms, until_ms).await;
        if let Ok(Some(row)) = &result {
            self.world.claimed(id);
            self.world.say(|| format!("claims, fence {}", row.fence));
        }
        self.after(what, result).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<ExecutionId>, StoreError> {
        pass_on!(self, "renew", self.world.store.renew(holder, until_ms))
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        let what = self.before("append").await?;
        let copy = append.records.clone();
        let (status, released) = (append.status, append.release);
        let row = self.world.store.execution(id).await?;
        let result = self.world.store.append(id, fence, append).await;
        match &result {
            Ok(()) => {
                if row.is_some_and(|row| row.fence != fence) {
                    self.world.violated(
                        "late writes",
                        format!("a write under the fence {fence} is accepted"),
                    );
                }
                self.world.stored(id, &copy);
                if let Some(status) = status {
                    self.world.say(|| format!("is {status} now"));
                }
                if released {
                    self.world.say(|| "releases its claim".to_owned());
                }
            }
            Err(error) => self.world.say(|| format!("append is refused: {error}")),
        }
        self.after(what, result).await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
    ) -> Result<Row, StoreError> {
        let what = self.before("end").await?;
        let before = self
            .world
            .store
            .execution(id)
            .await?
            .map_or(0, |row| row.next_seq);
        let result = self.world.store.end(id, status, reason, record).await;
        let records = self.world.store.records(id, before, usize::MAX).await?;
        if !records.is_empty() {
            // What runs in another process is told when that one writes.
            self.world.claimed(id);
        }
        self.world.stored(id, &records);
        self.after(what, result).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        pass_on!(
            self,
            "records",
            self.world.store.records(id, from_seq, limit)
        )
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        pass_on!(self, "pauses", self.world.store.pauses(id))
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        pass_on!(self, "pause", self.world.store.pause(token))
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        let what = self.before("settle").await?;
        self.world.say(|| format!("settles {settlement:?}"));
        let result = self.world.store.settle(token, settlement, now_ms).await;
        self.after(what, result).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<ExecutionId>, StoreError> {
        pass_on!(self, "due", self.world.store.due(now_ms, limit))
    }

    async fn log(&self, after: u64, limit: usize) -> Result<Vec<Logged>, StoreError> {
        pass_on!(self, "log", self.world.store.log(after, limit))
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        pass_on!(self, "last_offset", self.world.store.last_offset())
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        pass_on!(self, "delete", self.world.store.delete(id))
    }
}
