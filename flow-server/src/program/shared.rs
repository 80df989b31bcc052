//! One flow for two engines.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use flow_runtime::engine::QuestionType;
use flow_runtime::engine::{AnyFlow, RefusedInput, RunError, Saved, Unstorable};
use flow_runtime::flow_spec::FlowDocument;

/// A flow that runs with and without a store.
pub(super) struct Shared<F>(Arc<F>);

impl<F> Shared<F> {
    pub(super) fn new(flow: F) -> Self {
        Shared(Arc::new(flow))
    }
}

impl<F> Clone for Shared<F> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<E, F: AnyFlow<E>> AnyFlow<E> for Shared<F> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn namespace(&self) -> &str {
        self.0.namespace()
    }

    fn structure(&self) -> &str {
        self.0.structure()
    }

    fn with_settings(&self) -> Option<FlowDocument> {
        self.0.with_settings()
    }

    fn question(&self, path: &str) -> Option<QuestionType> {
        self.0.question(path)
    }

    fn check_storable(&self) -> Result<(), Unstorable> {
        self.0.check_storable()
    }

    fn stored_input(&self, input: Saved) -> Result<Saved, RefusedInput> {
        self.0.stored_input(input)
    }

    fn inputs(&self) -> Vec<&str> {
        self.0.inputs()
    }

    fn run<'a>(
        &'a self,
        engine: &'a E,
        input: Saved,
    ) -> Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>> {
        self.0.run(engine, input)
    }
}
