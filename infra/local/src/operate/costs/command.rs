//! The `costs` command.

use std::fmt::{self, Write};

use indicatif::HumanCount;

use crate::{
    CliError,
    error::Context,
    operate::args::CostsArgs,
    operate::costs::{Bill, REGION, Usage, YEAR, markdown},
    terminal::{self, width, wrapped},
};

/// Prints one bill, or the document with several.
pub fn print(args: CostsArgs) -> Result<(), CliError> {
    if args.markdown {
        return terminal::print_raw(&markdown::document());
    }
    let table = table(&args).context("cannot print the costs")?;
    terminal::print_raw(&table)
}

fn table(args: &CostsArgs) -> Result<String, fmt::Error> {
    let cold_share = args.cold / 100.0;
    let usage = if args.worst_case {
        Usage::worst_day(cold_share)
    } else {
        Usage::month(args.requests as f64, cold_share)
    };
    let usage = Usage { tracing: args.tracing, edge: args.edge, ..usage };
    let bill = Bill::new(&usage);
    let span = if args.worst_case { "A day" } else { "A month" };
    let requests = HumanCount(usage.requests as u64);
    let mut table = String::new();
    let heading = format!(
        "{span} with {requests} requests, {} % of which start a container; US dollars, {REGION}, list \
         prices of {YEAR} without the free tier but for 100 GB of data out",
        args.cold,
    );
    writeln!(table, "{}", wrapped(&heading, width(), 0))?;
    let requests = ("Requests together".to_owned(), Bill::sum(&bill.of_requests));
    let total = ("Together".to_owned(), bill.total());
    let lines = bill.of_requests.into_iter().chain([requests]).chain(bill.fixed).chain([total]);
    for (what, dollars) in lines {
        writeln!(table, "  {what:<40}{dollars:>12.2}")?;
    }
    Ok(table)
}
