//! Expense claims are reviewed, sent back until they can be decided, and paid.
//! A failed payment does not end the run: an `"error"` edge hands the claim to a clerk.
//!
//! ```text
//! cargo run --example expense_approval -- claims.json
//! ```
//!
//! Each action has to lead somewhere. Without the edge for rejected claims, the compiler says:
//!
//! ```text
//! error: action "rejected" of `review` goes nowhere [F002]
//!        help: say where it goes, such as `review - "rejected" >> end;`
//! ```

use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use typed_flows::prelude::*;

#[derive(Deserialize)]
struct Inbox {
    policy: Policy,
    claims: Vec<Claim>,
}

#[derive(Clone, Deserialize)]
struct Policy {
    limit: u64,
    receipt_from: u64,
}

#[derive(Clone, Deserialize)]
struct Claim {
    id: String,
    employee: String,
    account: Option<String>,
    #[serde(flatten)]
    draft: Draft,
    /// The drafts that the employee submits when asked to revise.
    #[serde(default)]
    revisions: VecDeque<Draft>,
}

#[derive(Clone, Deserialize)]
struct Draft {
    purpose: String,
    amount: u64,
    receipt: bool,
}

/// A decision of the reviewer.
#[derive(Action)]
enum Verdict {
    Approved { amount: u64 },
    NeedsRevision { feedback: String },
    Rejected { reason: String },
}

#[node(actions = Verdict)]
fn review(claim: &Claim, policy: &Policy) -> Verdict {
    let amount = claim.draft.amount;
    if amount > policy.limit {
        let reason = format!("{amount} EUR is over the limit of {}", policy.limit);
        return Verdict::Rejected { reason };
    }
    let feedback = if claim.draft.purpose.is_empty() {
        "say what it was for".to_owned()
    } else if amount >= policy.receipt_from && !claim.draft.receipt {
        "attach the receipt".to_owned()
    } else {
        return Verdict::Approved { amount };
    };
    Verdict::NeedsRevision { feedback }
}

/// The employee's response to feedback.
#[derive(Action)]
enum Revision {
    Revised { claim: Claim },
    Withdrawn { reason: String },
}

#[node(actions = Revision)]
fn revise(mut claim: Claim, feedback: &str) -> Revision {
    let Some(draft) = claim.revisions.pop_front() else {
        let reason = format!("could not {feedback}");
        return Revision::Withdrawn { reason };
    };
    claim.draft = draft;
    Revision::Revised { claim }
}

#[node(writes = receipt)]
async fn pay(claim: &Claim, amount: u64) -> Result<String, String> {
    match &claim.account {
        Some(account) => Ok(format!("{amount} EUR to {account}")),
        None => Err(format!("{} has no bank account on file", claim.employee)),
    }
}

#[node(writes = reason)]
fn ask_clerk(error: &NodeError) -> String {
    format!("{}; a clerk will call", error.error())
}

flow! {
    /// Approves an expense claim, or sends it back until it can be decided.
    ExpenseApproval(claim: Claim, policy: Policy) -> (
        receipt: Option<String>,
        reason: Option<String>,
    ) {
        start >> review;
        review - "approved"       >> pay >> end("paid");
        review - "needs_revision" >> revise;
        review - "rejected"       >> end("rejected");
        revise - "revised"        >> review;
        revise - "withdrawn"      >> end("withdrawn");
        pay    - "error"          >> ask_clerk >> end("on_hold");
    }
}

/// The nodes that a run visited.
#[derive(Default)]
struct Trail(Mutex<Vec<String>>);

impl Observer for Trail {
    fn on_event(&self, event: &Event<'_>) {
        if let EventKind::NodeStarted = event.kind() {
            let path = event.path().to_string();
            let name = path.rsplit('.').next().unwrap_or(&path);
            self.0.lock().unwrap().push(name.to_owned());
        }
    }
}

async fn decide(claim: Claim, policy: Policy) -> Result<ExpenseApprovalEnd, FlowError> {
    let title = format!("{} {}", claim.id, claim.employee);
    let trail = Arc::new(Trail::default());

    let input = ExpenseApprovalInput::builder().claim(claim).policy(policy);
    let options = RunOptions::new().observer(trail.clone());
    let output = ExpenseApproval::new()
        .run_with(input.build(), options)
        .await?;

    let end = output.end;
    let text = match output.into_outcome() {
        ExpenseApprovalOutcome::Paid { receipt } => receipt,
        ExpenseApprovalOutcome::Rejected { reason }
        | ExpenseApprovalOutcome::Withdrawn { reason }
        | ExpenseApprovalOutcome::OnHold { reason } => reason,
    };
    println!("{title:<14}  {end:<9}  {text}");
    println!("{:27}{}", "", trail.0.lock().unwrap().join(" > "));
    Ok(end)
}

fn read_inbox(file: &Path) -> Result<Inbox, String> {
    let explain = |error: &dyn Error| format!("{}: {error}", file.display());
    let json = std::fs::read_to_string(file).map_err(|error| explain(&error))?;
    serde_json::from_str(&json).map_err(|error| explain(&error))
}

async fn decide_all(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let inbox = match &file {
        Some(file) => read_inbox(file)?,
        None => serde_json::from_str(include_str!("data/claims.json"))?,
    };

    let mut ends = Vec::new();
    for claim in inbox.claims {
        ends.push(decide(claim, inbox.policy.clone()).await?);
    }
    println!("{} claims decided", ends.len());

    if file.is_none() {
        use ExpenseApprovalEnd::{OnHold, Paid, Rejected, Withdrawn};
        assert_eq!(ends, [Paid, Paid, Paid, Rejected, OnHold, Withdrawn, Paid]);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match decide_all(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/expense_approval.rs"]
mod law;
