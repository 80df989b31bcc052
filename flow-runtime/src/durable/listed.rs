//! Executions that were listed, and what could not be read of them.

use std::ops::Deref;

use super::execution::Execution;
use flow_store::Damaged;

/// What [`Runtime::list`](super::Runtime::list) and [`Runtime::expire`](super::Runtime::expire) return: executions, as a slice
/// has them, and what could not be read among them.
///
/// # Examples
///
/// ```
/// use flow_runtime::durable::{ListOptions, MemoryStore, Runtime};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_runtime::durable::RuntimeError> {
/// let runtime = Runtime::new(MemoryStore::new());
/// let listed = runtime.list(ListOptions::new()).await?;
/// for damaged in listed.damaged() {
///     eprintln!("{damaged}");
/// }
/// for execution in &listed {
///     println!("{} is {}", execution.id(), execution.status());
/// }
/// # assert!(listed.is_empty() && listed.damaged().is_empty());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Listed {
    pub(super) executions: Vec<Execution>,
    pub(super) damaged: Vec<Damaged>,
}

impl Listed {
    /// What could not be read: it is not known whether it should be among the executions. Nothing, unless the store is
    /// damaged.
    pub fn damaged(&self) -> &[Damaged] {
        &self.damaged
    }
}

impl Deref for Listed {
    type Target = [Execution];

    fn deref(&self) -> &[Execution] {
        &self.executions
    }
}

impl IntoIterator for Listed {
    type Item = Execution;
    type IntoIter = std::vec::IntoIter<Execution>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.into_iter()
    }
}

impl<'a> IntoIterator for &'a Listed {
    type Item = &'a Execution;
    type IntoIter = std::slice::Iter<'a, Execution>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.iter()
    }
}
