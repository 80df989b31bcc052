use flow_runtime::prelude::*;

#[node(writes = summary)]
fn summarize(chapter: &str) -> String { chapter.chars().take(12).collect() }
#[node]
fn blurb(summary: &[String]) -> String { summary.join(" … ") }

flow! {
    Cover(chapters: Vec<String>) -> (blurb: String) {
        node summaries: for chapter in chapters { summarize };
        start >> summaries >> blurb >> end; //~
    }
}

fn main() {}
