//! Scripts for the nodes of a run.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{self, Drive, Step};
use crate::error::BoxError;
use crate::testing::engine::ScriptedEngine;
#[cfg(feature = "stored")]
use crate::testing::visited::WithValues;
use crate::testing::visited::{NoValues, ScriptedRun, Visited};

/// Runs flows with some of their nodes replaced by scripts of a test.
///
/// A node is scripted by its type: a script returns what the node returns. The script sees how
/// often the node was visited before. Scripted nodes have no retries, timeouts or fallbacks.
///
/// A wait between nodes returns immediately. A question is answered by the script of its type. A
/// signal that has a script comes immediately; no other signal ever comes.
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

/// The scripts, by the types of the nodes.
#[derive(Default, Clone)]
pub(super) struct Scripts {
    /// Each is a [`Script`] of the node. With a path, it applies only to the node there.
    by_node: HashMap<(TypeId, Option<String>), Arc<dyn Any + Send + Sync>>,
    /// True if nodes without a script fail the test.
    is_strict: bool,
}

/// The script of the node `N`.
pub(super) struct Script<N: Step>(Box<Run<N>>);

type Run<N> = dyn Fn(&Visited) -> Result<<N as Step>::Outcome, BoxError> + Send + Sync;

impl<N: Step> Script<N> {
    pub(super) fn run(&self, visit: &Visited) -> Result<N::Outcome, BoxError> {
        (self.0)(visit)
    }
}

/// The way to run a node.
pub(super) enum Found {
    Script(Arc<dyn Any + Send + Sync>),
    /// The node itself runs, without a script.
    Itself,
    /// The node has no script but should have one.
    Missing,
}

impl Scripts {
    pub(super) fn find<N: Step + 'static>(&self, path: &str) -> Found {
        let of = TypeId::of::<N>();
        let there = self.by_node.get(&(of, Some(path.to_owned())));
        match there.or_else(|| self.by_node.get(&(of, None))) {
            Some(script) => Found::Script(script.clone()),
            None if self.is_strict => Found::Missing,
            None => Found::Itself,
        }
    }
}

impl Scripted {
    /// Creates an empty set of scripts. Nodes without a script run.
    pub fn new() -> Self {
        Scripted {
            scripts: Arc::default(),
            values: PhantomData,
        }
    }

    /// Creates an empty set of scripts. A node without a script fails the test.
    pub fn strict() -> Self {
        let scripts = Scripts {
            is_strict: true,
            ..Scripts::default()
        };
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
        self.add::<N>(None, move |visit| Ok(script(visit)))
    }

    /// Like [`node`](Scripted::node), but only for the node with this path, such as
    /// `orders.payment.charge`. For a node that a flow contains more than once.
    pub fn node_at<N: Step + 'static>(
        self,
        path: &str,
        script: impl Fn(&Visited) -> N::Outcome + Send + Sync + 'static,
    ) -> Self {
        self.add::<N>(Some(path.to_owned()), move |visit| Ok(script(visit)))
    }

    /// Like [`node`](Scripted::node), for a node that may fail. An error stands for that of the
    /// node's last attempt: it follows the edge `"error"`, or ends the run.
    pub fn try_node<N: Step + 'static, E: Into<BoxError>>(
        self,
        script: impl Fn(&Visited) -> Result<N::Outcome, E> + Send + Sync + 'static,
    ) -> Self {
        self.add::<N>(None, move |visit| script(visit).map_err(E::into))
    }

    fn add<N: Step + 'static>(
        mut self,
        path: Option<String>,
        script: impl Fn(&Visited) -> Result<N::Outcome, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let script: Script<N> = Script(Box::new(script));
        let scripts = Arc::make_mut(&mut self.scripts);
        let key = (TypeId::of::<N>(), path);
        assert!(
            scripts.by_node.insert(key, Arc::new(script)).is_none(),
            "`{}` has a script already",
            short_name::<N>()
        );
        self
    }

    /// Runs a flow to an end.
    ///
    /// # Panics
    ///
    /// A node has no script, and the scripts are [strict](Scripted::strict).
    pub async fn run<F>(&self, flow: &F, input: F::Input) -> ScriptedRun<F::Output>
    where
        F: Drive<ScriptedEngine<V>>,
        V: Send + Sync,
    {
        let engine = ScriptedEngine::new(self.scripts.clone());
        let result = engine::run(flow, &engine, input).await;
        let (visits, missing) = engine.into_visits();
        if let Some(missing) = missing {
            panic!("{missing}");
        }
        ScriptedRun { result, visits }
    }
}

/// The name of a type without the modules around it.
pub(super) fn short_name<T>() -> &'static str {
    let name = type_name::<T>();
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[start..]
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
            .field("scripts", &self.scripts.by_node.len())
            .field("is_strict", &self.scripts.is_strict)
            .finish()
    }
}
