//! State notifications for systemd, or another service manager that set `NOTIFY_SOCKET`.

/// The server's state.
pub enum ServiceState {
    /// It listens.
    Ready,
    /// It takes no more requests.
    Stopping,
}

/// Notifies the service manager, if any. A failure does no harm.
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

/// Does nothing, because only Unix has such a service manager.
#[cfg(not(unix))]
pub fn tell(_state: ServiceState) {}
