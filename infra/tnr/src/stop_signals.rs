//! Signals that stop the program: Ctrl-C, and SIGTERM from service managers.

use std::thread;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::{CliError, error::Context};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C, from a person.
    Interrupt,
    /// SIGTERM, from a service manager.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has it"))]
    Terminate,
}

/// Receives stop signals, which then no longer stop the process on their own.
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

#[cfg(unix)]
impl StopSignals {
    pub fn listen() -> Result<Self, CliError> {
        let receive = |kind| signal(kind).context("cannot receive stop signals");
        Ok(Self {
            interrupt: receive(SignalKind::interrupt())?,
            terminate: receive(SignalKind::terminate())?,
        })
    }

    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl StopSignals {
    pub fn listen() -> Result<Self, CliError> {
        Ok(Self {})
    }

    pub async fn next(&mut self) -> StopSignal {
        _ = tokio::signal::ctrl_c().await;
        StopSignal::Interrupt
    }
}

/// Runs `work`, which may block on a pipe forever, on a separate thread. Returns early on a signal.
pub async fn until_stopped<T: Send + 'static>(
    mut signals: StopSignals,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CliError> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || sender.send(work()));
    tokio::select! {
        result = receiver => result.context("the command stopped unexpectedly"),
        _ = signals.next() => Err(CliError::Stopped),
    }
}
