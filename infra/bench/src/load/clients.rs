//! Clients of an HTTP server. Each has a connection that stays open, and sends its next request
//! once it has read the whole answer to the last one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::body::{Body, Bytes, to_bytes};
use hyper::{
    StatusCode,
    client::conn::http1::{SendRequest, handshake},
    header::{AUTHORIZATION, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet};

use super::{Answers, Requests};
use crate::{Error, database::KEY};

/// More than any answer has, in bytes.
const LONGEST_BODY: usize = 10_000_000;

/// Sends requests from so many clients at a time.
pub async fn send(
    authority: &str,
    requests: &Requests,
    clients: usize,
    duration: Duration,
) -> Result<Answers, Error> {
    let targets = requests.requests.iter().map(|request| request.target.clone()).collect();
    let targets: Arc<Vec<String>> = Arc::new(targets);
    let end = Instant::now() + duration;
    let mut running = JoinSet::new();
    for first in 0..clients {
        let client = Client::connect(authority.to_owned()).await?;
        running.spawn(client.run(Arc::clone(&targets), first, end));
    }
    let mut answers = Answers::none();
    while let Some(of_client) = running.join_next().await {
        answers.add(&of_client??);
    }
    Ok(answers)
}

/// Sends each request once, and checks its whole answer.
pub async fn check(authority: &str, requests: &Requests) -> Result<(), Error> {
    let mut client = Client::connect(authority.to_owned()).await?;
    for request in &requests.requests {
        let (status, body) = client.get(&request.target).await?;
        request.check_body(status.as_u16(), &body)?;
    }
    Ok(())
}

struct Client {
    authority: String,
    connection: SendRequest<Body>,
}

impl Client {
    async fn connect(authority: String) -> Result<Self, Error> {
        let stream = TcpStream::connect(&authority).await?;
        stream.set_nodelay(true)?;
        let (connection, driver) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(Self { authority, connection })
    }

    async fn run(
        mut self,
        targets: Arc<Vec<String>>,
        first: usize,
        end: Instant,
    ) -> Result<Answers, Error> {
        let mut answers = Answers::none();
        for target in targets.iter().cycle().skip(first % targets.len()) {
            let started = Instant::now();
            if started >= end {
                break;
            }
            let (status, body) = self.get(target).await?;
            answers.record(started.elapsed(), status == StatusCode::OK && !body.is_empty());
        }
        Ok(answers)
    }

    async fn get(&mut self, target: &str) -> Result<(StatusCode, Bytes), Error> {
        let request = hyper::Request::get(target)
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, format!("Bearer {KEY}"))
            .body(Body::empty())?;
        self.connection.ready().await?;
        let response = self.connection.send_request(request).await?;
        let status = response.status();
        Ok((status, to_bytes(Body::new(response.into_body()), LONGEST_BODY).await?))
    }
}
