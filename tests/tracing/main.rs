//! With the feature `tracing`, each node of an observed run is inside a span that carries its path.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use flow_runtime::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::subscriber::DefaultGuard;
use tracing::{Subscriber, info};
use tracing_subscriber::layer::{Context as LayerContext, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

/// Records each log line behind the spans it is in.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Records those of the current thread, until the guard is dropped.
    fn recorded() -> (Self, DefaultGuard) {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::registry().with(lines.clone());
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl<S> Layer<S> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: LayerContext<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        cx.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_event(&self, event: &tracing::Event<'_>, cx: LayerContext<'_, S>) {
        let mut line = String::new();
        for span in cx
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            let extensions = span.extensions();
            let fields = extensions.get::<Fields>().unwrap();
            assert!(!fields.run.is_empty(), "a span without the run's id");
            let place = format!("{} {}", fields.path, fields.execution);
            write!(line, "{}[{}] ", span.name(), place.trim_end()).unwrap();
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().push(line + &fields.message);
    }
}

#[derive(Default)]
struct Fields {
    path: String,
    run: String,
    execution: String,
    message: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = match field.name() {
            "path" => &mut self.path,
            "run" => &mut self.run,
            "execution" => &mut self.execution,
            "message" => &mut self.message,
            _ => return,
        };
        *text = format!("{value:?}");
    }
}

#[node]
async fn charge(order: &u32) -> String {
    info!("before");
    tokio::task::yield_now().await;
    info!("after {order}");
    format!("charged {order}")
}

struct Ship;

#[node(writes = shipped, retry(attempts = 2))]
impl Ship {
    fn prep(&self, charge: &str) -> String {
        info!("prep");
        charge.to_owned()
    }

    async fn exec(&self, cx: &Context, charge: &str) -> Result<String, String> {
        info!("exec {}", cx.attempt());
        if cx.attempt() == 0 {
            Err("no truck".into())
        } else {
            Ok(charge.to_owned())
        }
    }

    fn post(&self, exec_res: String) -> String {
        info!("post");
        exec_res
    }
}

flow! {
    Payment(order: u32) -> (charge: String) {
        start >> charge >> end;
    }
}

flow! {
    Orders(order: u32) -> (shipped: String) {
        node payment: Payment = Payment::new();
        node ship: Ship = Ship;
        start >> payment >> ship >> end;
    }
}

#[tokio::test]
async fn a_log_line_of_a_node_is_inside_its_span() {
    let (lines, _guard) = Lines::recorded();
    info!("outside");
    let input = OrdersInput::builder().order(7).build();
    Orders::new()
        .run_with(input, RunOptions::new())
        .await
        .unwrap();
    info!("outside again");
    assert_eq!(
        lines.all(),
        [
            "outside",
            "node[orders.payment.charge] before",
            "node[orders.payment.charge] after 7",
            "node[orders.ship] prep",
            "node[orders.ship] exec 0",
            "node[orders.ship] exec 1",
            "node[orders.ship] post",
            "outside again",
        ]
    );
}

/// Two runs that take turns do not enter each other's spans.
#[tokio::test]
async fn a_span_is_left_while_its_node_waits() {
    let (lines, _guard) = Lines::recorded();
    let flow = Payment::new();
    let run = |order: u32| {
        let input = PaymentInput::builder().order(order).build();
        flow.run_with(input, RunOptions::new())
    };
    let outside = async { info!("outside") };
    let (first, second, ()) = tokio::join!(biased; run(1), run(2), outside);
    assert_eq!(
        (first.unwrap().charge, second.unwrap().charge),
        ("charged 1".into(), "charged 2".into())
    );
    assert_eq!(
        lines.all(),
        [
            "node[payment.charge] before",
            "node[payment.charge] before",
            "outside",
            "node[payment.charge] after 1",
            "node[payment.charge] after 2",
        ]
    );
}

/// `run()` costs nothing, spans included.
#[tokio::test]
async fn a_run_without_options_has_no_spans() {
    let (lines, _guard) = Lines::recorded();
    let input = PaymentInput::builder().order(1).build();
    Payment::new().run(input).await.unwrap();
    assert_eq!(lines.all(), ["before", "after 1"]);
}

/// A node of a durable run is inside a span that carries the id of its execution.
#[tokio::test]
async fn a_log_line_of_an_execution_carries_its_id() {
    use flow_durable::{MemoryStore, Runtime, StartOptions};

    let (lines, _guard) = Lines::recorded();
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Payment::new()).unwrap();
    let input = PaymentInput::builder().order(7).build();
    let started = runtime
        .executions()
        .start::<Payment>(input, StartOptions::new())
        .await;
    let execution = started.unwrap().settled().await.unwrap();
    let span = format!("node[payment.charge \"{}\"]", execution.id());
    assert_eq!(
        lines.all(),
        [format!("{span} before"), format!("{span} after 7")]
    );
}
