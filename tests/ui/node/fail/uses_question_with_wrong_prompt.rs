use flow_runtime::{Question, prelude::*};

#[node(human = "Deploy {self.version}?")] //~
#[derive(serde::Serialize, serde::Deserialize)]
enum Approval { Yes, No }

#[node(human = "Deploy?", retry(attempts = 2))] //~
#[derive(serde::Serialize, serde::Deserialize)]
struct Reason(String);

fn main() {
    let _ = RunOptions::answer(|_: &Question| if true { Approval::Yes } else { Approval::No });
    let _ = RunOptions::answer(|_: &Question| Reason(String::new()));
}
