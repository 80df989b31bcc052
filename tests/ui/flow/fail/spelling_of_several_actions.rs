use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, NeedsRevision }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved }

flow! { Wildcard() { start >> review - "approved" >> end; review - _ >> end; } } //~
flow! { Alternatives() { start >> review; review - "approved" | "needs_revision" >> end; } } //~
flow! { List() { start >> review; review - "approved", "needs_revision" >> end; } } //~
flow! { NoStep() { start >> review - "approved" >> end; - "needs_revision" >> end; } } //~
flow! { NoAction() { start >> review >> end; } } //~

fn main() {}
