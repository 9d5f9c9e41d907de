//! Tells systemd, or another service manager that set `NOTIFY_SOCKET`, how the server is.

/// A state that the service manager is told.
pub enum ServiceState {
    /// It listens.
    Ready,
    /// It takes no more requests.
    Stopping,
}

/// Tells the service manager, if there is one. It loses nothing if that fails.
#[cfg(unix)]
pub fn tell(state: ServiceState) {
    let state = match state {
        ServiceState::Ready => sd_notify::NotifyState::Ready,
        ServiceState::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager cannot be told how the server is");
    }
}

/// Does nothing, since there is no such service manager.
#[cfg(not(unix))]
pub fn tell(_state: ServiceState) {}
