//! Nodes that write in transactions, with all that an attempt can have.

use std::any::Any;
use std::sync::{Arc, Mutex};

use flow_runtime::engine::Place;
use flow_runtime::prelude::*;
use flow_runtime::{BoxError, BoxFuture, OpenTransaction, Transactions};

#[derive(Debug, Default, Clone)]
struct Book(Arc<Mutex<Vec<String>>>);

#[derive(Debug, Default)]
struct Lines(Vec<String>);

struct Open(Book, Lines);

impl Transactions for Book {
    fn begin<'a>(
        &'a self,
        _: &'a Place,
    ) -> BoxFuture<'a, Result<Box<dyn OpenTransaction>, BoxError>> {
        let open: Box<dyn OpenTransaction> = Box::new(Open(self.clone(), Lines::default()));
        Box::pin(async move { Ok(open) })
    }
}

impl OpenTransaction for Open {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        &mut self.1
    }

    fn type_name(&self) -> &'static str {
        "Lines"
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), BoxError>> {
        self.0.0.lock().unwrap().extend(self.1.0);
        Box::pin(async { Ok(()) })
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

fn is_busy(error: &String) -> bool {
    error == "busy"
}

/// Takes what it reads, and is tried again if it is busy.
#[node(transaction, retry(attempts = 3, if = is_busy), timeout = "1h", writes = first)]
async fn takes(tx: &mut Lines, names: Vec<String>, cx: &Context) -> Result<usize, String> {
    tx.0.extend(names.iter().cloned());
    if cx.attempt() == 0 {
        Err("busy".to_owned())
    } else {
        Ok(names.len())
    }
}

/// Cannot fail by itself.
#[node(transaction, writes(second, third))]
async fn simple(first: &usize, tx: &mut Lines) -> (usize, String) {
    tx.0.push(format!("first is {first}"));
    (first + 1, "three".to_owned())
}

#[derive(Action)]
enum Ends {
    Well,
    Badly { reason: String },
}

struct Checked {
    least: usize,
}

#[node(transaction, actions = Ends)]
impl Checked {
    fn prep(&self, second: &usize, third: &str) -> Result<(usize, String), String> {
        Ok((*second, third.to_owned()))
    }

    async fn exec(
        &self,
        cx: &Context,
        tx: &mut Lines,
        prep_res: &(usize, String),
    ) -> Result<usize, String> {
        tx.0.push(format!("{} at {}", prep_res.1, cx.attempt()));
        if prep_res.0 < self.least {
            Err("too few".to_owned())
        } else {
            Ok(prep_res.0)
        }
    }

    fn exec_fallback(&self, error: &NodeError) -> usize {
        format!("{error:#}").len()
    }

    fn post(&self, exec_res: usize) -> Ends {
        if exec_res == 3 {
            Ends::Well
        } else {
            Ends::Badly {
                reason: exec_res.to_string(),
            }
        }
    }
}

flow! {
    Inner(names: Vec<String>) -> (second: usize, reason: Option<String>) {
        node checked: Checked = Checked { least: 3 };
        start >> takes >> simple >> checked;
        checked - "well" >> end;
        checked - "badly" >> end("badly");
    }
}

flow! {
    Outer(names: Vec<String>) -> (second: usize) {
        start >> Inner >> end;
        Inner - "badly" >> end("badly");
    }
}

#[tokio::test]
async fn what_nodes_write_is_kept_if_they_succeed() {
    let book = Book::default();
    let names = vec!["Ann".to_owned(), "Ben".to_owned()];
    let options = RunOptions::new().transactions(book.clone());
    let flow = Outer::new();
    let run = flow.run_with(OuterInput { names }, options);
    let output = run.await.unwrap();
    assert_eq!((output.second, output.end), (3, OuterEnd::Default));
    let kept = ["Ann", "Ben", "first is 2", "three at 0"];
    assert_eq!(*book.0.lock().unwrap(), kept);
}

#[tokio::test]
async fn a_node_whose_fallback_is_used_keeps_nothing() {
    let book = Book::default();
    let options = RunOptions::new().transactions(book.clone());
    let names = vec!["Ann".to_owned()];
    let flow = Outer::new();
    let run = flow.run_with(OuterInput { names }, options);
    assert_eq!(run.await.unwrap().end, OuterEnd::Badly);
    assert_eq!(*book.0.lock().unwrap(), ["Ann", "first is 1"]);
}

struct Other;

#[node(transaction)]
async fn of_another_database(tx: &mut Other) -> usize {
    std::mem::size_of_val(tx)
}

flow! {
    Mixed() -> (of_another_database: usize) {
        start >> of_another_database >> end;
    }
}

#[tokio::test]
async fn a_transaction_of_another_database_is_refused() {
    let book = Book::default();
    let options = RunOptions::new().transactions(book);
    let flow = Mixed::new();
    let run = flow.run_with(MixedInput {}, options);
    let error = format!("{:#}", run.await.unwrap_err());
    assert!(
        error.contains("it asks for a `integration::transactions::Other`, but"),
        "{error}"
    );
}
