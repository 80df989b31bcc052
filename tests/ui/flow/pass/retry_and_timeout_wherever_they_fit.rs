use flow_runtime::prelude::*;

#[node]
async fn length(line: &str) -> usize {
    line.len()
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
