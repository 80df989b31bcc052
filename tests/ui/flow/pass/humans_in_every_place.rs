use flow_runtime::{Question, prelude::*};
use serde::{Deserialize, Serialize};
#[node(human = "Deploy {version}{{}}?", timeout = "1h")]
#[derive(Debug, Serialize, Deserialize)]
pub enum Approval { Yes, #[action("never")] No }
flow! { Inner(version: u8) { start >> Approval - "yes" >> end; Approval - "never" >> end("no"); } }
flow! {
    Outer(versions: Vec<u8>, version: u8) -> (all: Option<Vec<Approval>>) {
        node second: human self::Approval { version <- version } with timeout = "2h";
        node all: for version in versions { Approval };
        start >> Inner >> second - "yes" >> all >> end; Inner - "no" >> second - "never" >> all;
        second - "timeout" >> all; all - "error" >> end("late");
    }
}
fn main() {
    let options = RunOptions::answer(|question: &Question| match question.prompt() {
        "Deploy 1{}?" => Approval::Yes, _ => Approval::No,
    });
    let _ = Outer::new().run_with(OuterInput { versions: vec![1], version: 1 }, options);
}
