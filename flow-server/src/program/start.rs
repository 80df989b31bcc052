//! The command `start`.

use std::path::Path;
use std::sync::Arc;

use flow_durable::{Durable, Runtime, StartOptions, Status};
use flow_loader::load_file;
use flow_runtime::engine::AnyFlow;
use flow_spec::{did_you_mean, visible};
use flow_terminal::Outcome;
use serde_json::{Value, json};

use super::{Program, arguments};
use crate::awaited::{Ended, settled, takes_signals};

impl Program {
    pub(super) async fn start(
        &self,
        arguments: &arguments::Start,
        runtime: Runtime,
    ) -> Result<Outcome, String> {
        let flow = self.find(&arguments.flow, &runtime)?;
        let input = Value::Object(arguments.input.read(&*flow)?);
        let options = options(arguments);
        let executions = match &arguments.owner {
            Some(owner) => runtime.owned_by(owner.as_str()),
            None => runtime.executions().clone(),
        };
        let started = executions.start_json(flow.name(), input, options).await;
        let execution = started.map_err(|error| error.to_string())?;
        eprintln!("{}", execution.id());
        if arguments.detach {
            runtime.shut_down().await;
            return Ok(Outcome::Fine);
        }
        let settled = tokio::select! {
            settled = settled(&executions, &execution, takes_signals(&*flow)) => settled,
            () = super::work::interrupted() => execution.refreshed().await.map(Ended::settled),
        };
        runtime.shut_down().await;
        told(&settled.map_err(|error| error.to_string())?).await
    }

    /// Returns the flow of this name, or registers the one in this file.
    fn find(&self, name: &str, runtime: &Runtime) -> Result<Arc<dyn AnyFlow<Durable>>, String> {
        if let Some(flow) = self.flows.iter().find(|flow| flow.name() == name) {
            return Ok(flow.clone());
        }
        let path = Path::new(name);
        if path.extension().is_some() || path.exists() {
            let loaded = load_file(path, &self.nodes).map_err(|problems| {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                lines.join("\n")
            })?;
            let flow: Arc<dyn AnyFlow<Durable>> = Arc::new(loaded);
            let registered = runtime.replace(flow.clone());
            registered.map_err(|error| error.to_string())?;
            return Ok(flow);
        }
        let names = self.flows.iter().map(|flow| flow.name());
        let help = did_you_mean(name, names);
        let help = help.unwrap_or_else(|| "name a file with a flow as JSON or YAML".to_owned());
        Err(format!("there is no flow or file `{name}`\nhelp: {help}"))
    }
}

fn options(arguments: &arguments::Start) -> StartOptions {
    let mut options = StartOptions::new().priority(arguments.priority.unwrap_or(0));
    if let Some(key) = &arguments.idempotency_key {
        options = options.idempotency_key(key);
    }
    if let Some(time) = arguments.not_before {
        options = options.not_before(time);
    }
    if let Some((key, at_most)) = &arguments.concurrency_key {
        options = options.concurrency_key(key, *at_most);
    }
    options
}

/// Prints the status and the questions of an execution, and the signals for which it waits.
async fn told(ended: &Ended) -> Result<Outcome, String> {
    let execution = &ended.execution;
    let id = execution.id().to_string();
    let mut told = json!({ "execution": id, "status": execution.status().as_str() });
    if let Some(output) = execution.output_json().map_err(|error| error.to_string())? {
        told["output"] = output;
    }
    if let Some(reason) = execution.reason() {
        told["reason"] = reason.into();
    }
    println!("{}", flow_spec::visible_json(format!("{told:#}")));
    if execution.status() == Status::Paused {
        let questions = execution
            .questions()
            .await
            .map_err(|error| error.to_string())?;
        for question in questions {
            let prompt = question.prompt().replace('\n', " ");
            eprintln!("{}", visible(&format!("{}: {prompt}", question.path())));
            let asks = question.execution();
            eprintln!("answer with `answer {asks} VALUE`");
        }
        for name in &ended.awaited {
            eprintln!(
                "it waits for a signal: `signal {id} {} BODY`",
                visible(name)
            );
        }
    }
    match execution.status() {
        Status::Failed | Status::Cancelled => Ok(Outcome::Found),
        _ => Ok(Outcome::Fine),
    }
}
