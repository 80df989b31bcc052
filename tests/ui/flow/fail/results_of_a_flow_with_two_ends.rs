use flow_runtime::prelude::*;

#[node(writes = findings)]
fn scan(file: &str) -> Result<usize, String> { Ok(file.len()) }
#[node]
fn total(scans: &[usize]) -> usize { scans.iter().sum() }

flow! { Scan(file: String) -> (findings: Option<usize>) { start >> scan >> end; scan - "error" >> end("skipped"); } }

flow! {
    Audit(files: Vec<String>) -> (total: usize) {
        node scans: for file in files { Scan };
        start >> scans >> total >> end; //~
    }
}

fn main() {}
