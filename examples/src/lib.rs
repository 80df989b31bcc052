//! Programs written with `flow!`, one in each file beside this folder: `cargo run --example expense_approval`.
