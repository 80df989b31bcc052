use flow_runtime::prelude::*;

#[node]
async fn length(line: &str) -> usize {
    line.len()
}

#[node(poll(every = "1s"))]
fn job(length: &usize) -> Option<u64> { (*length > 0).then_some(3) }

#[derive(Default)]
struct Total;

#[node]
impl Total {
    async fn prep(&self, job: &u64) -> u64 { *job }
    fn exec(&self, job: u64) -> u64 { job }
}

flow! {
    Totals(length: usize) -> (total: u64) {
        node job: job with timeout = "1s";
        node total: Total with timeout = "1s";
        start >> job >> total >> end;
    }
}

flow! {
    Lengths(lines: Vec<String>, line: String) -> (length: Option<usize>) {
        node one: length with retry(attempts = 2), timeout = "1s";
        node each: length;
        node lengths: for line in lines { each }
            with retry(attempts = 3, if = NodeError::is_timeout), timeout = "5s", collect_errors;
        start >> [one, lengths] >> end;
        [one, lengths] - "error" >> end("late");
    }
}

fn main() {}
