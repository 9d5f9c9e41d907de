//! A service of Express and libphonenumber-js, which only describes numbers: no key, no quota, no
//! holder of a block. It stands for what one would write in an hour.

use std::{fs, path::Path, process::Command};

use super::{Load, Options, authority, log, measure_server, numbers};
use crate::{Error, process::Process, programs::FOLDER};

pub const NAME: &str = "Express and libphonenumber-js";

const SOURCE: &str = "infra/bench/express";
const FILES: [&str; 3] = ["package.json", "package-lock.json", "server.js"];

/// Installs the service and measures it.
pub async fn measure(options: &Options, loads: &mut Vec<Load>) -> Result<(), Error> {
    let folder = Path::new(FOLDER).join("express");
    install(&folder)?;
    let mut command = Command::new("node");
    command.arg("server.js").current_dir(&folder).env("NODE_ENV", "production");
    let (process, printed) = Process::start_until(&mut command, "base URL", &log("express"))?;
    let authority = authority(printed.value("base URL")?);
    measure_server(options, (NAME, &process, authority), &numbers(), loads).await
}

/// Installs the packages beside the build, so that the sources stay as they are.
fn install(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder)?;
    for file in FILES {
        fs::copy(Path::new(SOURCE).join(file), folder.join(file))?;
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    let output = command.output().map_err(|error| format!("cannot start npm: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().into())
    }
}
