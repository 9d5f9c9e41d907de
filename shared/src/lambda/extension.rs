//! An internal Lambda extension that writes quota usage after the response is sent.
//!
//! Lambda freezes the process once both the runtime and the extension have asked for their next event. The
//! runtime asks as soon as the response is sent, so the client does not wait. The extension asks only after the
//! counts are written. A process with a registered extension also receives `SIGTERM` before it ends, and then
//! writes the remaining counts.
//!
//! A container that handles several requests at once is never frozen, so it needs no extension.

use std::{
    convert::Infallible,
    future,
    sync::Arc,
    time::{Duration, SystemTime},
};

use lambda_extension::{Extension, LambdaEvent, NextEvent};
use lambda_http::{
    Adapter, Error, Request, Service,
    lambda_runtime::{LambdaInvocation, Runtime, layers::TracingLayer},
    service_fn,
    tower::{ServiceExt, layer::layer_fn},
};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::{sync::watch, time::timeout};

use super::buffered_response::BufferedResponse;
use crate::quota::Quotas;

const NAME: &str = "usage";

/// Runs `service` as a Lambda function, alongside the extension that writes the counts of `quotas`. If the
/// extension cannot be registered, or the container is never frozen, the function runs without it. The first
/// request is requested after `ready` completes.
pub(crate) async fn run<S>(
    service: S,
    quotas: Arc<Quotas>,
    is_frozen: bool,
    ready: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error>
where
    S: Service<Request, Response = BufferedResponse, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let (answered_sender, answered_receiver) = watch::channel(String::new());
    let function = Runtime::new(Adapter::from(service))
        .layer(layer_fn(|inner| notifying(inner, answered_sender.clone())))
        .layer(TracingLayer::new());
    let write_after_answer = service_fn(|event: LambdaEvent| {
        let (quotas, mut answered) = (Arc::clone(&quotas), answered_receiver.clone());
        async move {
            if let NextEvent::Invoke(invocation) = event.next {
                let is_answered = answered.wait_for(|id| *id == invocation.request_id);
                // Counts are written in any case: a failed invocation may never be answered.
                _ = timeout(time_until(invocation.deadline_ms), is_answered).await;
                quotas.write_due().await;
            }
            Ok::<_, Infallible>(())
        }
    });
    let extension = Extension::new()
        .with_extension_name(NAME)
        .with_events(&["INVOKE"])
        .with_events_processor(write_after_answer);
    let registration = async {
        // A container that is never frozen does not notify extensions of requests.
        if !is_frozen {
            return None;
        }
        match extension.register().await {
            Ok(extension) => Some(extension),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "the extension cannot be registered; usage is written beside the next requests"
                );
                None
            }
        }
    };
    let (extension, prepared) = tokio::join!(registration, ready);
    prepared?;
    if extension.is_some() {
        quotas.leave_to_extension();
    }
    let extension_ends = async {
        match extension {
            Some(extension) => extension.run().await,
            None => future::pending().await,
        }
    };
    let terminated = termination()?;
    tokio::select! {
        // The function goes first, since a client is waiting for it.
        biased;
        ended = function.run_concurrent() => ended,
        // If the extension ended, each invocation would wait for it in vain.
        ended = extension_ends => ended,
        () = terminated => {
            quotas.write_rest().await;
            Ok(())
        }
    }
}

/// Completes when Lambda is about to end the process.
#[cfg(unix)]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        terminated.recv().await;
    })
}

/// Never completes: Lambda does not run on such systems, but this must compile there.
#[cfg(not(unix))]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    Ok(future::pending())
}

/// Wraps the service to send each invocation's id once its response is sent or has failed.
fn notifying<S>(
    inner: S,
    answered: watch::Sender<String>,
) -> impl Service<LambdaInvocation, Response = (), Error = Error, Future: Send> + Clone
where
    S: Service<LambdaInvocation, Response = (), Error = Error, Future: Send> + Clone + Send,
{
    service_fn(move |invocation: LambdaInvocation| {
        let request_id = invocation.context.request_id.clone();
        let (answer, answered) = (inner.clone().oneshot(invocation), answered.clone());
        async move {
            let outcome = answer.await;
            answered.send_replace(request_id);
            outcome
        }
    })
}

/// The time left until a deadline in milliseconds since 1970; zero if it has passed.
fn time_until(deadline_ms: u64) -> Duration {
    let deadline = SystemTime::UNIX_EPOCH + Duration::from_millis(deadline_ms);
    deadline.duration_since(SystemTime::now()).unwrap_or_default()
}
