//! Progress at a terminal: running nodes move at the bottom; finished ones stand above.
//!
//! People are asked at the same terminal. While a question is there, nothing else is drawn, and
//! other output is printed afterwards.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flow_runtime::engine::{NodePath, Path};
use flow_runtime::{Answer, BoxError, Event, EventKind, Observer, Question, RunId};
use flow_spec::visible;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use super::running::Running;
use crate::terminal::ask_at_the_terminal;

/// The interval of the animation that shows that something still runs.
const TICK: Duration = Duration::from_millis(120);

/// The number of characters shown of a node's output: the last ones.
const EMITTED: usize = 60;

/// The template of a node without known progress.
const SPINNER: &str = "{spinner} {prefix} {elapsed} {wide_msg}";
/// The template of a node with a count.
const COUNTER: &str = "{spinner} {prefix} {elapsed} {pos} {wide_msg}";
/// The template of a node with a count and a total.
const BAR: &str = "{spinner} {prefix} {elapsed} [{bar:24}] {pos} of {len} {wide_msg}";

/// Shows a run at a terminal, and allows questions there.
#[derive(Clone)]
pub(super) struct Bars(Arc<Shown>);

struct Shown {
    all: MultiProgress,
    /// The place to draw at.
    target: Box<dyn Fn() -> ProgressDrawTarget + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The nodes that run, outside of loops.
    running: Running<ProgressBar>,
    /// The number of questions at the terminal.
    questions: usize,
    /// The lines to print after the last question.
    held: Vec<String>,
}

