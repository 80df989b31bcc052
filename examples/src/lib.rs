//! Programs written with `flow!`, one in each file of the folder above:
//! `cargo run --example expense_approval`.
