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

#[node]
fn plain(line: &str) -> usize { line.len() }

#[node(writes = plain, blocking)]
fn blocking(line: &str) -> usize { line.len() }

#[node(writes = plain, poll(every = "1s"))]
fn polled(line: &str) -> Result<Option<usize>, String> { Ok(Some(line.len())) }

#[node(writes = plain, retry(attempts = 2, wait = "1s"))]
fn tried(line: &str) -> Result<usize, String> { Ok(line.len()) }

#[node(writes = plain)]
fn fails(line: &str) -> Result<usize, String> { Ok(line.len()) }

#[derive(Default)]
struct Prepared;

#[node(writes = plain)]
impl Prepared {
    async fn prep(&self, line: &str) -> usize { line.len() }
    fn exec(&self, length: usize) -> Result<usize, String> { Ok(length) }
}

flow! { Blocking(line: String) -> (plain: usize) { start >> blocking >> end; } }
flow! { Polled(line: String) -> (plain: usize) { start >> polled >> end; } }
flow! { Tried(line: String) -> (plain: usize) { start >> tried >> end; } }
flow! { Phases(line: String) -> (plain: usize) { node it: Prepared; start >> it >> end; } }
flow! { Waits(line: String) -> (plain: usize) { start >> wait(1s) >> plain >> end; } }
flow! {
    Retries(line: String) -> (plain: usize) {
        node it: fails with retry(attempts = 2, wait = "1s");
        start >> it >> end;
    }
}
flow! {
    Spread(lines: Vec<String>) -> (all: Vec<usize>) {
        node all: for line in lines { plain } with spread(2);
        start >> all >> end;
    }
}
flow! { Forks(line: String) -> (plain: usize, length: usize) { start >> [plain, length] >> end; } }
flow! {
    /// A timeout of each flow that awaits in its own way.
    InnerFlows(line: String, lines: Vec<String>) -> (plain: usize, all: Vec<usize>, each: Vec<usize>) {
        node blocking: Blocking with timeout = "1s";
        node polled: Polled with timeout = "1s";
        node tried: Tried with timeout = "1s";
        node phases: Phases with timeout = "1s";
        node waits: Waits with timeout = "1s";
        node retries: Retries with timeout = "1s";
        node spread: Spread with timeout = "1s";
        node forks: Forks with timeout = "1s";
        node around: Around with timeout = "1s";
        node each: for line in lines { Waits } with timeout = "1s";
        start >> blocking >> polled >> tried >> phases >> waits >> retries >> spread
            >> forks >> around >> each >> end;
    }
}
flow! { Around(line: String) -> (plain: usize) { start >> Waits >> end; } }

fn main() {}
