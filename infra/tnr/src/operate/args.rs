//! Arguments for the operator commands.

use std::path::PathBuf;

use clap::Args;

use crate::{
    database::args::{DataArgs, endpoint_url},
    new_file::Replacement,
    serve::args::ApiAddress,
};

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Test the service at this URL, instead of the stack's own URL
    #[arg(long, value_name = "BASE_URL", value_parser = endpoint_url)]
    pub url: Option<String>,
    /// Also test endpoints with this API key
    #[arg(long, value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// Timeout for each group of checks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
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
pub struct FlagsArgs {
    /// Folder to write to, created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
}

#[derive(Debug, Args)]
pub struct CostsArgs {
    /// Requests per month
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub requests: u64,
    /// Percentage of requests that start a container
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percentage)]
    pub cold: f64,
    /// Include traces sent to X-Ray
    #[arg(long)]
    pub tracing: bool,
    /// Include CloudFront and a firewall in front of the API
    #[arg(long)]
    pub edge: bool,
    /// Estimate one day at the deployment's request limits, with the most expensive requests and with
    /// a flood without a key; not available with --edge
    #[arg(long, conflicts_with_all = ["requests", "edge"])]
    pub worst_case: bool,
    /// Print docs/COSTS.md as Markdown
    #[arg(long, conflicts_with_all = ["requests", "cold", "tracing", "edge", "worst_case"])]
    pub markdown: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    let is_valid = |percentage: &f64| (0.0..=100.0).contains(percentage);
    text.parse().ok().filter(is_valid).ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

fn http_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") {
        Ok(text.to_owned())
    } else {
        Err("must start with http://".to_owned())
    }
}
