//! The command `run`.

use std::io::{IsTerminal as _, stderr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use flow_loader::load_file;
use flow_runtime::engine::{Observed, Run, RunError, Saved, Unstorable, run_any};
use flow_runtime::{Event, EventKind, Observer, RunOptions};
use flow_spec::{did_you_mean, visible};
use indicatif::ProgressDrawTarget;

use super::bars::{Bars, line};
use super::running::Running;
use super::{Program, Runnable, arguments};
use crate::Terminal;
use crate::output::{Outcome, print, tell_error};

/// Prints each event as a line, and a line for each node that is dropped.
#[derive(Default)]
struct Progress(Mutex<Running<()>>);

impl Observer for Progress {
    fn on_event(&self, event: &Event<'_>) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind() {
            // Parts of an unfinished text would be mixed with the lines.
            EventKind::Delta(_) | EventKind::DeltaJson(_) => return,
            EventKind::Progress { .. } | EventKind::AttemptFailed { .. } => {}
            EventKind::NodeStarted => running.begin(event.path(), ()),
            _ => {
                let path = event.path().to_string();
                for node in running.end(event).iter().filter(|node| node.path != path) {
                    eprintln!("{} dropped", visible(&node.path));
                }
            }
        }
        eprintln!("{}", line(event));
    }
}

/// Returns `true` if moving progress can be shown.
fn moves() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl Program {
    pub(super) async fn run_flow(&self, arguments: &arguments::Run) -> Result<Outcome, String> {
        let flow = self.find(&arguments.flow)?;
        let input = Saved(arguments.input.read(&*flow)?);
        let bars = (!arguments.quiet && moves()).then(|| Bars::new(ProgressDrawTarget::stderr));
        let options = match &bars {
            Some(bars) => RunOptions::answer(bars.clone()).observer(Arc::new(bars.clone())),
            None if arguments.quiet => RunOptions::answer(Terminal),
            None => RunOptions::answer(Terminal).observer(Arc::new(Progress::default())),
        };
        let run = Run::numbered(options);
        let output = run_any(&*flow, &Observed::new(&run), input).await;
        if let Some(bars) = &bars {
            bars.clear();
        }
        let name = flow.name();
        match output {
            Ok(output) => {
                print(&format!("{:#}\n", output.into_json()))?;
                Ok(Outcome::Fine)
            }
            Err(RunError::Failed(failed)) => {
                tell_error(&format!("{failed:#}"));
                Ok(Outcome::Found)
            }
            Err(RunError::Output(Unstorable { key, reason })) => {
                tell_error(&format!(
                    "the output `{key}` of `{name}` is not JSON: {reason}"
                ));
                Ok(Outcome::Found)
            }
            Err(RunError::Input(error)) => {
                let lines = error.violations().iter().map(|violation| {
                    let (path, message) = (violation.path(), violation.message());
                    format!("\n`{path}`: {message}")
                });
                let lines: String = lines.collect();
                Err(format!("the input of `{name}` does not fit{lines}"))
            }
        }
    }

    /// Returns the flow of this name, or loads the one in this file.
    fn find(&self, name: &str) -> Result<Arc<Runnable>, String> {
        if let Some(flow) = self.flows.iter().find(|flow| flow.name() == name) {
            return Ok(flow.clone());
        }
        let path = Path::new(name);
        if path.extension().is_some() || path.exists() {
            let loaded = load_file(path, &self.nodes);
            let flow = loaded.map_err(|problems| {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                lines.join("\n")
            })?;
            return Ok(Arc::new(flow));
        }
        let help = match did_you_mean(name, self.names()) {
            Some(help) => help,
            None => "name a file with a flow as JSON or YAML".to_owned(),
        };
        Err(format!("there is no flow or file `{name}`\nhelp: {help}"))
    }
}
