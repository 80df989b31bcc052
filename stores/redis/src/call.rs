//! Commands and scripts for the server.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};

use super::script::Script;

/// A command or script for the server.
pub(super) enum Call<'a> {
    Command(Cmd),
    Script {
        script: &'a Script,
        key: String,
        arguments: Vec<&'a [u8]>,
    },
}

impl Call<'_> {
    pub(super) async fn send(self, mut to: MultiplexedConnection) -> Result<Value, RedisError> {
        let (script, key, arguments) = match self {
            Call::Command(command) => return command.query_async(&mut to).await,
            Call::Script {
                script,
                key,
                arguments,
            } => (script, key, arguments),
        };
        let run = |name: &str, what: &str| {
            let mut command = redis::cmd(name);
            command.arg(what).arg(1).arg(&key);
            for argument in &arguments {
                command.arg(*argument);
            }
            command
        };
        let command = run("EVALSHA", &script.hash);
        match command.query_async(&mut to).await {
            Err(error) if is_unknown(&error) => {
                let command = run("EVAL", script.code);
                command.query_async(&mut to).await
            }
            result => result,
        }
    }
}

/// Returns `true` if the server does not know a script yet. It did not run then.
fn is_unknown(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}
