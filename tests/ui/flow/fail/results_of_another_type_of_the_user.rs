use flow_runtime::prelude::*;

pub struct Page(u64);
pub struct Summary(u64);
#[node]
fn summarize(page: &Page) -> Summary { Summary(page.0) }
#[node]
fn join(summaries: &[Page]) -> u64 { summaries.iter().map(|page| page.0).sum() }
flow! {
    Report(pages: Vec<Page>) -> (join: u64) {
        node summaries: for page in pages { summarize };
        start >> summaries >> join >> end; //~
    }
}
fn main() {}