impl Bars {
    /// Creates bars that draw to `target`.
    pub(super) fn new(target: impl Fn() -> ProgressDrawTarget + Send + Sync + 'static) -> Self {
        Bars(Arc::new(Shown {
            all: MultiProgress::with_draw_target(target()),
            target: Box::new(target),
            state: Mutex::default(),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line above the running nodes. Ignores errors of the terminal.
    fn print(&self, state: &mut State, line: String) {
        if state.questions > 0 {
            state.held.push(line);
        } else {
            let _ = self.0.all.println(line);
        }
    }

    fn begin(&self, path: Path<'_>) {
        let mut state = self.state();
        let bar = self.0.all.add(ProgressBar::new_spinner());
        bar.set_style(style(SPINNER));
        bar.set_prefix(visible(&path.to_string()).into_owned());
        bar.enable_steady_tick(TICK);
        state.running.begin(path, bar);
    }

    /// Removes a node that has ended, and everything in it.
    fn end(&self, state: &mut State, event: &Event<'_>) {
        for node in state.running.end(event) {
            node.value.finish_and_clear();
            self.0.all.remove(&node.value);
        }
    }

    /// What happens to an item of the loop at the path `of`, or inside the item.
    fn in_loop(&self, event: &Event<'_>, of: &str, path: NodePath<'_>) {
        let around = path.parent().and_then(NodePath::outermost_loop);
        let is_item = path.item().is_some() && around.is_none();
        match event.kind() {
            EventKind::NodeFinished { .. } if is_item => self.change(of, |bar| bar.inc(1)),
            EventKind::AttemptFailed { .. } => self.print(&mut self.state(), line(event)),
            EventKind::NodeFailed { .. } | EventKind::FlowFailed { .. } => {
                self.print(&mut self.state(), line(event));
                // The loop can continue.
                if is_item {
                    self.change(of, |bar| bar.inc(1));
                }
            }
            _ => {}
        }
    }

    fn change(&self, path: &str, change: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = self.state().running.get(path) {
            change(bar);
        }
    }

    /// Removes everything that remains of a run that has ended or was interrupted.
    pub(super) fn clear(&self) {
        let mut state = self.state();
        for bar in mem::take(&mut state.running).values() {
            bar.finish_and_clear();
        }
    }

    /// Draws nothing until the result is dropped.
    fn hidden(&self) -> Hidden {
        let mut state = self.state();
        state.questions += 1;
        if state.questions == 1 {
            let _ = self.0.all.clear();
            self.0.all.set_draw_target(ProgressDrawTarget::hidden());
        }
        Hidden(self.clone())
    }
}

/// A guard: nothing is drawn while it exists.
struct Hidden(Bars);

impl Drop for Hidden {
    fn drop(&mut self) {
        let bars = &self.0;
        let mut state = bars.state();
        state.questions -= 1;
        if state.questions == 0 {
            bars.0.all.set_draw_target((bars.0.target)());
            for line in mem::take(&mut state.held) {
                bars.print(&mut state, line);
            }
        }
    }
}

#[async_trait]
impl Answer for Bars {
    async fn answer(&self, question: &Question) -> Result<Value, BoxError> {
        let bars = self.clone();
        ask_at_the_terminal(question, move || bars.hidden()).await
    }
}

impl Observer for Bars {
    fn on_event(&self, event: &Event<'_>) {
        let path = event.path().to_string();
        // An item, or something inside it: they are counted at their loop.
        let node = NodePath::new(&path);
        if let Some(of) = node.outermost_loop() {
            return self.in_loop(event, of.as_str(), node);
        }
        match event.kind() {
            EventKind::NodeStarted => self.begin(event.path()),
            EventKind::Delta(text) | EventKind::DeltaJson(text) => self.change(&path, |bar| {
                let emitted = bar.message() + &visible(text);
                let surplus = emitted.chars().count().saturating_sub(EMITTED);
                bar.set_message(emitted.chars().skip(surplus).collect::<String>());
            }),
            EventKind::Progress { done, of } => self.change(&path, |bar| {
                match of {
                    Some(of) => bar.set_length(of),
                    None => bar.unset_length(),
                }
                bar.set_style(style(if of.is_some() { BAR } else { COUNTER }));
                bar.set_position(done);
            }),
            EventKind::AttemptFailed { .. } => self.print(&mut self.state(), line(event)),
            _ => {
                let mut state = self.state();
                self.end(&mut state, event);
                self.print(&mut state, line(event));
            }
        }
    }

    fn on_loop(&self, _run: RunId, path: Path<'_>, items: usize) {
        self.change(&path.to_string(), |bar| {
            bar.set_length(u64::try_from(items).unwrap_or(u64::MAX));
            bar.set_style(style(BAR));
            bar.set_position(0);
        });
    }
}

/// Formats an event as a line.
pub(super) fn line(event: &Event<'_>) -> String {
    visible(&event.to_string()).into_owned()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|error| unreachable!("`{template}` is a template: {error}"))
}

#[cfg(test)]
mod tests {
    use flow_runtime::RunOptions;
    use flow_runtime::prelude::*;
    use indicatif::{InMemoryTerm, TermLike};
    use tokio::sync::Semaphore;

    use super::*;

    /// Reports its progress, and waits for a permit.
    struct Counting(Arc<Semaphore>);

    #[node(writes = counted)]
    impl Counting {
        async fn exec(&self, cx: &Context, numbers: &[u64]) -> Result<usize, String> {
            cx.emit("a\x1b[2Jb");
            cx.progress(2, Some(5));
            let permit = self.0.acquire().await.map_err(|error| error.to_string())?;
            permit.forget();
            Ok(numbers.len())
        }
    }

    /// Waits at the third item.
    struct Doubling(Arc<Semaphore>);

    #[node(writes = double)]
    impl Doubling {
        async fn exec(&self, number: u64) -> Result<u64, String> {
            if number == 3 {
                let permit = self.0.acquire().await.map_err(|error| error.to_string())?;
                permit.forget();
            }
            Ok(number * 2)
        }
    }

    flow! {
        Numbers(numbers: Vec<u64>) -> (doubles: Vec<u64>) {
            node counting: Counting;
            node doubling: Doubling;
            node doubles: for number in numbers { doubling };
            start >> counting >> doubles >> end;
        }
    }

    /// Runs until it is dropped.
    #[node]
    async fn endless() {
        std::future::pending::<()>().await;
    }

    flow! {
        Hurried(numbers: Vec<u64>) -> (counted: usize) {
            node counting: Counting;
            node counting_on: Counting;
            node outcome: first { endless => "never", counting => "counted" };
            start >> outcome;
            outcome - "counted" >> counting_on >> end;
            outcome - "never"   >> counting_on;
        }
    }

    #[node(writes = receipt)]
    fn charge(numbers: &[u64]) -> usize {
        numbers.len()
    }

    /// Waits for a permit.
    struct Refund(Arc<Semaphore>);

    #[node]
    impl Refund {
        async fn exec(&self, receipt: usize) -> Result<(), String> {
            let permit = self.0.acquire().await;
            drop(permit.map_err(|error| format!("{receipt}: {error}"))?);
            Ok(())
        }
    }

    #[node]
    fn ship() -> Result<(), String> {
        Err("no parcel".to_owned())
    }

    flow! {
        Shipment(numbers: Vec<u64>) {
            node refund: Refund;
            node charge: charge with undo = refund;
            start >> charge >> ship >> end;
        }
    }

    fn bars() -> (InMemoryTerm, Bars) {
        let terminal = InMemoryTerm::new(12, 80);
        let target = {
            let terminal = terminal.clone();
            move || ProgressDrawTarget::term_like(Box::new(terminal.clone()))
        };
        (terminal, Bars::new(target))
    }

    /// Returns the text at the terminal, drawn now, without signs and times.
    fn seen(terminal: &InMemoryTerm, bars: &Bars) -> Vec<String> {
        for bar in bars.state().running.values() {
            bar.force_draw();
        }
        let shown = terminal.contents();
        let kept = |line: &str| {
            line.replace(|sign: char| !sign.is_ascii(), "")
                .trim()
                .to_owned()
        };
        shown.lines().map(kept).collect()
    }

    /// Waits until this text is at the terminal, and returns the lines there.
    async fn until(terminal: &InMemoryTerm, bars: &Bars, text: &str) -> Vec<String> {
        let drawn = async {
            while !seen(terminal, bars).concat().contains(text) {
                tokio::task::yield_now().await;
            }
        };
        let drawn = tokio::time::timeout(Duration::from_secs(10), drawn).await;
        let lines = seen(terminal, bars);
        assert!(drawn.is_ok(), "no `{text}` in {lines:#?}");
        lines
    }

    #[tokio::test]
    async fn what_a_race_drops_runs_no_longer() {
        let (terminal, bars) = bars();
        let (first, second) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let flow = Hurried::builder()
            .counting(Counting(first.clone()))
            .counting_on(Counting(second.clone()))
            .build();
        let options = RunOptions::new().observer(Arc::new(bars.clone()));
        let input = HurriedInput { numbers: vec![1] };
        let run = tokio::spawn(async move { flow.run_with(input, options).await });
        let lines = until(&terminal, &bars, "2 of 5").await;
        let running: Vec<_> = lines
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(
            running,
            ["hurried.outcome", "hurried.endless", "hurried.counting"]
        );
        first.add_permits(1);
        let lines = until(&terminal, &bars, "hurried.counting_on").await;
        let done = [
            "hurried.counting finished: default",
            "hurried.outcome finished: counted",
        ];
        assert_eq!(lines[..2], done.map(str::to_owned));
        assert!(lines[2].starts_with("hurried.counting_on"), "{lines:#?}");
        assert_eq!(lines.len(), 3, "{lines:#?}");
        second.add_permits(1);
        run.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_is_undone_is_seen() {
        let (terminal, bars) = bars();
        let permits = Arc::new(Semaphore::new(0));
        let flow = Shipment::builder().refund(Refund(permits.clone())).build();
        let options = RunOptions::new().observer(Arc::new(bars.clone()));
        let input = ShipmentInput { numbers: vec![1] };
        let run = tokio::spawn(async move { flow.run_with(input, options).await });
        let lines = until(&terminal, &bars, "shipment.charge!undo").await;
        let last = lines.last().unwrap();
        assert!(last.starts_with("shipment.charge!undo"), "{lines:#?}");
        assert!(!last.contains("finished"), "{lines:#?}");
        permits.add_permits(1);
        run.await.unwrap().unwrap_err();
        let lines = seen(&terminal, &bars);
        let done = "shipment.charge!undo finished: default".to_owned();
        assert!(lines.contains(&done), "{lines:#?}");
    }

    #[tokio::test]
    async fn what_runs_is_below_what_is_done() {
        let (terminal, bars) = bars();
        let (first, second) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let flow = Numbers::builder()
            .counting(Counting(first.clone()))
            .doubling(Doubling(second.clone()))
            .build();
        let options = RunOptions::new().observer(Arc::new(bars.clone()));
        let input = NumbersInput {
            numbers: vec![1, 2, 3, 4],
        };
        let run = tokio::spawn(async move { flow.run_with(input, options).await });
        let until = async |text: &str| until(&terminal, &bars, text).await;
        let lines = until("2 of 5").await;
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].starts_with("numbers.counting"), "{lines:#?}");
        assert!(lines[0].ends_with(r"2 of 5 a\u{1b}[2Jb"), "{lines:#?}");
        first.add_permits(1);
        let lines = until("2 of 4").await;
        assert_eq!(lines[0], "numbers.counting finished: default");
        assert!(lines[1].starts_with("numbers.doubles"), "{lines:#?}");
        assert_eq!(lines.len(), 2, "{lines:#?}");

        // During a question nothing else is at the terminal, and nothing is lost.
        let hidden = bars.hidden();
        terminal.write_line("May I?").unwrap();
        second.add_permits(1);
        run.await.unwrap().unwrap();
        let asked = terminal.contents();
        assert!(asked.ends_with("May I?"), "{asked}");
        assert!(!asked.contains("numbers.doubles"), "{asked}");
        drop(hidden);
        let lines = seen(&terminal, &bars);
        let rest = [
            "numbers.doubles finished: default",
            "numbers ended: default",
        ];
        assert!(lines.ends_with(&rest.map(str::to_owned)), "{lines:#?}");
        assert!(bars.state().running.values().next().is_none());
    }
}
