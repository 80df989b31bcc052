//! The settings of nodes, for those who ask for them.

use std::sync::atomic::{AtomicU32, Ordering};

use flow_durable::{EventFilter, ExecutionEvent, Runtime};
use flow_runtime::prelude::*;
use flow_runtime::{Params, ParamsWriter};
use serde_json::{Value, json};

use crate::accesses::{lines, told};
use crate::support::{options, runtime, settled, store};

/// Multiplies, with settings of which one is secret.
#[derive(Params)]
struct Times {
    factor: u64,
    #[param(secret)]
    key: &'static str,
}

#[node(writes = product)]
impl Times {
    fn exec(&self, number: u64, first: Option<&u64>) -> u64 {
        first.copied().unwrap_or(0) + number * self.factor * self.key.len() as u64
    }
}

static EVALUATED: AtomicU32 = AtomicU32::new(0);

fn first() -> u64 {
    EVALUATED.fetch_add(1, Ordering::Relaxed).into()
}

flow! {
    Product(number: u64, first: u64 = first()) -> (product: u64) {
        node times: Times;
        start >> times >> end;
    }
}

flow! {
    Products(numbers: Vec<u64>, number: u64) -> (products: Vec<u64>, product: u64) {
        node once: Product;
        node each: Times;
        node products: for number in numbers { each };
        start >> once >> products >> end;
    }
}

fn products(factor: u64) -> Products {
    let times = |factor| Times { factor, key: "k" };
    let once = Product::builder().times(times(factor)).build();
    Products::builder()
        .once(once)
        .each(times(factor + 1))
        .build()
}

/// The settings that are told, by path.
fn settings(told: &[ExecutionEvent]) -> Vec<(&str, Value)> {
    let params = |event: &ExecutionEvent| match event {
        ExecutionEvent::Recorded(event) => {
            let values = event.values.as_deref()?;
            (!values.params.is_empty()).then(|| json!(values.params))
        }
        _ => None,
    };
    let told = told.iter();
    told.filter_map(|event| Some((event.path()?, params(event)?)))
        .collect()
}

/// B-073, D-21: what the settings are is not stored, so whoever has the flow tells it.
#[tokio::test(start_paused = true)]
async fn settings_of_a_compiled_flow_are_told_by_who_has_it() {
    let store = store();
    let knows = runtime(store.clone(), products(2));
    let input = ProductsInput {
        numbers: vec![1, 5],
        number: 3,
    };
    settled::<Products>(&knows, input).await;
    let evaluated = EVALUATED.load(Ordering::Relaxed);
    let filter = || EventFilter::new().from_start().values();
    let all = told(&knows, filter()).await;
    let times = |factor: u64| json!({ "factor": factor, "key": "***" });
    assert_eq!(
        settings(&all),
        [
            ("products.once.times", times(2)),
            ("products.products[0]", times(3)),
            ("products.products[1]", times(3)),
        ]
    );
    // No expression of the user's is evaluated for that.
    assert_eq!(EVALUATED.load(Ordering::Relaxed), evaluated);
    let started = all.iter().map(ExecutionEvent::to_json);
    let mut started = started.filter(|event| event["namespace"] == "products.once.times");
    let payload = started.next().unwrap()["payload"].clone();
    assert_eq!(payload["params"], times(2));
    // Of another process, its own.
    let other = runtime(store.clone(), products(7));
    let told_there = told(&other, filter()).await;
    assert_eq!(settings(&told_there)[0].1, times(7));
    let viewer = Runtime::with_options(store, options());
    assert_eq!(settings(&told(&viewer, filter()).await), []);
}

mod renamed {
    use super::*;

    flow! {
        pub(crate) Product(number: u64, first: u64 = first()) -> (product: u64) {
            node scaled: Times with was = "times";
            start >> scaled >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn settings_of_a_renamed_node_are_told_under_its_former_name() {
    let store = store();
    let times = |factor| Times { factor, key: "k" };
    let old = runtime(store.clone(), Product::builder().times(times(2)).build());
    settled::<Product>(&old, ProductInput::builder().number(3).build()).await;
    let new = runtime(store, renamed::Product::builder().scaled(times(5)).build());
    let all = told(&new, EventFilter::new().from_start().values()).await;
    let expected = json!({ "factor": 5, "key": "***" });
    assert_eq!(settings(&all), [("product.times", expected)]);
}

/// Settings that cannot be written.
struct Unwritable;

impl Params for Unwritable {
    fn params(&self, _: &mut ParamsWriter) {
        panic!("cannot be written")
    }
}

#[node(writes = text)]
impl Unwritable {
    fn exec(&self, low: u64) -> String {
        low.to_string()
    }
}

flow! {
    Unwritten(low: u64) -> (text: String) {
        node text: Unwritable;
        start >> text >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn settings_that_cannot_be_written_hold_up_no_events() {
    let knows = runtime(store(), Unwritten::builder().text(Unwritable).build());
    settled::<Unwritten>(&knows, UnwrittenInput { low: 1 }).await;
    let all = told(&knows, EventFilter::new().from_start().values()).await;
    assert_eq!(settings(&all), []);
    assert_eq!(
        lines(&all),
        [
            r#"unwritten.text  < low: {"summary":"1"} > "#,
            r#"unwritten.text  <  > text: {"summary":"\"1\""}"#,
        ]
    );
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [
        Product,
        Products,
        renamed::Product,
        Unwritten,
    ],
}
