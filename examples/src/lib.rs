//! Programs written with `flow!`, one in each file of the folder above.
//!
//! Programs that need little but the runtime belong to the package `typed-flows`: `cargo run --example
//! order_pipeline`. The others belong to this one: `cargo run -p flow-examples --example agent`.
//!
//! Examples with a model run offline, with scripted answers. They ask a real model with `cargo run
//! -p flow-examples --features genai --example agent -- --model ollama:qwen3:4b`.

use std::error::Error;
use std::sync::Arc;

use typed_flows::agents::{Model, ScriptedModel};

/// The model that an example asks.
pub struct Chosen {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its answers, if they are scripted: the example can then check its output.
    pub script: Option<Arc<ScriptedModel>>,
}

/// Returns the model that the argument `--model` of the program names, such as `ollama:qwen3:4b` or
/// `anthropic:claude-sonnet-4-5`. Without arguments, returns one with the answers of this script.
///
/// # Errors
/// Other arguments, a name without a known provider, a missing key, or a build without the feature
/// `genai`.
///
/// # Examples
/// ```
/// use typed_flows::agents::ScriptedModel;
///
/// let chosen = flow_examples::model(ScriptedModel::new().text("It rains."))?;
/// assert!(chosen.script.is_some()); // this program has no arguments
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn model(script: ScriptedModel) -> Result<Chosen, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            let script = Arc::new(script);
            let model = Arc::clone(&script) as Arc<dyn Model>;
            let script = Some(script);
            Ok(Chosen { model, script })
        }
        [option, name] if option == "--model" => {
            let model = real(name)?;
            Ok(Chosen {
                model,
                script: None,
            })
        }
        _ => Err("the arguments are `--model provider:name`, or none".into()),
    }
}

#[cfg(feature = "genai")]
fn real(name: &str) -> Result<Arc<dyn Model>, Box<dyn Error>> {
    let model = typed_flows::agents::GenAi::new(name)?;
    Ok(Arc::new(typed_flows::agents::Retrying::new(model)))
}

#[cfg(not(feature = "genai"))]
fn real(name: &str) -> Result<Arc<dyn Model>, Box<dyn Error>> {
    Err(format!("to ask `{name}`, build with `--features genai`").into())
}
