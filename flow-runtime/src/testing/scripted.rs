//! Scripts for the nodes of a run.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{self, Drive, Failure, Step};
use crate::testing::engine::{ScriptedEngine, Seen};
use crate::testing::scripts::{Does, Of, Script, Scripts, short_name};
#[cfg(feature = "stored")]
use crate::testing::visited::WithValues;
use crate::testing::visited::{NoValues, ScriptedRun, Visited};
use crate::visit::IntoFailure;

#[cfg(doc)]
use crate::testing::Never;

/// Runs flows with some of their nodes replaced by scripts of a test.
///
/// A node is scripted by its type: a script returns what the node returns. The script sees how
/// often the node was visited before. Scripted nodes have no retries, timeouts or fallbacks.
///
/// A wait between nodes returns immediately. A question is answered by the script of its type. A
/// signal that has a script comes immediately; no other signal ever comes. A script returns [`Never`]
/// for who is too late. [`first`](Scripted::first) says which branch of a race is the first one. Undo
/// nodes are scripted like all others.
///
/// Each script has to be used: a run that does not visit its node fails the test, unless the script
/// [may be unused](Scripted::may_be_unused). If a node is scripted twice, the last script counts.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::testing::Scripted;
///
/// #[derive(Action)]
/// enum Verdict { Good, Bad }
///
/// #[node]
/// async fn draft(topic: &str) -> Result<String, String> {
///     Err(format!("no model is there to write about {topic}"))
/// }
///
/// #[node(actions = Verdict)]
/// async fn review(draft: &str) -> Verdict {
///     if draft.is_empty() { Verdict::Bad } else { Verdict::Good }
/// }
///
/// flow! {
///     Article(topic: String) -> (draft: String) {
///         start >> draft >> review;
///         review - "good" >> end;
///         review - "bad" >> draft;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let scripted = Scripted::new()
///     .node::<draft>(|_| "All about rail".to_owned())
///     .node::<review>(|visit| if visit.number() < 2 { Verdict::Bad } else { Verdict::Good });
/// let run = scripted.run(&Article::new(), ArticleInput { topic: "rail".into() }).await;
/// assert_eq!(run.nodes(), ["draft", "review", "draft", "review"]);
/// assert_eq!(run.result().unwrap().draft, "All about rail");
/// # }
/// ```
#[must_use]
pub struct Scripted<V = NoValues> {
    pub(super) scripts: Arc<Scripts>,
    values: PhantomData<V>,
}

impl Scripted {
    /// Creates an empty set of scripts. Nodes without a script run.
    pub fn new() -> Self {
        Scripted {
            scripts: Arc::default(),
            values: PhantomData,
        }
    }

    /// Creates an empty set of scripts. A node without a script fails the test, unless it is
    /// [`real`](Scripted::real).
    pub fn strict() -> Self {
        let mut scripts = Scripts::default();
        scripts.is_strict = true;
        Scripted {
            scripts: Arc::new(scripts),
            values: PhantomData,
        }
    }

    /// Keeps the values of the flow at each visit, for [`Visited::value`]. They have to be
    /// `Serialize` and `Deserialize`.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_runtime::testing::Scripted;
    ///
    /// #[node(writes = total)]
    /// async fn fetch_total(order: &u32) -> u64 {
    ///     unreachable!("a scripted run asks no server for order {order}")
    /// }
    ///
    /// #[node(writes = receipt)]
    /// async fn charge(total: &u64) -> String {
    ///     unreachable!("a scripted run does not charge {total}")
    /// }
    ///
    /// flow! {
    ///     Payment(order: u32) -> (receipt: String) {
    ///         start >> fetch_total >> charge >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let scripted = Scripted::new()
    ///     .node::<fetch_total>(|_| 30)
    ///     .node::<charge>(|_| "paid".to_owned())
    ///     .with_values();
    /// let run = scripted.run(&Payment::new(), PaymentInput { order: 7 }).await;
    /// let charge = run.visits_to("payment.charge").next().unwrap();
    /// assert_eq!(charge.value::<u64>("total"), Some(30));
    /// assert_eq!(charge.value::<String>("receipt"), None);
    /// # }
    /// ```
    #[cfg(feature = "stored")]
    pub fn with_values(self) -> Scripted<WithValues> {
        Scripted {
            scripts: self.scripts,
            values: PhantomData,
        }
    }
}

impl Default for Scripted {
    fn default() -> Self {
        Scripted::new()
    }
}

