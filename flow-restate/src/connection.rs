//! The two directions of a call by the server.

use std::future::{Future as _, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use restate_sdk_shared_core::{
    AwaitResponse, CoreVM, Error, NonEmptyValue, NotificationHandle, PayloadOptions, VM, Value,
};
use tokio::sync::mpsc::UnboundedSender;

use crate::stopped::{Refused, Stopped};

/// The result of waiting for the server.
#[derive(Debug)]
pub(crate) enum Received {
    Bytes(Bytes),
    /// The server sends nothing more, but still reads.
    Closed,
    /// The connection is gone. The server retries the invocation with another call.
    Broken,
    /// Something here can continue.
    Woken,
}

/// A call by the server: its input, and the channel for the answer.
#[derive(Debug)]
pub(crate) struct Connection {
    body: Incoming,
    is_closed: bool,
    output: UnboundedSender<Bytes>,
}

impl Connection {
    pub(crate) fn new(body: Incoming, output: UnboundedSender<Bytes>) -> Self {
        Connection {
            body,
            is_closed: false,
            output,
        }
    }

    /// Waits for the server, or until `is_woken` returns true.
    ///
    /// # Cancel safety
    ///
    /// Input of the server is never lost.
    pub(crate) async fn receive(&mut self, mut is_woken: impl FnMut() -> bool) -> Received {
        let output = self.output.clone();
        let mut gone = pin!(output.closed());
        poll_fn(|cx| {
            if gone.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Received::Broken);
            }
            while !self.is_closed {
                match Pin::new(&mut self.body).poll_frame(cx) {
                    Poll::Ready(Some(Ok(frame))) => {
                        if let Ok(bytes) = frame.into_data() {
                            return Poll::Ready(Received::Bytes(bytes));
                        }
                    }
                    Poll::Ready(Some(Err(_))) => return Poll::Ready(Received::Broken),
                    Poll::Ready(None) => {
                        self.is_closed = true;
                        return Poll::Ready(Received::Closed);
                    }
                    Poll::Pending => break,
                }
            }
            if is_woken() {
                return Poll::Ready(Received::Woken);
            }
            Poll::Pending
        })
        .await
    }

    /// Passes input of the server to its journal. Returns false if the connection is gone.
    pub(crate) async fn feed(&mut self, vm: &mut CoreVM, is_woken: impl FnMut() -> bool) -> bool {
        match self.receive(is_woken).await {
            Received::Bytes(bytes) => vm.notify_input(bytes),
            Received::Closed => vm.notify_input_closed(),
            Received::Woken => {}
            Received::Broken => return false,
        }
        true
    }

    /// Sends the pending output of the journal to the server.
    pub(crate) fn flush(&self, vm: &mut CoreVM) {
        let bytes = vm.take_output();
        if !bytes.is_empty() {
            // If the server is gone, nobody receives it; `receive` notices that.
            let _ = self.output.send(bytes);
        }
    }

    /// Ends the call with its result, unless the server calls again.
    pub(crate) fn end(&self, vm: &mut CoreVM, output: Result<Bytes, Stopped>) {
        let value = match output {
            Ok(output) => NonEmptyValue::Success(output),
            Err(Stopped::Refused(refused)) => NonEmptyValue::Failure(refused.into()),
            Err(Stopped::Again) => return self.flush(vm),
        };
        // The order within a set may differ when the flow runs again; the first one counts.
        let options = PayloadOptions::unstable_serialization();
        // The journal reports an error to the server.
        let _ = vm
            .sys_write_output(value, options)
            .and_then(|()| vm.sys_end());
        self.flush(vm);
    }

    /// Waits for only this entry of the journal. `execute` does the work of a step.
    pub(crate) async fn completed(
        &mut self,
        vm: &mut CoreVM,
        handle: NotificationHandle,
        execute: impl Fn(&mut CoreVM, NotificationHandle) -> Result<(), Error>,
    ) -> Result<Value, Stopped> {
        loop {
            match vm.do_await(handle.into())? {
                AwaitResponse::AnyCompleted => {
                    if let Some(value) = vm.take_notification(handle)? {
                        return Ok(value);
                    }
                }
                AwaitResponse::ExecuteRun(step) => {
                    execute(vm, step)?;
                    continue;
                }
                AwaitResponse::CancelSignalReceived => return Err(Refused::cancelled().into()),
                _ => {}
            }
            self.flush(vm);
            if !self.feed(vm, || false).await {
                return Err(Stopped::Again);
            }
        }
    }
}

/// The `execute` of [`Connection::completed`] where no step is under way.
pub(crate) fn no_step(_: &mut CoreVM, _: NotificationHandle) -> Result<(), Error> {
    Ok(())
}
