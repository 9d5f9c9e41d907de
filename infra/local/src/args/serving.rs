//! Options of the server and its data folder.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{
    Args,
    builder::{BoolishValueParser, RangedU64ValueParser},
};

use super::{DatabaseArgs, FolderArgs, KeyArgs};
use crate::{new_file::Replacement, serve::connections::Timeouts};

/// Reachable only from this machine.
const DEFAULT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const DEFAULT_PORT: u16 = 3000;

/// The API's address, for the server and health checks.
#[derive(Debug, Args)]
pub struct ApiAddress {
    /// Address to listen on (0.0.0.0 for all IPv4 interfaces, :: for all)
    #[arg(long, env = "TNR_HOST", default_value_t = DEFAULT_HOST)]
    pub host: IpAddr,
    /// Port of the API
    #[arg(long, env = "TNR_PORT", default_value_t = DEFAULT_PORT)]
    pub port: u16,
    /// Path prefix of the API behind a proxy, such as /numbers
    #[arg(long, value_name = "PATH", env = "TNR_BASE_PATH", value_parser = base_path)]
    pub base_path: Option<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub address: ApiAddress,
    /// Address of the operations port (/metrics, /ready and /live), such as 127.0.0.1:9464
    /// [default: none]
    #[arg(long, value_name = "IP:PORT", env = "TNR_OPS_ADDRESS")]
    pub ops_address: Option<SocketAddr>,
    /// Seconds to keep serving after SIGTERM while reporting not ready; Ctrl-C skips this
    #[arg(long, value_name = "SECONDS", env = "TNR_DRAIN", default_value_t = 5)]
    pub drain: u64,
    /// Seconds to let running requests finish after that; a second signal exits at once
    #[arg(long, value_name = "SECONDS", env = "TNR_GRACE", default_value_t = 5)]
    pub grace: u64,
    #[command(flatten)]
    pub connections: ConnectionArgs,
    #[command(flatten)]
    pub sample: SampleArgs,
    #[command(flatten)]
    pub key: KeyArgs,
    #[command(flatten)]
    pub database: DatabaseArgs,
}

/// Connection limits.
#[derive(Debug, Args)]
pub struct ConnectionArgs {
    /// Maximum open connections; further clients wait
    #[arg(long, value_name = "COUNT", env = "TNR_MAX_CONNECTIONS", default_value_t = 1024,
          value_parser = positive())]
    pub max_connections: u64,
    /// Timeout for request headers, in seconds
    #[arg(long, value_name = "SECONDS", env = "TNR_HEADER_TIMEOUT", default_value_t = 30,
          value_parser = positive())]
    header_timeout: u64,
    /// Timeout for a request body, in seconds
    #[arg(long, value_name = "SECONDS", env = "TNR_BODY_TIMEOUT", default_value_t = 60,
          value_parser = positive())]
    body_timeout: u64,
    /// Timeout for idle connections, in seconds
    #[arg(long, value_name = "SECONDS", env = "TNR_IDLE_TIMEOUT", default_value_t = 75,
          value_parser = positive())]
    idle_timeout: u64,
}

impl ConnectionArgs {
    pub fn timeouts(&self) -> Timeouts {
        Timeouts {
            header: Duration::from_secs(self.header_timeout),
            body: Duration::from_secs(self.body_timeout),
            idle: Duration::from_secs(self.idle_timeout),
        }
    }
}

/// A generous upper bound: ten million seconds is almost four months.
fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=10_000_000)
}

/// Options to import the sample and print a key if the database is empty.
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// Import the sample into an empty database and print a key; the default for the embedded
    /// database. Overrides --no-sample
    #[arg(long)]
    sample: bool,
    /// Import no sample and create no key; the default with --endpoint-url
    // Not a clap conflict, which would also reject `--sample` with TNR_NO_SAMPLE set.
    #[arg(long, env = "TNR_NO_SAMPLE", value_parser = BoolishValueParser::new())]
    no_sample: bool,
}

impl ServeArgs {
    /// Returns `true` for a trial server, with the sample and a key.
    pub fn is_trial(&self) -> bool {
        // An invalid URL in the variable is reported when the database is opened.
        let is_embedded = matches!(self.database.endpoint_url(), Ok(None));
        self.sample.sample || (is_embedded && !self.sample.no_sample)
    }
}

#[derive(Debug, Args)]
pub struct HealthArgs {
    /// URL to check [default: the API on this machine]
    #[arg(value_name = "URL", value_parser = http_url)]
    pub url: Option<String>,
    #[command(flatten)]
    pub address: ApiAddress,
}

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// File to write, or to read with --verify
    pub file: PathBuf,
    /// Only check a file written by `backup`
    #[arg(long, conflicts_with_all = ["force", "data_dir"])]
    pub verify: bool,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// File written by `backup`
    pub file: PathBuf,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// Validates a base path: a leading slash, no trailing one, and nothing to encode.
fn base_path(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    let is_valid = text.starts_with('/')
        && !text.ends_with('/')
        && !text.contains("//")
        && text.chars().all(is_plain);
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("must begin with a slash, end without one, and hold only letters, digits and -._~"
            .into())
    }
}

fn http_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") {
        Ok(text.to_owned())
    } else {
        Err("must begin with http://".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::args::Cli;

    use super::*;

    fn is_trial(options: &[&str]) -> bool {
        Cli::try_parse_from([&["tnr"], options].concat()).unwrap().serve.is_trial()
    }

    #[test]
    fn only_the_embedded_database_gets_the_sample_by_default() {
        let elsewhere = ["--endpoint-url", "http://database:8000"];
        assert!(is_trial(&[]));
        assert!(!is_trial(&["--no-sample"]));
        assert!(!is_trial(&elsewhere));
        assert!(is_trial(&[&elsewhere[..], &["--sample"]].concat()));
        assert!(is_trial(&["--no-sample", "--sample"]) && is_trial(&["--sample", "--no-sample"]));
    }

    #[test]
    fn base_path_has_no_trailing_slash_and_needs_no_encoding() {
        for valid in ["/numbers", "/apis/tnr-2", "/~team/v1.0"] {
            assert_eq!(base_path(valid).unwrap(), valid);
        }
        for invalid in ["", "/", "numbers", "/numbers/", "/a//b", "/a b", "/{a}", "/<a>", "/a?b"] {
            assert!(base_path(invalid).is_err(), "{invalid}");
        }
    }
}
