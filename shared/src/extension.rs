//! What a Lambda does after it has answered: an internal extension writes what quotas were used.
//!
//! Lambda freezes the process once both the runtime and the extension have asked for their next
//! event. The runtime asks as soon as the response is sent, and the client has it then; the extension
//! asks only after the counts are written. A registered extension also brings a `SIGTERM` before the
//! process ends, in which the rest is written.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use axum::response::Response;
use lambda_extension::{Extension, LambdaEvent, NextEvent};
use lambda_http::{
    Adapter, BoxFuture, Error, Request, Service,
    lambda_runtime::{LambdaInvocation, Runtime, layers::TracingLayer},
    service_fn,
    tower::layer::layer_fn,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
    time::timeout,
};

use crate::quota::Quotas;

const NAME: &str = "usage";

/// Runs `service` as a Lambda function, and beside it the extension that writes what `quotas` has
/// counted. If the extension cannot be registered, the function runs without it.
///
/// # Errors
/// Returns an error if the Lambda API can no longer be reached.
pub async fn run<S>(service: S, quotas: Arc<Quotas>) -> Result<(), Error>
where
    S: Service<Request, Response = Response, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
{
    let (answered, answered_last) = watch::channel(String::new());
    let function = Runtime::new(Adapter::from(service))
        .layer(layer_fn(|inner| AfterAnswer { inner, answered: answered.clone() }))
        .layer(TracingLayer::new());
    let write_after_answer = service_fn(|event: LambdaEvent| {
        let (quotas, mut answered_last) = (Arc::clone(&quotas), answered_last.clone());
        async move {
            if let NextEvent::Invoke(invocation) = event.next {
                let is_answered = answered_last.wait_for(|id| *id == invocation.request_id);
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
    let extension = match extension.register().await {
        Ok(registered) => registered,
        Err(error) => {
            tracing::warn!(%error, "no extension: usage is written beside the next requests");
            return function.run().await;
        }
    };
    quotas.leave_to_extension();
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = function.run() => ended,
        // Without it each invocation would wait for an extension that is gone.
        ended = extension.run() => ended,
        _ = terminated.recv() => {
            quotas.write_rest().await;
            Ok(())
        }
    }
}

fn time_until(milliseconds: u64) -> Duration {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    end.duration_since(SystemTime::now()).unwrap_or_default()
}

/// Tells the id of each invocation once its response is sent, or could not be made.
struct AfterAnswer<S> {
    inner: S,
    answered: watch::Sender<String>,
}

impl<S> Service<LambdaInvocation> for AfterAnswer<S>
where
    S: Service<LambdaInvocation, Response = (), Error = Error>,
    S::Future: Send + 'static,
{
    type Response = ();
    type Error = Error;
    type Future = BoxFuture<'static, Result<(), Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        let request_id = invocation.context.request_id.clone();
        let (answer, answered) = (self.inner.call(invocation), self.answered.clone());
        Box::pin(async move {
            let ended = answer.await;
            answered.send_replace(request_id);
            ended
        })
    }
}
