//! A Lambda function under the stand-in for Lambda's API.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use axum::body::Bytes;

use crate::{
    Error,
    process::Process,
    runtime_api::{Answer, Mode, RuntimeApi},
};

/// How a function is started.
#[derive(Debug, Clone)]
pub struct FunctionSpec {
    pub program: PathBuf,
    /// Where its DynamoDB answers.
    pub dynamodb: String,
    /// How many invocations it may take at a time, beyond one.
    pub concurrency: Option<usize>,
}

/// A running function.
#[derive(Debug)]
pub struct Function {
    process: Process,
    api: RuntimeApi,
    init: Duration,
}

impl Function {
    /// Starts a function and waits until it asks for its first event.
    pub async fn start(spec: &FunctionSpec, log: &Path) -> Result<Self, Error> {
        let mode = if spec.concurrency.is_some() { Mode::Concurrent } else { Mode::Sequential };
        let api = RuntimeApi::start(mode).await?;
        let mut command = Command::new(&spec.program);
        // Only what Lambda sets, and where the local DynamoDB is.
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", api.address().to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "bench")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
            .env("AWS_ENDPOINT_URL_DYNAMODB", &spec.dynamodb)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "local")
            .env("AWS_SECRET_ACCESS_KEY", "local");
        if let Some(concurrency) = spec.concurrency {
            command.env("AWS_LAMBDA_MAX_CONCURRENCY", concurrency.to_string());
        }
        let started = Instant::now();
        let process = Process::start(&mut command, log)?;
        let failed = |error| format!("{}: {error}; see {}", spec.program.display(), log.display());
        let ready = api.idle().await.map_err(failed)?;
        Ok(Self { process, api, init: ready - started })
    }

    /// From the start of the process until function and extension first asked for an event.
    pub fn init(&self) -> Duration {
        self.init
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The most invocations that were ever running at the same time.
    pub fn most_at_once(&self) -> usize {
        self.api.most_at_once()
    }

    /// The response to an event.
    pub async fn invoke(&self, event: &Bytes) -> Result<Answer, Error> {
        self.api.invoke(event.clone()).await
    }

    /// Waits until the function can take another event.
    pub async fn idle(&self) -> Result<(), Error> {
        self.api.idle().await.map(|_| ())
    }
}
