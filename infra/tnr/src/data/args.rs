//! Options for the data commands.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use ingest::{
    CountrySources, DEFAULT_HISTORY_DAYS, Gate, Mirror, ReportName, Source, Sources,
    SupportedCountry, country_sources,
};
use strum::VariantNames;

use crate::{data::report::changes::ChangesFile, database::args::DataArgs};

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    pub reports: ReportSourceArgs,
    /// Allow what a gate refuses: many changes, losses of a state, carrier or area code, suspect values, or
    /// files with an older date or none. A refused import prints the gates to allow
    #[arg(
        long,
        value_name = "GATE",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(Gate::VARIANTS).try_map(|gate| gate.parse::<Gate>())
    )]
    pub allow: Vec<Gate>,
    /// Refuse reports with unknown or missing columns, unknown values, and unreadable reports on
    /// thousands blocks
    #[arg(long)]
    pub strict: bool,
    /// Replace a damaged manifest and start over without the older versions
    #[arg(long)]
    pub replace_manifest: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// A report can be a path, an https:// URL or an s3:// object.
#[derive(Debug, Args)]
pub struct ReportSourceArgs {
    /// Download the reports from NANPA and CNAC, except those passed below
    #[arg(long)]
    pub fetch: bool,
    /// Download from a mirror that serves the files under this URL by their published names
    /// (https://, or http:// on this machine)
    #[arg(long, value_name = "URL", env = "TNR_MIRROR", hide_env_values = true)]
    pub mirror: Option<Mirror>,
    /// NANPA's utilized central office codes, text or zip
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror", "countries", "ranges"])]
    pub nanpa: Option<Source>,
    /// CNAC's CO code status report, CSV or zip
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror", "countries", "ranges"])]
    pub cnac: Option<Source>,
    /// NANPA's area code database, npa_report.csv
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror", "countries", "ranges"])]
    pub npa_report: Option<Source>,
    /// Carrier types and trade names: ocn,company_name,common_name,carrier_type,state,country
    #[arg(long, value_name = "FILE")]
    pub carriers: Option<Source>,
    /// NANPA's thousands block assignments, CSV or zip
    #[arg(long, value_name = "FILE")]
    pub thousands_blocks: Option<Source>,
    /// CNAC's thousands block status, CSV or zip; also downloaded by --fetch
    #[arg(long, value_name = "FILE")]
    pub canadian_blocks: Option<Source>,
    /// With --fetch, also download NANPA's thousands block assignments, a much larger file
    #[arg(long, conflicts_with = "thousands_blocks")]
    pub us_blocks: bool,
    /// Download the number ranges of these countries, such as GB,FR; alone, leaves the reports unchanged
    #[arg(long = "country", value_name = "CODE", value_delimiter = ',')]
    pub countries: Vec<SupportedCountry>,
    /// A country's number ranges as published, such as GB=s7.csv; repeat for several files
    #[arg(long, value_name = "CODE=FILE", value_parser = parse_ranges)]
    pub ranges: Vec<(SupportedCountry, Source)>,
}

/// The name of the option for a report's file.
pub fn report_option(name: ReportName) -> String {
    name.to_string().replace('_', "-")
}

fn parse_ranges(text: &str) -> Result<(SupportedCountry, Source), String> {
    let (code, source) = text.split_once('=').ok_or("must have the form CODE=FILE")?;
    Ok((code.parse()?, source.parse()?))
}

impl ReportSourceArgs {
    pub fn is_fetched(&self) -> bool {
        self.fetch || self.mirror.is_some()
    }

    /// The report files. The first three are required.
    fn files(&self) -> [(ReportName, &Option<Source>); 6] {
        [
            (ReportName::Nanpa, &self.nanpa),
            (ReportName::Cnac, &self.cnac),
            (ReportName::NpaReport, &self.npa_report),
            (ReportName::Carriers, &self.carriers),
            (ReportName::ThousandsBlocks, &self.thousands_blocks),
            (ReportName::CanadianBlocks, &self.canadian_blocks),
        ]
    }

    /// Returns `true` if only other countries are imported.
    pub fn has_only_countries(&self) -> bool {
        let has_files = self.files().iter().any(|(_, source)| source.is_some());
        !has_files && !self.is_fetched() && !self.us_blocks
    }

    /// The required reports without a file, unless they are downloaded.
    pub fn missing_reports(&self) -> Vec<String> {
        let required = self.files().into_iter().take(3);
        let missing = required.filter(|(_, source)| source.is_none() && !self.is_fetched());
        missing.map(|(name, _)| format!("--{}", report_option(name))).collect()
    }

    pub fn country_sources(&self) -> CountrySources {
        let countries = self.countries.iter().copied();
        country_sources(countries, self.ranges.iter().cloned(), self.mirror.as_ref())
    }

    pub fn sources(&self) -> Sources {
        let us_blocks = self.us_blocks.then_some(ReportName::ThousandsBlocks);
        let canadian_blocks = self.is_fetched().then_some(ReportName::CanadianBlocks);
        let fetched_blocks: Vec<_> = us_blocks.into_iter().chain(canadian_blocks).collect();
        let given = self.files().into_iter().map(|(name, source)| (name, source.clone()));
        Sources::from_iter(given).or_published(self.mirror.as_ref(), &fetched_blocks)
    }
}

/// Options for commands that change the data.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Show what would change, record by record, without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Write all added, removed and changed records with their old and new values to this file, as
    /// CSV (.csv) or JSON Lines (.jsonl). The printed report lists only the first 100
    #[arg(long, value_name = "FILE")]
    pub changes: Option<ChangesFile>,
    /// Replace the --changes file if it exists
    #[arg(long, requires = "changes")]
    pub force: bool,
    /// Days of history to keep, including this change; 0 clears it
    #[arg(long, value_name = "DAYS", default_value_t = DEFAULT_HISTORY_DAYS)]
    pub history_days: u16,
    /// Discard the history so far if it is damaged and 'verify --repair' cannot restore it
    #[arg(long)]
    pub restart_history: bool,
    /// Also print completeness, skipped rows and warnings
    #[arg(long, conflicts_with = "json")]
    pub verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Version to roll back to [default: the newest readable one before the current version]
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Options for commands that report on the data.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Print as JSON, with all details
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}
