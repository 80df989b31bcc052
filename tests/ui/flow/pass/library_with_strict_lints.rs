#![forbid(unsafe_code)]
//! Public and private things in modules of a crate.
pub mod steps {
    //! Steps.
    #![deny(missing_docs, unreachable_pub, rust_2018_idioms, unused, warnings)]
    use flow_runtime::prelude::*;
    /// Counts letters.
    #[derive(Debug, Default)]
    pub struct Count;
    #[node(writes = count)]
    impl Count { fn exec(&self, text: &str) -> usize { text.len() } }
    #[node]
    fn half(count: &usize) -> usize { count / 2 }
    flow! { pub(crate) Halves(text: String) -> (half: usize) { start >> Count >> half >> end; } }
    flow! { /** Halves twice. */ pub Quarter(text: String) -> (half: usize) { start >> Halves >> end; } }
}

fn main() {}
