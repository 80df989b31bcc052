//! The flows of this program.

use std::fs::File;
use std::io::{self, Write as _};

use serde::{Deserialize, Serialize};
use typed_flows::prelude::*;

/// Refunds above this amount need an approval, in EUR.
const LIMIT: u64 = 100;

#[derive(Action, Serialize, Deserialize)]
pub enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    match *amount {
        0..=LIMIT => Size::Small,
        _ => Size::Large,
    }
}

/// The answer of a person, which may come weeks later.
#[node(human = "Refund {amount} EUR for order {order}?")]
#[derive(Serialize, Deserialize)]
pub enum Approval {
    Approve,
    Reject { reason: String },
}

/// Writes a line to `payments.txt`, in place of a bank.
///
/// If the process dies during this step, the step runs again, with the same `step_id`. A bank that
/// gets this id pays once.
#[node(writes = receipt, retry(attempts = 3, wait = "1s"))]
fn pay(cx: &Context, order: &str, amount: &u64) -> io::Result<String> {
    let mut payments = File::options()
        .create(true)
        .append(true)
        .open("payments.txt")?;
    writeln!(payments, "{amount} EUR for order {order}: {}", cx.step_id())?;
    Ok(format!("{amount} EUR for order {order}"))
}

#[node(writes = reason)]
fn explain(error: &NodeError) -> String {
    format!("not paid: {error:#}")
}

flow! {
    /// Refunds an order. A large amount needs the approval of a person.
    pub Refund(order: String, amount: u64) -> (receipt: Option<String>, reason: Option<String>) {
        start >> measure;
        measure  - "small"   >> pay;
        measure  - "large"   >> Approval;
        Approval - "approve" >> pay >> end;
        Approval - "reject"  >> end("rejected");
        pay      - "error"   >> explain >> end("failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use typed_flows::testing::Scripted;

    /// Nothing is paid in a test, whether the flow gets there or not.
    fn without_payments() -> Scripted {
        Scripted::new()
            .node::<pay>(|_| "paid".to_owned())
            .may_be_unused()
    }

    fn refund(amount: u64) -> RefundInput {
        RefundInput {
            order: "A7".to_owned(),
            amount,
        }
    }

    #[tokio::test]
    async fn a_small_refund_is_paid_at_once() {
        let run = without_payments().run(&Refund::new(), refund(100)).await;
        assert_eq!(run.nodes(), ["measure", "pay"]);
        assert_eq!(run.result().unwrap().receipt.as_deref(), Some("paid"));
    }

    #[tokio::test]
    async fn a_large_refund_needs_an_approval() {
        let approved = without_payments().node::<Approval>(|_| Approval::Approve);
        let run = approved.run(&Refund::new(), refund(101)).await;
        assert_eq!(run.nodes(), ["measure", "approval", "pay"]);

        let rejected = without_payments().node::<Approval>(|_| Approval::Reject {
            reason: "used".to_owned(),
        });
        let run = rejected.run(&Refund::new(), refund(101)).await;
        assert_eq!(run.nodes(), ["measure", "approval"]);
        assert_eq!(run.result().unwrap().reason.as_deref(), Some("used"));
    }

    #[tokio::test]
    async fn a_failed_payment_is_explained() {
        let failing = Scripted::new().try_node::<pay, _>(|_| Err("the bank is closed"));
        let run = failing.run(&Refund::new(), refund(30)).await;
        assert_eq!(run.nodes(), ["measure", "pay", "explain"]);
        assert_eq!(run.result().unwrap().end, RefundEnd::Failed);
    }
}
