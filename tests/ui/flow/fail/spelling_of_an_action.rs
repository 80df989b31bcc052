use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, NeedsRevision }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved }

flow! { Variant() { start >> review - "approved" >> end; review - Verdict::NeedsRevision >> end; } } //~
flow! { Word() { start >> review - approved >> end; review - "needs_revision" >> end; } } //~
flow! { Letter() { start >> review - 'x' >> end; review - "needs_revision" >> end; } } //~
flow! { Member() { start >> review; review.needs_revision >> end; review - "approved" >> end; } } //~
flow! { Index() { start >> review; review["approved"] >> end; review - "needs_revision" >> end; } } //~
flow! { Arrow() { start >> review; review - "approved" => end; review - "needs_revision" >> end; } } //~

fn main() {}
