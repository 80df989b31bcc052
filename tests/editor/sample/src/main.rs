mod nodes;

use flow_runtime::prelude::*;
use nodes::{Printer, review};

/// Writes `paid`.
#[node(writes(paid, words))]
async fn pay(amount: &u64) -> (String, Vec<String>) {
    (format!("paid {amount}"), vec![amount.to_string()])
}

flow! {
    /// Writes out what was paid.
    Receipt(text: String) -> (receipt: String) {
        start >> Printer >> end;
    }
}

flow! {
    /// Pays a claim that is within the limit.
    Expense(claim: u64, limit: u64) -> (receipt: Option<String>) {
        node receipts: Receipt { text <- paid } = Receipt::new();
        node loud: for one in words { nodes::shout { word <- one } };
        branch size(amount, limit) {
            *amount > limit / 2 => "large",
            else => "small",
        }

        start >> review;
        review - "approved" >> pay >> size;
        review - "revise" >> nodes::revise >> review;
        review - "rejected" >> end("rejected");
        size - "small" >> receipts;
        size - "large" >> loud >> receipts;
        receipts >> end;
    }
}

flow! {
    /// Prints what can be taken back.
    Printed(text: String) -> (receipt: String) {
        node printer: Printer with undo = nodes::shred;
        start >> printer >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let input = ExpenseInput::builder().claim(30).limit(50).build();
    let output = Expense::builder().receipts(Receipt::new()).build().run(input).await?;
    assert_eq!(output.end, ExpenseEnd::Default);
    println!("{:?}", output.receipt);
    Printed::new().run(PrintedInput { text: "copy".into() }).await?;
    Ok(())
}
