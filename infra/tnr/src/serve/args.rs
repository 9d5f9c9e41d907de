//! Options for the server and its data folder.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use clap::{
    Args,
    builder::{BoolishValueParser, TypedValueParser, ValueParser},
};
use shared::config::Config;

use crate::{
    CliError,
    database::args::{DatabaseArgs, FolderArgs},
    error::Context,
    serve::connections::ConnectionArgs,
};

const DEFAULT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const DEFAULT_PORT: u16 = 3000;

#[derive(Debug, Args)]
pub struct ApiAddress {
    /// Address to listen on (0.0.0.0 for all IPv4 interfaces, :: for all)
    #[arg(long, env = "TNR_HOST", default_value_t = DEFAULT_HOST)]
    pub host: IpAddr,
    /// Port to listen on
    #[arg(long, env = "TNR_PORT", default_value_t = DEFAULT_PORT)]
    pub port: u16,
    /// Path prefix for the API behind a proxy, such as /numbers
    #[arg(long, value_name = "PATH", env = "TNR_BASE_PATH", value_parser = base_path)]
    pub base_path: Option<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub address: ApiAddress,
    /// Address for the operations port (/metrics, /ready and /live), such as 127.0.0.1:9464
    /// [default: none]
    #[arg(long, value_name = "IP:PORT", env = "TNR_OPS_ADDRESS", hide_short_help = true)]
    pub ops_address: Option<SocketAddr>,
    /// Seconds to keep serving after SIGTERM while reporting not ready; Ctrl-C skips this wait
    #[arg(long, value_name = "SECONDS", env = "TNR_DRAIN", default_value = "5",
          value_parser = seconds(), hide_short_help = true)]
    pub drain: Duration,
    /// Seconds for in-flight requests to finish after that; a second signal exits immediately
    #[arg(long, value_name = "SECONDS", env = "TNR_GRACE", default_value = "5",
          value_parser = seconds(), hide_short_help = true)]
    pub grace: Duration,
    /// Origins whose web pages may call the API, separated by commas [default: any]
    #[arg(long, value_name = "ORIGINS", env = "CORS_ORIGINS", hide_short_help = true)]
    cors_origins: Option<String>,
    /// Base URL for links to flag images [default: this server]
    #[arg(long, value_name = "URL", env = "FLAGS_BASE_URL", hide_short_help = true)]
    flags_base_url: Option<String>,
    #[command(flatten)]
    pub connections: ConnectionArgs,
    /// Import the sample into an empty database and print a key; the default for the embedded
    /// database. Overrides --no-sample
    #[arg(long)]
    sample: bool,
    /// Skip the sample and the key; the default with --endpoint-url
    // Not a clap conflict, which would also reject `--sample` with TNR_NO_SAMPLE set.
    #[arg(long, env = "TNR_NO_SAMPLE", value_parser = BoolishValueParser::new())]
    no_sample: bool,
    #[command(flatten)]
    pub key: KeyArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

fn seconds() -> ValueParser {
    clap::value_parser!(u64).map(Duration::from_secs).into()
}

impl ServeArgs {
    pub fn config(&self) -> Result<Config, CliError> {
        let origins = self.cors_origins.as_deref().unwrap_or_default().parse();
        let flags = self.flags_base_url.as_deref().unwrap_or_default().parse();
        Ok(Config {
            allowed_origins: origins.context("--cors-origins or CORS_ORIGINS is invalid")?,
            flag_images: flags.context("--flags-base-url or FLAGS_BASE_URL is invalid")?,
            ..Config::from_env()
        })
    }

    /// Returns `true` for a trial server, which imports the sample and prints a key.
    pub fn is_trial(&self) -> bool {
        // If the variable has an invalid URL, opening the database reports it.
        let is_embedded = matches!(self.database.endpoint_url(), Ok(None));
        self.sample || (is_embedded && !self.no_sample)
    }
}

/// The address to connect to, for a server that listens on `host`, which may be a wildcard.
pub fn reachable_host(host: IpAddr) -> IpAddr {
    match host {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    }
}

/// Validates a base path: it must start with a slash, not end with one, and need no encoding.
fn base_path(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    let is_valid = text.starts_with('/')
        && !text.ends_with('/')
        && !text.contains("//")
        && text.chars().all(is_plain);
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("must start with a slash, not end with one, and contain only letters, digits and -._~"
            .into())
    }
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// Register this API key instead of generating one, for scripts
    #[arg(long = "key", value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub given: Option<String>,
}

#[derive(Debug, Args)]
pub struct DynamodbArgs {
    /// Port for the embedded DynamoDB
    #[arg(long, default_value_t = 8000)]
    pub port: u16,
    #[command(flatten)]
    pub key: KeyArgs,
    #[command(flatten)]
    pub folder: FolderArgs,
}
