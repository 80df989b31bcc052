#![deny(warnings)]
use flow_runtime::prelude::*;

#[cfg_attr(all(), doc = "Adds.")]
#[node]
#[cfg(all())]
fn add(
    #[cfg_attr(all(), expect(unused_variables, reason = "the attribute is what is tried"))] number: &u64,
) -> u64 {
    1
}

#[derive(Default)]
struct Twice;

#[node]
impl Twice {
    #[cfg_attr(all(), inline)]
    fn exec(&self, add: &u64) -> u64 { self.double(*add) }
    #[cfg(any())]
    fn double(&self, number: u64) -> u64 { number }
    #[cfg(not(any()))]
    fn double(&self, number: u64) -> u64 { number * 2 }
}

#[derive(Debug, Action)]
enum Verdict { Good, #[cfg(any())] Bad, #[cfg_attr(all(), action("ugly"))] Odd { #[cfg(any())] why: String } }

#[node(actions = Verdict)]
fn judge(twice: &u64) -> Verdict { if *twice == 2 { Verdict::Good } else { Verdict::Odd {} } }

#[node(human = "Deploy?")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Approval { #[cfg_attr(all(), serde(rename = "ja"))] Yes, No }

flow! {
    #[cfg_attr(all(), doc = "Adds and doubles.", derive(Debug))]
    #[cfg_attr(any(), derive(NoSuchDerive))]
    Adding(number: u64) -> (twice: u64) {
        start >> add >> Twice >> judge;
        judge - "good" >> end;
        judge - "ugly" >> Approval;
        Approval - "yes" >> end("yes");
        Approval - "no" >> end("no");
    }
}

fn main() {
    assert!(Adding::SPEC.contains("Adds and doubles."));
    assert!(Adding::SPEC.contains("\"Adds.\""));
}
