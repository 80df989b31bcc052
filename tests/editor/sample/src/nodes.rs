use flow_runtime::prelude::*;

#[derive(Action)]
pub enum Verdict {
    Approved { amount: u64 },
    #[action("revise")]
    NeedsRevision { feedback: String },
    Rejected,
}

/// Reads `claim` and `limit`.
#[node(actions = Verdict)]
pub fn review(claim: &u64, limit: &u64) -> Verdict {
    match claim {
        0 => Verdict::NeedsRevision { feedback: "what for?".into() },
        claim if claim <= limit => Verdict::Approved { amount: *claim },
        _ => Verdict::Rejected,
    }
}

/// Writes `claim` anew.
#[node(writes = claim)]
pub fn revise(feedback: &str) -> u64 {
    feedback.len() as u64
}

/// A printer of receipts.
#[derive(Default)]
pub struct Printer {
    pub copies: usize,
}

#[node(writes = receipt)]
impl Printer {
    fn exec(&self, text: &str) -> String {
        text.repeat(self.copies)
    }
}

#[node]
pub fn shout(word: &str) -> String {
    word.to_uppercase()
}

/// Takes back what the printer did.
#[node]
pub fn shred(receipt: &str) {
    println!("{receipt} is gone");
}
