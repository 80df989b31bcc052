//! A server that is a child process of this program, and ends with it.
//!
//! Its processes are a group, which is killed when the connection is dropped. If this program
//! itself is killed, nothing is dropped. So a shell in the group kills it when the pipe from this
//! program is closed. While that shell runs, the number of the group is not reused.
//!
//! A process that the server puts into another group is not ended, as with `timeout` and shells
//! with job control: no portable mechanism finds it.

use std::io;
use std::process::Stdio;
use std::time::Duration;

#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::lines::{Fault, Lines};

/// The time that a server has to end after its input is closed, and again after it is asked to end.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

#[cfg(unix)]
const SIGTERM: i32 = 15;

/// A command that can start a server more than once.
pub(super) fn restartable(mut command: Command) -> CommandWrap {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    command
}

/// A connection over the standard input and output of a process.
pub(super) struct Process {
    transport: AsyncRwTransport<RoleClient, Lines<ChildStdout>, ChildStdin>,
    group: Group,
}

impl Process {
    pub(super) fn start(command: &mut CommandWrap, fault: Fault) -> io::Result<Process> {
        let mut group = Group::start(command)?;
        let missing = || io::Error::other("the process has no pipes");
        let output = group.child.stdout().take().ok_or_else(missing)?;
        let input = group.child.stdin().take().ok_or_else(missing)?;
        let transport = AsyncRwTransport::new(Lines::new(output, fault), input);
        Ok(Process { transport, group })
    }
}

impl Transport<RoleClient> for Process {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.transport.send(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.transport.receive()
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read blocks the writes to it, and so the closing of its input.
        let closed = tokio::time::timeout(ENDS_WITHIN, self.transport.close()).await;
        self.group.end().await;
        closed.unwrap_or(Ok(()))
    }
}

/// A process with all its descendants.
struct Group {
    child: Box<dyn ChildWrapper>,
    /// The first process of the group, which kills it when this program ends.
    #[cfg(unix)]
    watch: Option<Box<dyn ChildWrapper>>,
}

impl Group {
    #[cfg(unix)]
    fn start(command: &mut CommandWrap) -> io::Result<Group> {
        // It starts before the server, so that the server is always watched.
        let watch = watch();
        let group = watch.as_ref().and_then(|watch| watch.id());
        let group = group.and_then(|group| i32::try_from(group).ok());
        match group {
            Some(group) => {
                command.command_mut().process_group(group);
            }
            None => {
                command.wrap(ProcessGroup::leader());
            }
        }
        let child = command.spawn()?;
        Ok(Group { child, watch })
    }

    #[cfg(not(unix))]
    fn start(command: &mut CommandWrap) -> io::Result<Group> {
        Ok(Group {
            child: command.spawn()?,
        })
    }

    /// Waits for the process to end by itself, and then asks it to. Dropping this kills it.
    async fn end(&mut self) {
        if self.ends().await {
            return;
        }
        #[cfg(unix)]
        if self.child.signal(SIGTERM).is_ok() {
            self.ends().await;
        }
    }

    async fn ends(&mut self) -> bool {
        let ended = self.child.wait();
        tokio::time::timeout(ENDS_WITHIN, ended).await.is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // These fail if all processes have ended.
        let _ = self.child.start_kill();
        #[cfg(unix)]
        if let Some(watch) = &mut self.watch {
            let _ = watch.start_kill();
        }
    }
}

/// Starts a shell that kills its group when the pipe from this program closes. `None` if there is
/// none.
#[cfg(unix)]
fn watch() -> Option<Box<dyn ChildWrapper>> {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT TERM; read _; kill -s KILL 0"]);
    shell.stdin(Stdio::piped());
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    let mut shell = CommandWrap::from(shell);
    shell.wrap(KillOnDrop).wrap(ProcessGroup::leader());
    shell.spawn().ok()
}
