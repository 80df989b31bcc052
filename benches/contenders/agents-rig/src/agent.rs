use agents_service::forecast;
use rig::operation::Completion;
use rig::tool::ToolExecutionError;
use rig::{Agent, AgentBuilder, DynModel, rig_tool};

/// Says what the weather is.
#[rig_tool]
fn weather(
    /// The name of a town.
    town: String,
) -> Result<String, ToolExecutionError> {
    forecast(&town).map_err(ToolExecutionError::other)
}

pub fn agent(model: impl Into<DynModel<Completion>>, turns: usize) -> Agent {
    AgentBuilder::new(model)
        .tool(Weather)
        .default_max_turns(turns)
        .build()
}

pub async fn ask(agent: &Agent, question: &str) -> Result<String, rig::completion::PromptError> {
    let response = agent.prompt(question).await?;
    Ok(response.output().to_owned())
}
