//! The options of the server and its data folder.

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

/// The address that only this machine reaches, unless another one is named.
const DEFAULT_HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The port of the API, unless another one is named.
const DEFAULT_PORT: u16 = 3000;

/// The address of the API, for the server and for those who ask it.
#[derive(Debug, Args)]
pub struct ApiAddress {
    /// Address to listen on (0.0.0.0 for all IPv4 interfaces, :: for all)
    #[arg(long, env = "TNR_HOST", default_value_t = DEFAULT_HOST)]
    pub host: IpAddr,
    /// Port of the API
    #[arg(long, env = "TNR_PORT", default_value_t = DEFAULT_PORT)]
    pub port: u16,
    /// Path below which clients find the API behind a proxy, such as /numbers
    #[arg(long, value_name = "PATH", env = "TNR_BASE_PATH", value_parser = base_path)]
    pub base_path: Option<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub address: ApiAddress,
    /// Address for operators, such as 127.0.0.1:9464, with /metrics, /ready and /live; without this
    /// option there is none
    #[arg(long, value_name = "IP:PORT", env = "TNR_OPS_ADDRESS")]
    pub ops_address: Option<SocketAddr>,
    /// Seconds to keep serving after SIGTERM, while the server says that it is not
    /// ready; Ctrl-C waits for nothing
    #[arg(long, value_name = "SECONDS", env = "TNR_DRAIN", default_value_t = 5)]
    pub drain: u64,
    /// Seconds that running requests may take after that; a second signal ends at once
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

/// The limits of connections.
#[derive(Debug, Args)]
pub struct ConnectionArgs {
    /// Maximum connections; further clients wait
    #[arg(long, value_name = "COUNT", env = "TNR_MAX_CONNECTIONS", default_value_t = 1024,
          value_parser = positive())]
    pub max_connections: u64,
    /// Timeout for the headers of a request
    #[arg(long, value_name = "SECONDS", env = "TNR_HEADER_TIMEOUT", default_value_t = 30,
          value_parser = positive())]
    header_timeout: u64,
    /// Timeout for the body of a request
    #[arg(long, value_name = "SECONDS", env = "TNR_BODY_TIMEOUT", default_value_t = 60,
          value_parser = positive())]
    body_timeout: u64,
    /// Timeout for an idle connection
    #[arg(long, value_name = "SECONDS", env = "TNR_IDLE_TIMEOUT", default_value_t = 75,
          value_parser = positive())]
    idle_timeout: u64,
}

impl ConnectionArgs {
    /// The time that a connection may wait for its client.
    pub fn timeouts(&self) -> Timeouts {
        Timeouts {
            header: Duration::from_secs(self.header_timeout),
            body: Duration::from_secs(self.body_timeout),
            idle: Duration::from_secs(self.idle_timeout),
        }
    }
}

/// Ten million seconds are months, and more connections than that no system has.
fn positive() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=10_000_000)
}

/// The choice to give a database without data the sample, and a key that is printed.
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// Import the sample into a database without data, and print a key; the default for the embedded
    /// database. It wins over --no-sample
    #[arg(long)]
    sample: bool,
    /// Import nothing, and make no key; the default with --endpoint-url
    // The two do not conflict for clap, which would also refuse the one beside the variable of the
    // other.
    #[arg(long, env = "TNR_NO_SAMPLE", value_parser = BoolishValueParser::new())]
    no_sample: bool,
}

impl ServeArgs {
    /// Returns `true` if the server is to be tried out, with the sample and a key of its own.
    pub fn is_trial(&self) -> bool {
        // A variable that names no address is refused when the database is opened.
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
    /// The file to write, or with --verify to read
    pub file: PathBuf,
    /// Only check a file that `backup` wrote
    #[arg(long, conflicts_with_all = ["force", "data_dir"])]
    pub verify: bool,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// A file that `backup` wrote
    pub file: PathBuf,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// A base path begins with a slash, ends without one, and needs no encoding.
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
    fn only_the_embedded_database_gets_the_sample_unasked() {
        let elsewhere = ["--endpoint-url", "http://database:8000"];
        assert!(is_trial(&[]));
        assert!(!is_trial(&["--no-sample"]));
        assert!(!is_trial(&elsewhere));
        assert!(is_trial(&[&elsewhere[..], &["--sample"]].concat()));
        assert!(is_trial(&["--no-sample", "--sample"]) && is_trial(&["--sample", "--no-sample"]));
    }

    #[test]
    fn a_base_path_needs_no_encoding_and_has_no_slash_at_its_end() {
        for valid in ["/numbers", "/apis/tnr-2", "/~team/v1.0"] {
            assert_eq!(base_path(valid).unwrap(), valid);
        }
        for invalid in ["", "/", "numbers", "/numbers/", "/a//b", "/a b", "/{a}", "/<a>", "/a?b"] {
            assert!(base_path(invalid).is_err(), "{invalid}");
        }
    }
}
