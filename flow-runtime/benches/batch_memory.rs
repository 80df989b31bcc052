//! How much memory a loop over a million items takes at its peak, beside the results themselves. It
//! must not grow with the number of items. The items are there before, and not counted.

use std::error::Error;
use std::time::Instant;

use flow_runtime::prelude::*;

/// Gives way to the other items, so that as many as allowed are under way at once.
#[node]
async fn triple(item: &u32) -> u64 {
    tokio::task::yield_now().await;
    u64::from(*item) * 3
}

#[node(writes = sum)]
async fn add_one(triple: &u64) -> u64 {
    tokio::task::yield_now().await;
    triple + 1
}

flow! {
    Both(item: u32) -> (sum: u64) {
        start >> triple >> add_one >> end;
    }
}

flow! {
    OneByOne(items: Vec<u32>) -> (results: Vec<u64>) {
        node results: for item in items { triple };
        start >> results >> end;
    }
}

flow! {
    SixteenAtOnce(items: Vec<u32>) -> (results: Vec<u64>) {
        node results: for item in items { triple } with concurrency(16);
        start >> results >> end;
    }
}

flow! {
    SixteenFlowsAtOnce(items: Vec<u32>) -> (results: Vec<u64>) {
        node results: for item in items { Both } with concurrency(16);
        start >> results >> end;
    }
}

/// Runs a loop on this thread, and prints its peak.
fn measure<R>(what: &str, items: u32, run: impl FnOnce(Vec<u32>) -> R) -> Result<(), Box<dyn Error>>
where
    R: Future<Output = Result<Vec<u64>, FlowError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let run = run((0..items).collect());
    let mut ended = None;
    let began = Instant::now();
    let counted = allocation_counter::measure(|| ended = Some(runtime.block_on(run)));
    let each = began.elapsed().as_nanos() / u128::from(items);
    let results = ended.ok_or("the run did not end")??;

    let (peak, size) = (counted.bytes_max, size_of_val(&results[..]) as u64);
    let beside = peak - size;
    println!("{what:<18} {items:>9} {peak:>9} {size:>9} {beside:>7} {each:>8}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let [items, peak, size, beside, each] = ["items", "peak", "results", "beside", "ns each"];
    println!(
        "{:18} {items:>9} {peak:>9} {size:>9} {beside:>7} {each:>8}",
        "bytes"
    );
    for items in [1_000, 1_000_000] {
        measure("a node, one by one", items, async |items| {
            Ok(OneByOne::new().run(OneByOneInput { items }).await?.results)
        })?;
        measure("a node, 16 at once", items, async |items| {
            Ok(SixteenAtOnce::new()
                .run(SixteenAtOnceInput { items })
                .await?
                .results)
        })?;
        // The steps of a flow count, so the budget has to be larger.
        measure("a flow, 16 at once", items, async |items| {
            let options = RunOptions::new().step_budget(u64::MAX);
            let input = SixteenFlowsAtOnceInput { items };
            Ok(SixteenFlowsAtOnce::new()
                .run_with(input, options)
                .await?
                .results)
        })?;
    }
    Ok(())
}
