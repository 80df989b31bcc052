//! The form of the results of loops over items.

use std::collections::HashMap;

use flow_spec::{Code, FlowDocument, NodeDocument};

use crate::level::{Level, Results};

use super::Loader;
use super::uses::{Uses, body};

impl Loader<'_> {
    /// The form of the results of a node, if it is a loop over items. `inner` contains the flows in
    /// the flow, by the positions of their nodes.
    pub(super) fn results(
        &self,
        uses: &Uses<'_>,
        pointer: &str,
        node: &NodeDocument,
        inner: &HashMap<usize, Level>,
    ) -> Results {
        let Some(body) = body(node).and_then(|body| uses.position(body)) else {
            return Results::Nothing;
        };
        let keeps_errors = node.settings.collect_errors;
        if let Some(level) = inner.get(&body) {
            return of_flow(level, keeps_errors);
        }
        let Some(adapter) = self.adapters.get(&format!("{pointer}/nodes/{body}")) else {
            unreachable!("what a loop runs is a flow or a registered node")
        };
        match adapter.outcome.list {
            _ if adapter.returns_nothing && !keeps_errors => Results::Nothing,
            Some(list) => Results::List(list),
            None => unreachable!("the program has lists of what its nodes return"),
        }
    }

    /// Reports mistakes that keep a loop from having results. `None` if there are any.
    pub(super) fn check_results(
        &mut self,
        (flow, uses): (&FlowDocument, &Uses<'_>),
        place: &str,
        node: &NodeDocument,
        inner: &HashMap<usize, Level>,
        results: Results,
    ) -> Option<()> {
        let index = uses.position(body(node)?)?;
        let body = &flow.nodes[index].r#type;
        let (message, help) = match results {
            Results::List(_) => return Some(()),
            Results::Nothing => (
                format!("`{}` has no results: `{body}` returns nothing", node.id),
                "remove `outputs`".to_owned(),
            ),
            Results::Json { .. } => {
                let level = inner.get(&index)?;
                let mut outputs = level.outputs.iter();
                let not_json = outputs.find_map(|output| {
                    let ty = output.returned_type()?;
                    (!ty.is_json()).then(|| (&output.name, ty.short_name()))
                });
                let Some((output, ty)) = not_json else {
                    return Some(());
                };
                (
                    format!(
                        "`{}` cannot keep its results as JSON: `{output}` of `{body}` is a `{ty}`, \
                         which is not `Serialize` and `Deserialize`",
                        node.id
                    ),
                    format!("derive both for `{ty}`"),
                )
            }
        };
        self.problem(Code::Document, place.to_owned(), message, Some(help));
        None
    }
}

/// The form of the results of a flow.
fn of_flow(level: &Level, keeps_errors: bool) -> Results {
    match &level.outputs[..] {
        [] if level.has_one_end() && !keeps_errors => Results::Nothing,
        [only] if level.has_one_end() => {
            // For the type in an `Option`, the program does not know the `Option`.
            let ty = only.ty;
            let ty = ty.filter(|_| !only.optional && !level.is_untyped(only.key));
            match ty.and_then(|ty| ty.list) {
                Some(list) => Results::List(list),
                None => Results::Json { whole: false },
            }
        }
        outputs => Results::Json {
            whole: !outputs.is_empty() || !level.has_one_end(),
        },
    }
}
