//! A program that knows the runtime by another name: generated code uses the name in `Cargo.toml`,
//! or the path that is given with `crate = …`.

#![cfg(test)]

use flows::prelude::*;
use flows::testing::Scripted;
use flows::{Export, ExportOptions, Params, Question};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The runtime as a crate of the house might re-export it.
mod house {
    pub(crate) use flows as runtime;
}

#[derive(Action)]
#[action(crate = house::runtime)]
enum Verdict {
    Approved {
        amount: u64,
    },
    #[action("no")]
    Rejected,
}

#[node(actions = Verdict)]
fn review(claim: &u64, limit: &u64) -> Verdict {
    if claim <= limit {
        Verdict::Approved { amount: *claim }
    } else {
        Verdict::Rejected
    }
}

#[derive(Default, Params)]
#[param(crate = house::runtime)]
struct Pay {
    #[param(secret)]
    password: String,
}

#[node(writes = receipt, retry(attempts = 2), timeout = "5s", crate = house::runtime)]
impl Pay {
    async fn exec(&self, amount: &u64) -> Result<String, String> {
        Ok(format!("paid {amount}{}", self.password))
    }
}

#[node(human = "Pay {claim} all the same?")]
#[derive(Serialize, Deserialize)]
enum Approval {
    Yes { amount: u64 },
    No,
}

#[node(human = "Since when?", timeout = "1h")]
#[derive(Serialize, Deserialize)]
struct Since {
    year: u32,
}

#[node(poll(every = "1s"))]
fn doubled(item: &u64) -> Option<u64> {
    Some(item * 2)
}

#[node(writes(low, high))]
fn range(claim: u64) -> (u64, u64) {
    (claim, claim + 1)
}

flow! {
    #[derive(Clone)]
    Payment(claim: u64, limit: u64) -> (receipt: Option<String>) {
        branch large(claim) {
            *claim > 1000 => "large",
            else => "small",
        }

        start >> large;
        large    - "small"    >> review;
        large    - "large"    >> end("too_large");
        review   - "approved" >> Pay >> end;
        review   - "no"       >> Approval;
        Approval - "yes"      >> Pay;
        Approval - "no"       >> end("refused");
    }
}

flow! {
    #[flow(crate = house::runtime)]
    Day(claim: u64, limit: u64, numbers: Vec<u64>)
        -> (receipt: Option<String>, twice: Option<Vec<u64>>, since: Option<Since>)
    {
        node twice: for item in numbers { doubled } with concurrency(2);

        start >> Payment;
        Payment - "default"   >> [twice, range] >> wait(1s) >> Since >> end;
        Payment - "too_large" >> end("unpaid");
        Payment - "refused"   >> end("unpaid");
        Since   - "timeout"   >> end("unknown");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_with_every_kind_of_node_runs() {
    let options = RunOptions::answer(|question: &Question| match question.prompt() {
        "Since when?" => json!({ "year": 1999 }),
        _ => json!({ "Yes": { "amount": 7 } }),
    });
    let input = DayInput::builder().claim(60).limit(50).numbers(vec![1, 2]);
    let output = Day::default().run_with(input.build(), options).await;
    let output = output.expect("it reaches its end");
    assert_eq!(output.receipt.as_deref(), Some("paid 7"));
    assert_eq!(output.twice, Some(vec![2, 4]));
    assert_eq!(output.since.map(|since| since.year), Some(1999));
}

#[tokio::test]
async fn its_nodes_can_be_scripted() {
    let scripted = Scripted::new().node::<review>(|_| Verdict::Rejected);
    let scripted = scripted.node::<Approval>(|_| Approval::No);
    let input = PaymentInput { claim: 1, limit: 2 };
    let run = scripted.run(&Payment::default(), input).await;
    assert_eq!(
        run.result().expect("it reaches its end").end,
        PaymentEnd::Refused
    );
}

#[test]
fn its_settings_are_exported() {
    let document = Day::default().export(ExportOptions::default());
    let payment = document.nodes[1].internal_flow.as_ref().expect("a flow");
    let pay = payment
        .nodes
        .iter()
        .find(|node| node.id == "pay")
        .expect("its node");
    assert_eq!(pay.params["password"], "***");
}
