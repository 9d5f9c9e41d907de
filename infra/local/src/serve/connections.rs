//! Limits on client connections: a maximum count, and timeouts for slow clients.
//!
//! hyper uses one timeout for both idle time and headers, and none for bodies. So connections time
//! out here, with one timeout per stage of a request.

use std::{
    io::{self, ErrorKind, IoSlice},
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    extract::{
        ConnectInfo, Request,
        connect_info::{Connected, IntoMakeServiceWithConnectInfo},
    },
    middleware::{Next, from_fn},
    response::Response,
    serve::{IncomingStream, Listener},
};
use clap::{
    Args,
    builder::{RangedU64ValueParser, TypedValueParser},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep_until},
};

use crate::serve::unread_bodies;

#[derive(Debug, Clone, Copy, Args)]
pub struct ConnectionArgs {
    /// Maximum open connections; additional clients wait
    #[arg(long, value_name = "COUNT", env = "TNR_MAX_CONNECTIONS", default_value_t = 1024,
          value_parser = positive())]
    max_connections: u64,
    #[command(flatten)]
    timeouts: Timeouts,
}

/// Timeouts for slow clients.
#[derive(Debug, Clone, Copy, Args)]
struct Timeouts {
    /// Timeout for request headers, in seconds
    // Starts with the first byte, or with the connection.
    #[arg(long = "header-timeout", value_name = "SECONDS", env = "TNR_HEADER_TIMEOUT",
          default_value = "30", value_parser = positive().map(Duration::from_secs))]
    header: Duration,
    /// Timeout for a request body, in seconds
    // Starts after the headers. The response must also have started by then.
    #[arg(long = "body-timeout", value_name = "SECONDS", env = "TNR_BODY_TIMEOUT",
          default_value = "60", value_parser = positive().map(Duration::from_secs))]
    body: Duration,
    /// Timeout for idle connections, in seconds
    // Waiting for the next request, or for the client to read more of a response.
    #[arg(long = "idle-timeout", value_name = "SECONDS", env = "TNR_IDLE_TIMEOUT",
          default_value = "75", value_parser = positive().map(Duration::from_secs))]
    idle: Duration,
}

/// A generous upper bound: ten million seconds is almost four months.
fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=10_000_000)
}

/// A listener that limits open connections. Clients over the limit wait until one closes.
pub struct LimitedListener {
    listener: TcpListener,
    free: Arc<Semaphore>,
    timeouts: Timeouts,
}

impl LimitedListener {
    pub fn new(listener: TcpListener, limits: ConnectionArgs) -> Self {
        let free = Arc::new(Semaphore::new(limits.max_connections as usize));
        Self { listener, free, timeouts: limits.timeouts }
    }
}

impl Listener for LimitedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // The semaphore is never closed, so a permit always arrives.
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let timer = StageTimer::new(self.timeouts);
        let timeout = Box::pin(sleep_until(timer.current().1));
        (Connection { stream, timer, timeout, _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The part of a request that a connection is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Request,
    Headers,
    Body,
}

/// A connection's stage and deadline. Shared with the service, because only the service knows when
/// requests begin and end.
#[derive(Debug, Clone)]
pub struct StageTimer {
    timeouts: Timeouts,
    current: Arc<Mutex<(Stage, Instant)>>,
}

impl StageTimer {
    fn new(timeouts: Timeouts) -> Self {
        let first = (Stage::Headers, Instant::now() + timeouts.header);
        Self { timeouts, current: Arc::new(Mutex::new(first)) }
    }

    fn begin(&self, stage: Stage) {
        let timeout = match stage {
            Stage::Request => self.timeouts.idle,
            Stage::Headers => self.timeouts.header,
            Stage::Body => self.timeouts.body,
        };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) =
            (stage, Instant::now() + timeout);
    }

    /// The stage and its deadline.
    fn current(&self) -> (Stage, Instant) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connected<IncomingStream<'_, LimitedListener>> for StageTimer {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Self {
        stream.io().timer.clone()
    }
}

/// Wraps the service so each connection knows when a request begins and ends.
pub fn track_requests(service: Router) -> IntoMakeServiceWithConnectInfo<Router, StageTimer> {
    service.layer(from_fn(track)).into_make_service_with_connect_info()
}

async fn track(
    ConnectInfo(timer): ConnectInfo<StageTimer>,
    request: Request,
    next: Next,
) -> Response {
    timer.begin(Stage::Body);
    let response = unread_bodies::discard(request, next).await;
    timer.begin(Stage::Request);
    response
}

/// A connection that times out if its client is too slow.
pub struct Connection {
    stream: TcpStream,
    timer: StageTimer,
    timeout: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Returns an error once the connection times out.
    fn poll_timeout<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let (_, deadline) = self.timer.current();
        if self.timeout.deadline() != deadline {
            self.timeout.as_mut().reset(deadline);
        }
        self.timeout.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()))
    }

    /// Restarts the timeout after part of a response is written, because the client is reading.
    fn after_write(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.timer.current().0 != Stage::Request {
            return written;
        }
        if written.is_ready() {
            self.timer.begin(Stage::Request);
        }
        // hyper may not be reading, so nothing else would wake this task at the deadline.
        match self.poll_timeout(context) {
            Poll::Pending => written,
            timed_out => timed_out,
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            return self.poll_timeout(context);
        }
        if buffer.filled().len() > before && self.timer.current().0 == Stage::Request {
            self.timer.begin(Stage::Headers);
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.after_write(context, written)
    }

    // Without these two methods, hyper would copy each body into its header buffer.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.after_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
