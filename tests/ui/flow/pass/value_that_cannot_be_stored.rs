//! A value without a form as JSON: a plain run does not ask for one, though the feature `stored` is on.
use flow_runtime::prelude::*;

struct Connection(u8);

#[node]
fn open(number: &u8) -> Connection { Connection(*number) }

#[node]
fn read(open: Connection) -> u8 { open.0 }

flow! { Reading(number: u8) -> (read: u8) { start >> open >> read >> end; } }

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let output = Reading::new().run(ReadingInput { number: 3 }).await.unwrap();
    assert_eq!(output.read, 3);
}
