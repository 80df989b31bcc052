//! An approval of claims: actions with values, retries and timeouts in one flow.
#![expect(unreachable_pub, reason = "the design shows the items of a library")]

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    text: String,
    amount: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Policy {
    limit: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt(String);

#[derive(Debug, thiserror::Error)]
#[error("cannot revise")]
pub struct ReviseError;

#[derive(Debug, thiserror::Error)]
#[error("cannot pay")]
pub struct PayError;

/// What a reviewer can decide. Each variant is an action; its fields are the data written on that action.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
pub enum Verdict {
    Approved { amount: u64 },
    NeedsRevision { feedback: String },
    Rejected { reason: String },
}

/// Reads `claim` and `policy`; routes by its verdict.
#[node(actions = Verdict)]
async fn review(claim: &Claim, policy: &Policy) -> Verdict {
    if claim.text.is_empty() {
        return Verdict::NeedsRevision {
            feedback: "say what it is for".into(),
        };
    }
    if claim.amount > policy.limit {
        return Verdict::Rejected {
            reason: "too much".into(),
        };
    }
    Verdict::Approved {
        amount: claim.amount,
    }
}

/// Reads `claim`, `feedback`; writes `claim`.
#[node(writes = claim, retry(attempts = 3, wait = "200ms", backoff = 2.0), timeout = "30s")]
async fn revise(claim: &Claim, feedback: &str) -> Result<Claim, ReviseError> {
    if feedback.is_empty() {
        return Err(ReviseError);
    }
    Ok(Claim {
        text: "dinner".into(),
        ..claim.clone()
    })
}

/// Reads `amount`, written only where the claim was approved. Writes `receipt`.
#[node(writes = receipt)]
async fn pay(claim: &Claim, amount: &u64) -> Result<Receipt, PayError> {
    if *amount == 0 {
        return Err(PayError);
    }
    Ok(Receipt(format!("{}: {amount}", claim.text)))
}

flow! {
    /// Approves an expense claim, or sends it back until it can be decided.
    pub ExpenseApproval(claim: Claim, policy: Policy) -> (receipt: Option<Receipt>) {
        start >> review;
        review - "approved"       >> pay >> end;
        review - "needs_revision" >> revise >> review;
        review - "rejected"       >> end("rejected");
    }
}

async fn approve(claim: Claim, policy: Policy) -> Result<ExpenseApprovalOutput, FlowError> {
    let out = ExpenseApproval::new()
        .run(
            ExpenseApprovalInput::builder()
                .claim(claim)
                .policy(policy)
                .build(),
        )
        .await?;
    Ok(out)
}

#[tokio::test]
async fn a_claim_is_revised_and_paid() {
    let out = approve(
        Claim {
            text: String::new(),
            amount: 30,
        },
        Policy { limit: 50 },
    )
    .await
    .unwrap();
    assert_eq!(out.receipt, Some(Receipt("dinner: 30".into())));
    assert_eq!(out.end, ExpenseApprovalEnd::Default);
}

#[tokio::test]
async fn a_claim_is_rejected() {
    let out = approve(
        Claim {
            text: "yacht".into(),
            amount: 90,
        },
        Policy { limit: 50 },
    )
    .await
    .unwrap();
    assert_eq!(out.receipt, None);
    assert_eq!(out.end, ExpenseApprovalEnd::Rejected);
}

#[tokio::test]
async fn a_payment_that_fails_fails_the_run() {
    let error = approve(
        Claim {
            text: "nothing".into(),
            amount: 0,
        },
        Policy { limit: 50 },
    )
    .await
    .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `expense_approval.pay` failed after 1 attempt: cannot pay"
    );
    assert!(
        error
            .node_error()
            .unwrap()
            .downcast_ref::<PayError>()
            .is_some()
    );
}

flow_law::law! {
    nodes: [review, revise, pay],
    flows: [
        ExpenseApproval,
    ],
    types: [Claim, Policy],
}
