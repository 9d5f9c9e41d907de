//! The whole service in one process, with the embedded DynamoDB.

use super::{Load, Options, Requests, authority, log, measure_server, numbers};
use crate::{
    Error,
    database::{DataFolder, KEY},
    process::Process,
    requests::{self, CARRIER, EXCHANGE, EXCHANGES, SEARCH_WORDS},
};

pub const NAME: &str = "local server";

/// Measures the local server.
pub async fn measure(
    options: &Options,
    folder: &DataFolder,
    loads: &mut Vec<Load>,
) -> Result<(), Error> {
    let mut command = folder.command("serve");
    command.args(["--port", "0", "--key", KEY]);
    let (process, printed) = Process::start_until(&mut command, "Ctrl-C", &log("serve"))?;
    let authority = authority(printed.value("base URL")?);
    let measured = [EXCHANGE, CARRIER, EXCHANGES, SEARCH_WORDS];
    let others = requests::of_every_kind(folder.data).into_iter();
    let others = others.filter(|request| measured.contains(&request.name));
    let others = others.map(|request| Requests { name: request.name, requests: vec![request] });
    for requests in [numbers()].into_iter().chain(others) {
        measure_server(options, (NAME, &process, authority), &requests, loads).await?;
    }
    Ok(())
}
