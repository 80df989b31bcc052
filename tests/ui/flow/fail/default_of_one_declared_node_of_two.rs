use flow_runtime::prelude::*;

#[derive(Default)]
struct Ask;
#[node]
impl Ask { fn exec(&self) -> u64 { 1 } }
struct Judge;
#[node]
impl Judge { fn exec(&self, ask: &u64) -> u64 { *ask } }

flow! {
    Exam() -> (judge: u64) {
        node ask: Ask;
        node judge: Judge;
        start >> ask >> judge >> end;
    }
}
fn main() { Exam::builder().build(); } //~
