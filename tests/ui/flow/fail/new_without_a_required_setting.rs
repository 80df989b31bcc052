use flow_runtime::prelude::*;

struct Judge(u64);
#[node(writes = verdict)]
impl Judge {
    fn exec(&self) -> u64 { self.0 }
}

flow! {
    Exam() -> (verdict: u64) {
        node judge: Judge;
        start >> judge >> end;
    }
}

fn main() {
    Exam::new(); //~
}
