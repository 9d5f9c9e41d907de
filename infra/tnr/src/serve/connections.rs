//! Limits on client connections: a maximum count, and timeouts for slow clients.
//!
//! hyper has one timeout for both idle connections and request headers, and none for bodies. So connections
//! time out here, with separate timeouts for arriving requests and idle clients.

use std::{
    io::{self, ErrorKind, IoSlice},
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::serve::Listener;
use clap::{
    Args,
    builder::{RangedU64ValueParser, TypedValueParser},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

#[derive(Debug, Clone, Copy, Args)]
pub struct ConnectionArgs {
    /// Maximum open connections; additional clients wait
    #[arg(long, value_name = "COUNT", env = "TNR_MAX_CONNECTIONS", default_value_t = 1024,
          value_parser = positive(), hide_short_help = true)]
    max_connections: u64,
    /// Timeout for a request to arrive with its body, in seconds
    // Starts at the first byte, or at the connection. The response must also have started by then.
    #[arg(long, value_name = "SECONDS", env = "TNR_REQUEST_TIMEOUT",
          default_value = "60", value_parser = positive().map(Duration::from_secs), hide_short_help = true)]
    request_timeout: Duration,
    /// Timeout for idle connections, in seconds
    // Applies while waiting for the next request, or for the client to read more of a response.
    #[arg(long, value_name = "SECONDS", env = "TNR_IDLE_TIMEOUT",
          default_value = "75", value_parser = positive().map(Duration::from_secs), hide_short_help = true)]
    idle_timeout: Duration,
}

/// A generous upper bound: ten million seconds are almost four months.
fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=10_000_000)
}

/// A listener that limits open connections. Beyond the limit, clients wait until a connection closes.
pub struct LimitedListener {
    listener: TcpListener,
    free: Arc<Semaphore>,
    limits: ConnectionArgs,
}

impl LimitedListener {
    pub fn new(listener: TcpListener, limits: ConnectionArgs) -> Self {
        let free = Arc::new(Semaphore::new(limits.max_connections as usize));
        Self { listener, free, limits }
    }
}

impl Listener for LimitedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // The semaphore is never closed, so this always returns a permit.
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let limits = self.limits;
        let timeout = Box::pin(sleep(limits.request_timeout));
        (Connection { stream, limits, is_receiving: true, timeout, _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that times out if its client is too slow.
pub struct Connection {
    stream: TcpStream,
    limits: ConnectionArgs,
    /// `true` from a request's first byte until its response starts.
    is_receiving: bool,
    timeout: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    fn restart_timeout(&mut self, is_receiving: bool) {
        self.is_receiving = is_receiving;
        let ConnectionArgs { request_timeout, idle_timeout, .. } = self.limits;
        let time = if is_receiving { request_timeout } else { idle_timeout };
        self.timeout.as_mut().reset(Instant::now() + time);
    }

    /// Returns an error once the connection times out.
    fn poll_timeout<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        ready!(self.timeout.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }

    /// Restarts the timeout after writing part of a response, because the client is reading.
    fn after_write(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            return self.poll_timeout(context);
        }
        self.restart_timeout(false);
        written
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
        if buffer.filled().len() > before && !self.is_receiving {
            self.restart_timeout(true);
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
