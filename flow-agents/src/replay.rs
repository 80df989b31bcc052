//! Real traffic with a model, recorded once and replayed in tests.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde::{Deserialize, Serialize};

use crate::about::AboutModel;
use crate::error::{ModelError, NoRecording};
use crate::model::{Chunk, Model, Reply, ReplyStream, Request};
use crate::reply_builder::ReplyBuilder;

/// The version of the files that [`Recorder::save`] writes.
const FORMAT: u32 = 1;

/// Requests and their answers, in the order in which the answers were completed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cassette {
    format: u32,
    exchanges: Vec<Exchange>,
}

/// The common part of all formats.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    request: Request,
    chunks: Vec<Chunk>,
}

type Exchanges = Arc<Mutex<Vec<Exchange>>>;

/// Ignores poisoning: a test that panicked reports it itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A model whose traffic is recorded, for a [`Replay`].
///
/// Answers are recorded when they are complete; failures are not. Requests contain neither keys nor
/// addresses, so recordings do not either, unless a message does.
///
/// # Examples
/// ```
/// use flow_agents::{Message, Messages, Model, Recorder, Replay, Request, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("weather.json");
/// let request = Request::new(&Messages::from_iter([Message::user("What is the weather?")]));
///
/// let model = Recorder::new(ScriptedModel::new().text("It rains.")); // in a program, a real one
/// model.complete(&request).await?;
/// model.save(&file)?;
///
/// let model = Replay::load(&file)?;
/// assert_eq!(model.complete(&request).await?.content, "It rains.");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Recorder<M> {
    model: M,
    exchanges: Exchanges,
}

impl<M: Model> Recorder<M> {
    /// Records the requests to this model and its answers.
    pub fn new(model: M) -> Recorder<M> {
        Recorder {
            model,
            exchanges: Exchanges::default(),
        }
    }

    /// Writes the recording so far to a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, file: impl AsRef<Path>) -> std::io::Result<()> {
        let cassette = Cassette {
            format: FORMAT,
            exchanges: lock(&self.exchanges).clone(),
        };
        let mut text = serde_json::to_string_pretty(&cassette)?;
        text.push('\n');
        std::fs::write(file, text)
    }
}

#[async_trait]
impl<M: Model> Model for Recorder<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let reply = self.model.complete(request).await?;
        lock(&self.exchanges).push(Exchange {
            request: request.clone(),
            chunks: reply.clone().into_chunks(),
        });
        Ok(reply)
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let recording = Recording {
            rest: self.model.stream(request).await?,
            seen: Exchange {
                request: request.clone(),
                chunks: Vec::new(),
            },
            exchanges: Arc::clone(&self.exchanges),
        };
        Ok(stream::unfold(Some(recording), next_recorded).boxed())
    }
}

/// A stream that is being recorded.
struct Recording {
    rest: ReplyStream,
    seen: Exchange,
    exchanges: Exchanges,
}

/// The next part, and the recording unless that was the last part. The connection is not read after
/// the last part: it may stay open for long, or fail.
async fn next_recorded(
    recording: Option<Recording>,
) -> Option<(Result<Chunk, ModelError>, Option<Recording>)> {
    let mut recording = recording?;
    let chunk = match recording.rest.next().await? {
        Ok(chunk) => chunk,
        Err(error) => return Some((Err(error), None)),
    };
    recording.seen.chunks.push(chunk.clone());
    if matches!(chunk, Chunk::End { .. }) {
        lock(&recording.exchanges).push(recording.seen);
        return Some((Ok(chunk), None));
    }
    Some((Ok(chunk), Some(recording)))
}

/// A model that replays the answers of a [`Recorder`].
///
/// Each answer is returned once, to a request that equals the recorded one. Requests may come in
/// another order than recorded, such as those of concurrent items of a loop. Equal requests get
/// their answers in the order of the recording.
#[derive(Debug)]
pub struct Replay {
    left: Mutex<Vec<Exchange>>,
}

impl Replay {
    /// Reads the file of a recording.
    ///
    /// # Errors
    /// [`RecordingError::Read`] if the file cannot be read, [`RecordingError::Format`] if its
    /// format differs from that of this version of the crate, and [`RecordingError::Damaged`] if
    /// [`Recorder::save`] did not write it.
    pub fn load(file: impl AsRef<Path>) -> Result<Replay, RecordingError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file).map_err(|source| RecordingError::Read {
            file: file.to_owned(),
            source,
        })?;
        let damaged = |source| RecordingError::Damaged {
            file: file.to_owned(),
            source,
        };
        let Header { format } = serde_json::from_str(&text).map_err(damaged)?;
        if format != FORMAT {
            return Err(RecordingError::Format {
                file: file.to_owned(),
                format,
            });
        }
        let cassette: Cassette = serde_json::from_str(&text).map_err(damaged)?;
        let left = Mutex::new(cassette.exchanges);
        Ok(Replay { left })
    }

    /// The number of unused answers.
    pub fn left(&self) -> usize {
        lock(&self.left).len()
    }

    fn take(&self, request: &Request) -> Result<Vec<Chunk>, ModelError> {
        let mut left = lock(&self.left);
        match left.iter().position(|it| it.request == *request) {
            Some(found) => Ok(left.remove(found).chunks),
            None => {
                let next = left.first().map(|it| difference(&it.request, request));
                let left = left.len();
                Err(NoRecording { left, next }.into())
            }
        }
    }
}

#[async_trait]
impl Model for Replay {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut reply = ReplyBuilder::new();
        for chunk in self.take(request)? {
            reply.push(chunk);
        }
        reply.finish()
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        Ok(stream::iter(self.take(request)?.into_iter().map(Ok)).boxed())
    }
}

/// The difference between two requests.
fn difference(recorded: &Request, request: &Request) -> String {
    let messages = recorded.messages.iter().zip(&request.messages);
    let other = messages.enumerate().find(|(_, (one, two))| one != two);
    if let Some((index, (one, two))) = other {
        return format!("its message {index} is {one:?}, and here it is {two:?}");
    }
    let (one, two) = (recorded.messages.len(), request.messages.len());
    if one != two {
        return format!("it has {one} messages, and this one has {two}");
    }
    if recorded.tools != request.tools {
        let names = |request: &Request| {
            let names = request.tools.iter().map(|tool| tool.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let (one, two) = (names(recorded), names(request));
        return if one == two {
            format!("its tools [{one}] have another description or other parameters")
        } else {
            format!("its tools are [{one}], and here they are [{two}]")
        };
    }
    if recorded.output != request.output {
        return "it has to be answered in another form".to_owned();
    }
    "its temperature or its limit of tokens is another".to_owned()
}

/// The reason why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("the recording {} cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file is not what [`Recorder::save`] writes.
    #[error("the file {} is not a recording of a model's traffic; record the traffic anew", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The mistake.
        source: serde_json::Error,
    },
    /// Another version of this crate wrote the file.
    #[error("the recording {} has format {format}, and this version reads format {FORMAT}; record the traffic anew", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// The format of the file.
        format: u32,
    },
}
