//! Every lookup item compared with the current version of the data, for an operator.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{Drift, Progress, Repair, Verification};

use crate::{LocalError, args::VerifyArgs, commands::import::with_progress, database::Database};

/// Compares every item, rewrites those that differ if asked to, and prints what was found.
///
/// # Errors
/// Returns an error if items differ and are not repaired, nothing has been imported, or the
/// database does not answer.
pub async fn verify(args: VerifyArgs) -> Result<(), LocalError> {
    let repair = if args.repair { Repair::Yes } else { Repair::No };
    let database = Database::open(&args.data).await?;
    let store = database.store();
    let work = async |show: &dyn Fn(Progress)| ingest::verify(&store, repair, None, show).await;
    let verified = with_progress(work).await;
    database.close().await;
    let verification = verified?;
    if args.json {
        let json = serde_json::to_string(&verification);
        println!("{}", json.map_err(LocalError::io("cannot print the result"))?);
    } else {
        print!("{}", table(&verification));
    }
    match (verification.drift.total(), repair) {
        (1.., Repair::No) => Err(LocalError::Drift(verification.drift.total())),
        _ => Ok(()),
    }
}

fn table(verification: &Verification) -> String {
    let mut table = String::new();
    // A String takes whatever is written to it.
    _ = write(&mut table, verification);
    table
}

fn write(table: &mut String, verification: &Verification) -> fmt::Result {
    let Verification { version, items, drift, repaired } = verification;
    let Drift { contradicting, outdated, missing, stray } = *drift;
    writeln!(table, "Version {version}, {} items", HumanCount(*items as u64))?;
    let kinds = [
        (
            "contradicting",
            contradicting,
            "name the version, hold another record; readers believe them",
        ),
        ("outdated", outdated, "name another version; readers answer from memory"),
        ("missing", missing, "records without an item; readers answer from memory"),
        ("stray", stray, "items of no record; readers pass them over"),
    ];
    for (kind, count, meaning) in kinds {
        writeln!(table, "  {kind:<14}{:>10}  {meaning}", HumanCount(count as u64).to_string())?;
    }
    writeln!(table, "  {:<14}{:>10}", "repaired", HumanCount(*repaired as u64).to_string())
}
