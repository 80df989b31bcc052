//! The flows of the examples under the law of loaded flows: exported, loaded again and run, they
//! behave like the compiled ones.
//!
//! The examples are modules here. The file of its name in this folder lists the flows of each.

macro_rules! examples {
    ($($(#[$attribute:meta])? $name:ident $path:literal)*) => {
        $(
            $(#[$attribute])?
            #[path = $path]
            #[expect(dead_code, reason = "nobody runs the example")]
            mod $name;
        )*
    };
}

examples! {
    approval_desk "../approval_desk.rs"
    chat "../chat.rs"
    chat_guardrail "../chat_guardrail.rs"
    #[cfg(feature = "files")]
    coding_agent "../coding_agent.rs"
    crash "../crash.rs"
    data_loop "../data_loop.rs"
    debate "../debate.rs"
    evaluator_optimizer "../evaluator_optimizer.rs"
    expense_approval "../expense_approval.rs"
    heartbeat "../heartbeat.rs"
    hedged_models "../hedged_models.rs"
    invoice "../invoice.rs"
    knowledge "../knowledge.rs"
    llm_streaming "../llm_streaming.rs"
    map_reduce "../map_reduce.rs"
    #[cfg(feature = "mcp")]
    mcp_tools "../mcp_tools.rs"
    mermaid "../mermaid.rs"
    nested_batch "../nested_batch.rs"
    orchestrator_workers "../orchestrator_workers.rs"
    order_pipeline "../order_pipeline.rs"
    order_saga "../order_saga.rs"
    parallel_checks "../parallel_checks.rs"
    prompt_chaining "../prompt_chaining.rs"
    question_answer "../question_answer.rs"
    research "../research.rs"
    research_agent "../research_agent.rs"
    routing "../routing.rs"
    structured_output "../structured_output.rs"
    summarize_file "../summarize_file.rs"
    summaries "../summaries.rs"
    supervisor "../supervisor.rs"
    support_chat "../support_chat.rs"
    team "../team.rs"
    #[cfg(feature = "otel")]
    telemetry "../telemetry.rs"
    text_to_sql "../text_to_sql.rs"
    thinking "../thinking.rs"
    voting "../voting.rs"
}

// The flows of the library that the examples use.
flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [
        typed_flows::agents::agent::Agent,
        typed_flows::agents::agent::ApprovedAgent,
        typed_flows::agents::agent::ApprovedCall,
        typed_flows::agents::agent::KeepResults,
        typed_flows::agents::knowledge::Learn,
        typed_flows::agents::rag::Answer,
        typed_flows::agents::rag::AnswerByAgent,
        typed_flows::agents::rag::Index,
    ],
}

#[test]
fn loaded_flows_do_what_compiled_ones_do() {
    let held = flow_law::hold(&[]);
    println!("{held}\n{}", held.untaken.join("\n"));
    let left_out =
        37 + usize::from(cfg!(feature = "otel")) + 2 * usize::from(cfg!(feature = "files"));
    assert!(
        held.stored + held.unstored >= 7 && held.left_out == left_out,
        "{held}"
    );
    // The ends for a person who does not answer for a fortnight, and for a sixth round.
    assert!(held.untaken.len() <= 3, "{held}");
}
