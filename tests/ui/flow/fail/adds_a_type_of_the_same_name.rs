// The item that is added has the name of the list's items, and is another type.
use flow_runtime::prelude::*;

pub mod audit {
    use flow_runtime::prelude::*;
    pub struct Entry;
    #[node(writes = +log)]
    pub fn note() -> Entry { Entry }
}
use audit::note;
pub struct Entry;
flow! {
    Notes() -> (log: Vec<Entry>) {
        start >> note >> end; //~
    }
}
fn main() { let _ = (Entry, audit::Entry); }
