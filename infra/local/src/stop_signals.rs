//! The signals that stop the program: Ctrl-C, and the one of service managers.

use crate::LocalError;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that stop the program, which no longer end it by themselves.
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl StopSignals {
    /// Receives the signals from now on.
    ///
    /// # Errors
    /// Returns an error if the system refuses that.
    #[cfg(unix)]
    pub fn receive() -> Result<Self, LocalError> {
        let received =
            |kind| signal(kind).map_err(LocalError::io("cannot receive the signals to stop"));
        Ok(Self {
            interrupt: received(SignalKind::interrupt())?,
            terminate: received(SignalKind::terminate())?,
        })
    }

    /// Receives Ctrl-C from now on.
    ///
    /// # Errors
    /// Returns no error; other systems do.
    #[cfg(not(unix))]
    pub fn receive() -> Result<Self, LocalError> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => (),
            _ = self.terminate.recv() => (),
        }
    }

    /// Waits for Ctrl-C.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        _ = tokio::signal::ctrl_c().await;
    }
}
