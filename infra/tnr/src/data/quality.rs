//! The `quality` command.

use ingest::{Quality, QualityReport};

use crate::{
    CliError,
    data::{args::ReportArgs, numbering_data::NumberingData, report},
};

/// Prints the completeness of the current version, and the largest companies without a carrier type.
pub async fn show(args: ReportArgs) -> Result<(), CliError> {
    let data = NumberingData::load(&args.data).await?;
    let quality = QualityReport::between(None, &Quality::new(&data.dataset));
    report::print(args.json, &quality, |table, it| report::write_quality(table, it, usize::MAX))
}
