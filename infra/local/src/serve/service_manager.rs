//! Notifications to systemd or another service manager that sets `NOTIFY_SOCKET`.

pub enum ServiceState {
    Ready,
    Stopping,
}

/// Notifies the service manager, if any. Failures are only logged.
#[cfg(unix)]
pub fn notify(state: ServiceState) {
    let state = match state {
        ServiceState::Ready => sd_notify::NotifyState::Ready,
        ServiceState::Stopping => sd_notify::NotifyState::Stopping,
    };
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

#[cfg(not(unix))]
pub fn notify(_state: ServiceState) {}
