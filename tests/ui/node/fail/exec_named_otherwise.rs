use flow_runtime::prelude::*;

struct Ask;
#[node(writes = answer)]
impl Ask {
    fn prep(&self, question: &str) -> String { question.to_owned() }
    fn ask(&self, prep_res: &str) -> String { prep_res.to_owned() } //~
}

struct Wait;
#[node]
impl Wait {
    fn new() -> Self { Wait }
    fn length(&self) -> u32 { 1 }
    fn execute(&self) {} //~
}

fn main() {}
