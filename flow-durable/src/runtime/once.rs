//! Texts that are written once.

use flow_store::Store as _;

use super::Runtime;
use crate::error::RuntimeError;

impl Runtime {
    /// Stores a text under a name, unless the store already has one, and returns the stored text.
    /// So all processes agree on a fact that belongs to no execution, such as the time since which
    /// a schedule is known. The text is never changed or removed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Store`]: the store could not be written to or read.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the text may have been stored.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// assert_eq!(runtime.write_once("first tenant", "ann").await?, "ann");
    /// assert_eq!(runtime.write_once("first tenant", "ben").await?, "ann");
    /// # Ok(()) }
    /// ```
    pub async fn write_once(&self, name: &str, text: &str) -> Result<String, RuntimeError> {
        let store = &self.shared.store;
        // Structures are stored once as well, and their names are hashes.
        let name = format!("once/{name}");
        let written = serde_json::Value::from(text).to_string();
        store.put_structure(&name, &written).await?;
        let stored = store.structure(&name).await?.unwrap_or(written);
        // A text that is not JSON was not written here, and is returned as it is.
        Ok(serde_json::from_str(&stored).unwrap_or(stored))
    }
}
