//! Runs work of more than a few milliseconds, such as formatting a batch. At most half of the processors do such work
//! at a time, so small requests do not wait for it.

use std::{sync::Arc, thread::available_parallelism, time::Duration};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
    task::block_in_place,
    time::timeout,
};

use crate::errors::ApiError;

/// The maximum wait for other requests' work.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// The input size in bytes below which work takes at most a few milliseconds.
const MIN_BYTES: usize = 512;

/// Limits the processors that do heavy work. Cheap to clone.
#[derive(Clone)]
pub struct HeavyWork {
    processors: Arc<Semaphore>,
    max_wait: Duration,
}

impl Default for HeavyWork {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self::new((processors / 2).max(1), MAX_WAIT)
    }
}

impl HeavyWork {
    /// Limits heavy work to this many processors.
    pub fn new(processors: usize, max_wait: Duration) -> Self {
        Self { processors: Arc::new(Semaphore::new(processors)), max_wait }
    }

    /// Runs `work` on an input of this many bytes. Small inputs run directly. Others wait for a free processor, then run
    /// on this thread while other threads take over its tasks. Rejects the request if it waits too long. A
    /// single-threaded runtime, as on Lambda, only has one request at a time.
    pub async fn run<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> Result<T, ApiError> {
        if bytes < MIN_BYTES {
            return Ok(work());
        }
        let permit = timeout(self.max_wait, self.processors.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(ApiError::Busy("The server is busy with large requests"));
        };
        Ok(run_blocking(work))
    }

    /// Runs optional work; `None` if no processor is free.
    pub fn run_if_free<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let _permit = self.processors.try_acquire().ok()?;
        Some(run_blocking(work))
    }
}

fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use axum::{http::header::RETRY_AFTER, response::IntoResponse};

    use super::*;

    #[tokio::test]
    async fn excess_heavy_work_is_rejected_with_a_retry_time() {
        let heavy_work = HeavyWork::new(1, Duration::from_millis(1));
        let running = heavy_work.processors.acquire().await;
        let response = heavy_work.run(MIN_BYTES, || ()).await.unwrap_err().into_response();
        assert_eq!(response.status().as_u16(), 503);
        assert_eq!(response.headers()[RETRY_AFTER], "5");
        assert_eq!(heavy_work.run(MIN_BYTES - 1, || 3).await.unwrap(), 3, "it does not wait");
        drop(running);
        assert_eq!(heavy_work.run(MIN_BYTES, || 7).await.unwrap(), 7);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_run_during_heavy_work() {
        let (sender, receiver) = mpsc::channel();
        // With a single worker, this deadlocks unless another thread takes over.
        let other = async move { sender.send(7).unwrap() };
        let heavy_work = HeavyWork::default();
        let work = tokio::spawn(async move {
            tokio::spawn(other);
            heavy_work.run(MIN_BYTES, move || receiver.recv().unwrap()).await
        });
        assert_eq!(work.await.unwrap().unwrap(), 7);
    }
}
