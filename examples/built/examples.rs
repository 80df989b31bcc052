//! The examples as modules, so that their flows are in each program with this module.

macro_rules! examples {
    ($($name:ident $path:literal)*) => {
        $(
            #[path = $path]
            #[expect(dead_code, reason = "nobody runs the example")]
            mod $name;
        )*
        /// Their names.
        pub(crate) const EXAMPLES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    data_loop "../data_loop.rs"
    evaluator_optimizer "../evaluator_optimizer.rs"
    expense_approval "../expense_approval.rs"
    map_reduce "../map_reduce.rs"
    nested_batch "../nested_batch.rs"
    orchestrator_workers "../orchestrator_workers.rs"
    order_pipeline "../order_pipeline.rs"
    parallel_checks "../parallel_checks.rs"
    prompt_chaining "../prompt_chaining.rs"
    question_answer "../question_answer.rs"
    research_agent "../research_agent.rs"
    routing "../routing.rs"
    summarize_file "../summarize_file.rs"
    voting "../voting.rs"
}
