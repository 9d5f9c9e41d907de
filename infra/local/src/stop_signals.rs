//! Signals that stop the program: Ctrl-C, and SIGTERM from service managers.

use std::thread;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::{CliError, error::Context};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C, from someone who is waiting.
    Interrupt,
    /// SIGTERM, from a service manager.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has it"))]
    Terminate,
}

/// The stop signals, which no longer end the process by themselves.
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

#[cfg(unix)]
impl StopSignals {
    /// Starts receiving the signals.
    pub fn receive() -> Result<Self, CliError> {
        let received = |kind| signal(kind).context("cannot receive the signals to stop");
        Ok(Self {
            interrupt: received(SignalKind::interrupt())?,
            terminate: received(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl StopSignals {
    /// Starts receiving Ctrl-C.
    pub fn receive() -> Result<Self, CliError> {
        Ok(Self {})
    }

    /// Waits for Ctrl-C.
    pub async fn next(&mut self) -> StopSignal {
        _ = tokio::signal::ctrl_c().await;
        StopSignal::Interrupt
    }
}

/// Runs `work`, which may block on a pipe forever, on its own thread until a signal arrives.
pub async fn until_stopped<T: Send + 'static>(
    mut signals: StopSignals,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CliError> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || tell.send(work()));
    tokio::select! {
        done = told => done.context("the work was not done to its end"),
        _ = signals.next() => Err(CliError::Stopped),
    }
}
