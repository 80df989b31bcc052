#![deny(warnings)]
mod steps {
    use flow_runtime::prelude::*;
    #[node]
    pub(crate) fn format(vec: &[u64]) -> String { format!("{vec:?}") }
    #[node]
    pub(crate) fn vec() -> Vec<u64> { vec![1, 2] }
    #[node]
    pub(crate) fn write(format: &str) { println!("{format}") }
    flow! { pub(crate) Here() { start >> vec >> format >> write >> end; } }
    pub(crate) fn other() -> String { format!("{:?}", vec![3]) }
}
use flow_runtime::prelude::*;
flow! { There() { start >> steps::vec >> steps::format >> steps::Here >> steps::write >> end; } }
fn main() { assert_eq!(format!("{:?}", vec![3]), steps::other()); }
