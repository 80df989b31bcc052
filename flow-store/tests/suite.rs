//! The store in memory passes the suite.

flow_store::suite!(|_folder| async { flow_store::MemoryStore::new() });
