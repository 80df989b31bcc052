//! The writes to the keys of an execution.

use flow_store::ExecutionId;

use super::Executions;
use crate::error::RuntimeError;
use crate::shared::check_format;
use crate::writes::{KeyWrite, writes};

impl Executions {
    /// The writes to the keys of an execution's flows up to one of its records, in order, each with
    /// its node, visit and version of the key. The last write of a key is its current value, until
    /// a node takes it. The flow need not be registered here.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoRecord`], [`RuntimeError::NotFound`], [`RuntimeError::JournalFormat`];
    /// [`RuntimeError::DamagedRecord`]; [`RuntimeError::Unreadable`] if the structure of its flow
    /// is not in the store or damaged; or the store could not be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, StartOptions, Writer};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node(writes = number)]
    /// fn double(number: &u64) -> u64 {
    ///     number * 2
    /// }
    ///
    /// flow! {
    ///     Twice(number: u64) -> (number: u64) {
    ///         start >> double >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Twice::new())?;
    /// let execution = runtime.executions().start::<Twice>(TwiceInput { number: 4 }, StartOptions::new()).await?.settled().await?;
    ///
    /// let last = execution.journal().await?.len() as u64 - 1;
    /// let writes = runtime.executions().writes(execution.id(), last).await?;
    /// assert_eq!((&*writes[0].key, writes[0].version, &writes[0].writer), ("number", 1, &Writer::Input));
    /// assert_eq!(writes[1].version, 2);
    /// assert!(matches!(&writes[1].writer, Writer::Node { path, visit: 1, .. } if path == "twice.double"));
    /// assert_eq!(writes[1].value, Some(8.into()));
    /// # Ok(()) }
    /// ```
    pub async fn writes(&self, id: ExecutionId, seq: u64) -> Result<Vec<KeyWrite>, RuntimeError> {
        let row = self.owned.row(id).await?;
        check_format(&row)?;
        self.check_record(&row, seq).await?;
        let records = self.history(id, seq).await?;
        let structure = self.structure(&row).await?;
        writes(id, &structure, &records)
    }
}