impl<V> Scripted<V> {
    /// Scripts the node, wherever it is in the flow. The script returns the outcome of each visit:
    /// for a function that returns a `Result`, the value inside; for a node with actions, the enum,
    /// or the tuple that ends with it; for a human node, the answer; for a signal, the signal.
    pub fn node<N: Step + 'static>(
        self,
        script: impl Fn(&Visited) -> N::Outcome + Send + Sync + 'static,
    ) -> Self {
        let written = format!(".node::<{}>(…)", short_name::<N>());
        self.script::<N>(None, written, move |visit| Ok(script(visit)))
    }

    /// Like [`node`](Scripted::node), but only for the node with this path, such as
    /// `orders.payment.charge`. For a node that a flow contains more than once. The path of an item of
    /// a loop ends with its index, as in `report.summaries[3]`; without the index, it is that of all
    /// items. That of an undo node ends with `!undo`, as in `orders.charge!undo`.
    pub fn node_at<N: Step + 'static>(
        self,
        path: &str,
        script: impl Fn(&Visited) -> N::Outcome + Send + Sync + 'static,
    ) -> Self {
        let written = format!(".node_at::<{}>({path:?}, …)", short_name::<N>());
        self.script::<N>(Some(path), written, move |visit| Ok(script(visit)))
    }

    /// Like [`node`](Scripted::node), for a node that may fail. An error stands for that of the
    /// node's last attempt: it follows the edge `"error"`, or ends the run. A
    /// [`TimedOut`](crate::TimedOut) is a timeout of the node, and [`Never`] a visit that is never done.
    pub fn try_node<N: Step + 'static, E: IntoFailure>(
        self,
        script: impl Fn(&Visited) -> Result<N::Outcome, E> + Send + Sync + 'static,
    ) -> Self {
        let written = format!(".try_node::<{}, _>(…)", short_name::<N>());
        self.script::<N>(None, written, move |visit| {
            script(visit).map_err(E::into_failure)
        })
    }

    /// Like [`try_node`](Scripted::try_node), but only for the node with this
    /// [path](Scripted::node_at).
    pub fn try_node_at<N: Step + 'static, E: IntoFailure>(
        self,
        path: &str,
        script: impl Fn(&Visited) -> Result<N::Outcome, E> + Send + Sync + 'static,
    ) -> Self {
        let written = format!(".try_node_at::<{}, _>({path:?}, …)", short_name::<N>());
        self.script::<N>(Some(path), written, move |visit| {
            script(visit).map_err(E::into_failure)
        })
    }

    /// Runs the node itself, also if the scripts are [strict](Scripted::strict) or the node was
    /// scripted before.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_runtime::testing::Scripted;
    ///
    /// #[node(writes = total)]
    /// async fn fetch_total(order: &u32) -> u64 {
    ///     unreachable!("a scripted run asks no server for order {order}")
    /// }
    ///
    /// #[node(writes = reduced)]
    /// fn reduce(total: &u64) -> u64 {
    ///     total - total / 10
    /// }
    ///
    /// flow! {
    ///     Price(order: u32) -> (reduced: u64) {
    ///         start >> fetch_total >> reduce >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let scripted = Scripted::strict().node::<fetch_total>(|_| 30).real::<reduce>();
    /// let run = scripted.run(&Price::new(), PriceInput { order: 7 }).await;
    /// assert_eq!(run.result().unwrap().reduced, 27);
    /// # }
    /// ```
    pub fn real<N: Step + 'static>(self) -> Self {
        let written = format!(".real::<{}>()", short_name::<N>());
        self.add(Of::Node(TypeId::of::<N>()), Does::Itself, written)
    }

    /// Says which branch is the first one at each visit to the race with this path, such as
    /// `orders.outcome`. The script returns the action of the branch, or the name of one of its
    /// steps. Only this branch runs, so that no time decides.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_runtime::testing::Scripted;
    ///
    /// #[node(writes = answer)]
    /// async fn fast_model(question: &str) -> String {
    ///     format!("{question} Yes.")
    /// }
    ///
    /// flow! {
    ///     Ask(question: String) -> (answer: Option<String>) {
    ///         node asked: first { fast_model, wait(10s) => "late" };
    ///
    ///         start >> asked >> end;
    ///         asked - "late" >> end("late");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let input = || AskInput { question: "Is it late?".into() };
    /// let run = Scripted::new().first("ask.asked", |_| "late").run(&Ask::new(), input()).await;
    /// assert_eq!(run.result().unwrap().end, AskEnd::Late);
    ///
    /// let run = Scripted::new().first("ask.asked", |_| "fast_model").run(&Ask::new(), input()).await;
    /// assert_eq!(run.nodes(), ["asked", "fast_model"]);
    /// # }
    /// ```
    pub fn first(
        self,
        path: &str,
        script: impl Fn(&Visited) -> &'static str + Send + Sync + 'static,
    ) -> Self {
        let does = Does::First(Arc::new(script));
        let written = format!(".first({path:?}, …)");
        self.add(Of::Race(path.to_owned()), does, written)
    }

    /// Lets runs leave the scripts so far unused, such as scripts that several tests share.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_runtime::testing::Scripted;
    ///
    /// #[node(writes = total)]
    /// async fn fetch_total(order: &u32) -> Result<u64, String> {
    ///     Err(format!("no server is there to ask for order {order}"))
    /// }
    ///
    /// #[node]
    /// async fn charge(total: &u64) -> Result<(), String> {
    ///     Err(format!("no bank is there to charge {total}"))
    /// }
    ///
    /// flow! {
    ///     Payment(order: u32) -> () {
    ///         start >> fetch_total >> charge >> end;
    ///         fetch_total - "error" >> end("unknown");
    ///     }
    /// }
    ///
    /// /// An order that is paid.
    /// fn paid() -> Scripted {
    ///     Scripted::strict().node::<fetch_total>(|_| 30).node::<charge>(|_| ()).may_be_unused()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// // This script replaces the earlier one. That of `charge` is not used here.
    /// let scripted = paid().try_node::<fetch_total, _>(|_| Err("no such order"));
    /// let run = scripted.run(&Payment::new(), PaymentInput { order: 7 }).await;
    /// assert_eq!(run.result().unwrap().end, PaymentEnd::Unknown);
    /// # }
    /// ```
    pub fn may_be_unused(mut self) -> Self {
        Arc::make_mut(&mut self.scripts).may_be_unused();
        self
    }

    fn script<N: Step + 'static>(
        self,
        path: Option<&str>,
        written: String,
        script: impl Fn(&Visited) -> Result<N::Outcome, Failure> + Send + Sync + 'static,
    ) -> Self {
        let script: Script<N> = Script(Box::new(script));
        let node = TypeId::of::<N>();
        let of = match path {
            None => Of::Node(node),
            Some(path) => Of::NodeAt(node, path.to_owned()),
        };
        self.add(of, Does::Script(Arc::new(script)), written)
    }

    fn add(mut self, of: Of, does: Does, written: String) -> Self {
        Arc::make_mut(&mut self.scripts).add(of, does, written);
        self
    }

    /// Runs a flow to an end.
    ///
    /// # Panics
    ///
    /// - A node has no script, and the scripts are [strict](Scripted::strict); or nobody answers a
    ///   question.
    /// - A script was not used, and does not say that it [may be](Scripted::may_be_unused).
    /// - A visit is [`Never`] done, and nothing else ends it.
    /// - A race has no such branch as its script says, or several.
    pub async fn run<F>(&self, flow: &F, input: F::Input) -> ScriptedRun<F::Output>
    where
        F: Drive<ScriptedEngine<V>>,
        V: Send + Sync,
    {
        let engine = ScriptedEngine::new(self.scripts.clone());
        let result = engine::run(flow, &engine, input).await;
        let Seen {
            visits,
            mistake,
            used,
            ..
        } = engine.into_seen();
        if let Some(mistake) = mistake {
            panic!("{mistake}");
        }
        let run = ScriptedRun { result, visits };
        let unused = self.scripts.unused(&used);
        assert!(unused.is_empty(), "{}", unused_text::<F, _>(&unused, &run));
        run
    }
}

/// The message for scripts that were not used.
fn unused_text<F: Drive<E>, E>(unused: &[&str], run: &ScriptedRun<F::Output>) -> String {
    let (nodes, scripts) = (run.nodes().join(", "), unused.join(", "));
    let failed = match &run.result {
        Ok(_) => String::new(),
        Err(error) => format!(", and failed: {error:#}"),
    };
    format!(
        "a run of `{}` did not use {scripts}: it visited {nodes}{failed}\n\
         help: leave out what this run does not visit; or add `.may_be_unused()` behind scripts that several tests share",
        F::NAME
    )
}

impl<V> Clone for Scripted<V> {
    fn clone(&self) -> Self {
        Scripted {
            scripts: self.scripts.clone(),
            values: PhantomData,
        }
    }
}

impl<V> fmt::Debug for Scripted<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted")
            .field("scripts", &self.scripts.len())
            .field("is_strict", &self.scripts.is_strict)
            .finish()
    }
}
