//! The `costs` command.

use indicatif::HumanCount;

use crate::{
    CliError,
    operate::{
        args::CostsArgs,
        costs::{Bill, REGION, Usage, YEAR, markdown},
    },
    terminal::{self, width, wrap},
};

pub fn print(args: &CostsArgs) -> Result<(), CliError> {
    terminal::print_raw(&if args.markdown { markdown::document() } else { bills(args) })
}

fn bills(args: &CostsArgs) -> String {
    let cold_share = args.cold / 100.0;
    if args.worst_case {
        let day = bill(args, "A day", Usage::worst_day(cold_share));
        day + "\n" + &bill(args, "A day without a key,", Usage::flood(cold_share))
    } else {
        bill(args, "A month", Usage::month(args.requests as f64, cold_share))
    }
}

fn bill(args: &CostsArgs, span: &str, usage: Usage) -> String {
    let usage = Usage { tracing: args.tracing, edge: args.edge, ..usage };
    let requests = HumanCount(usage.requests() as u64);
    let heading = format!(
        "{span} with {requests} requests, {}% of which start a container; US dollars, {REGION}, {YEAR} \
         list prices, no free tier except 100 GB of data transfer out",
        args.cold,
    );
    let bill = Bill::new(&usage);
    let lines = bill.lines().into_iter();
    let lines = lines.map(|(what, dollars, _)| format!("  {what:<48}{dollars:>12.2}\n"));
    wrap(&heading, width(), 0) + "\n" + &lines.collect::<String>()
}
