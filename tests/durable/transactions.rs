//! Steps in transactions, with a store whose database fails. What they write is a test of each
//! store.

use std::time::Duration;

use flow_durable::{RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;

use crate::stores::{Broken, Faulty, Rows};
use crate::support::{outcomes, runtime, store};

#[node(transaction, retry(attempts = 2))]
async fn post(tx: &mut Rows, number: &u64) -> Result<u64, String> {
    let _ = tx;
    Ok(number + 1)
}

#[node(transaction)]
async fn post_aside(tx: &mut Rows, number: &u64) -> u64 {
    let _ = tx;
    tokio::time::sleep(Duration::from_secs(1)).await;
    number + 2
}

#[node]
async fn note(number: &u64) -> u64 {
    number + 3
}

flow! {
    Posts(number: u64) -> (post: u64, post_aside: u64, note: u64) {
        start >> [post, post_aside, note] >> end;
    }
}

/// As when an outcome cannot be written: the step has not failed, and goes on when the database does.
#[tokio::test(start_paused = true)]
async fn a_database_that_fails_is_no_failure_of_the_step() {
    let broken = Faulty::new(&store(), Broken::default());
    let runtime = runtime(broken.clone(), Posts::new());
    broken.fault.fail("begin");
    let input = PostsInput { number: 1 };
    let started = runtime.start::<Posts>(input, StartOptions::new());
    let execution = started.await.unwrap();
    let halted = execution.settled().await.unwrap_err();
    assert!(matches!(halted, RuntimeError::Store(_)), "{halted:?}");
    let stored = runtime.get(execution.id()).await.unwrap();
    assert_eq!(stored.status(), Status::Running);

    broken.fault.mend();
    runtime.recover().await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Posts>().unwrap().unwrap();
    assert_eq!((output.post, output.post_aside, output.note), (2, 3, 4));
    let journal = execution.journal().await.unwrap();
    assert!(outcomes(&journal).values().all(|count| *count == 1));
}
