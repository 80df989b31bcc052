use flow_runtime::prelude::*;

#[node(writes = receipt)]
fn pay(amount: &u64, limit: &u64) -> String { format!("{amount} of {limit}") }

flow! {
    Expense(
        #[cfg(feature = "audit")] //~
        amount: u64,
        #[arg(default_value_t = 50)] //~
        limit: u64,
    ) -> (
        #[serde(rename = "paid")] //~
        receipt: String,
    ) {
        start >> pay >> end;
    }
}
fn main() {}
