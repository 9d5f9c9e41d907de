//! The Lambda runtime: responses, and an internal extension that writes quota usage and exports spans after
//! the response is sent.
//!
//! Lambda freezes the process once both the runtime and the extension have requested their next event. The runtime does
//! so as soon as the response is sent, so the client does not wait. The extension does so once it has written the
//! counts. A process with an extension also receives `SIGTERM` before it is stopped, and then writes the rest.
//!
//! A container that handles concurrent requests is never frozen, so it does not need an extension.

use std::{
    convert::Infallible,
    future::ready,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::http::{HeaderMap, Response, header};
use lambda_extension::{Extension, LambdaEvent, NextEvent};
use lambda_http::{
    Adapter, Body, BoxFuture, Error, Request, Service,
    lambda_runtime::{LambdaInvocation, Runtime, layers::TracingLayer},
    service_fn,
    tower::{ServiceExt, layer::layer_fn},
};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::{sync::watch, time::timeout};

use crate::{body::buffer_body, state::App};

/// Runs `service` as a Lambda function, with the extension that writes quota counts and exports spans. If the
/// extension is not needed or cannot be registered, the function runs without it, and exports at intervals. Waits for
/// `ready` before requesting the first invocation.
pub(crate) async fn run<S>(
    service: S,
    app: App,
    ready: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error>
where
    S: Service<Request, Response = BufferedResponse, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let App { quotas, exporter, config, .. } = app;
    let (finished_sender, finished_receiver) = watch::channel(String::new());
    let function = Runtime::new(Adapter::from(service))
        .layer(layer_fn(|inner| notify_when_finished(inner, finished_sender.clone())))
        .layer(TracingLayer::new());
    let write_after_response = service_fn(|event: LambdaEvent| {
        let (quotas, exporter) = (Arc::clone(&quotas), Arc::clone(&exporter));
        let mut finished = finished_receiver.clone();
        async move {
            if let NextEvent::Invoke(invocation) = event.next {
                let is_finished = finished.wait_for(|id| *id == invocation.request_id);
                // After the deadline, do not wait even if the invocation has not finished.
                _ = timeout(time_until(invocation.deadline_ms), is_finished).await;
                tokio::join!(quotas.write_due(), exporter.flush());
            }
            Ok::<_, Infallible>(())
        }
    });
    let extension = Extension::new()
        .with_extension_name("usage")
        .with_events(&["INVOKE"])
        .with_events_processor(write_after_response);
    let registration = async {
        // Extensions do not receive invocations in containers that are never frozen.
        if config.has_concurrent_requests {
            return None;
        }
        let registered = extension.register().await;
        registered
            .inspect_err(|error| {
                tracing::warn!(%error, "cannot register the extension; later requests write the usage");
            })
            .ok()
    };
    let (extension, prepared) = tokio::join!(registration, ready);
    prepared?;
    if extension.is_some() {
        quotas.delegate_writes_to_extension();
    }
    let extension_ends = async {
        match extension {
            Some(extension) => extension.run().await,
            None => match exporter.run().await {},
        }
    };
    let terminated = termination()?;
    tokio::select! {
        // Polls the function first, because a client is waiting.
        biased;
        result = function.run_concurrent() => result,
        // Without the extension, every invocation would time out.
        result = extension_ends => result,
        () = terminated => {
            tokio::join!(quotas.write_remaining(), exporter.flush());
            Ok(())
        }
    }
}

/// Completes on `SIGTERM`, which Lambda sends before it stops the process.
#[cfg(unix)]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        terminated.recv().await;
    })
}

/// Never completes. Lambda runs only on Unix, but this must also compile elsewhere.
#[cfg(not(unix))]
fn termination() -> Result<impl Future<Output = ()>, Error> {
    Ok(std::future::pending())
}

/// Wraps a service to send each invocation's id once the response is sent or the invocation has failed.
fn notify_when_finished<S>(
    inner: S,
    finished: watch::Sender<String>,
) -> impl Service<LambdaInvocation, Response = (), Error = Error, Future: Send> + Clone
where
    S: Service<LambdaInvocation, Response = (), Error = Error, Future: Send> + Clone + Send,
{
    service_fn(move |invocation: LambdaInvocation| {
        let request_id = invocation.context.request_id.clone();
        let (response, finished) = (inner.clone().oneshot(invocation), finished.clone());
        async move {
            let result = response.await;
            finished.send_replace(request_id);
            result
        }
    })
}

/// The time until a deadline (Unix time in milliseconds); zero if it has passed.
fn time_until(deadline_ms: u64) -> Duration {
    let deadline = SystemTime::UNIX_EPOCH + Duration::from_millis(deadline_ms);
    deadline.duration_since(SystemTime::now()).unwrap_or_default()
}

/// A response with its body in memory. Lambda needs the complete body anyway, and the concurrent runtime sends it
/// between threads.
pub(crate) struct BufferedResponse(Response<Body>);

impl lambda_http::IntoResponse for BufferedResponse {
    fn into_response(self) -> BoxFuture<'static, Response<Body>> {
        Box::pin(ready(self.0))
    }
}

pub(crate) async fn buffered(
    Ok(response): Result<axum::response::Response, Infallible>,
) -> Result<BufferedResponse, Infallible> {
    let (parts, bytes) = buffer_body(response).await;
    let body = lambda_body(bytes.into(), &parts.headers);
    Ok(BufferedResponse(Response::from_parts(parts, body)))
}

/// Returns text as is, and other bodies as bytes, which Lambda receives as base64.
fn lambda_body(bytes: Vec<u8>, headers: &HeaderMap) -> Body {
    if bytes.is_empty() {
        return Body::Empty;
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        return bytes.into();
    }
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => error.into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_uncompressed_utf_8_bodies_are_sent_as_text() {
        let plain = HeaderMap::new();
        let gzip =
            HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        for (body, headers, expected) in [
            (&b""[..], &plain, Body::Empty),
            ("é".as_bytes(), &plain, Body::Text("é".to_owned())),
            (b"{}", &gzip, Body::Binary(b"{}".to_vec())),
            (b"\xff", &plain, Body::Binary(b"\xff".to_vec())),
        ] {
            assert_eq!(lambda_body(body.to_vec(), headers), expected);
        }
    }
}
