//! The embedded DynamoDB with the data that is asked for.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    Error,
    options::ProgramArgs,
    process::Process,
    programs::{FOLDER, Programs, log},
};

/// The key of the sample events, which the database of the benchmarks knows.
pub const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

/// Which data the database holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The published reports.
    FullScale,
    /// The sample that is part of the project.
    Sample,
}

/// A folder with a database, in which the data is.
#[derive(Debug)]
pub struct DataFolder {
    pub data: Data,
    folder: PathBuf,
    tnr: PathBuf,
}

/// The running embedded DynamoDB.
#[derive(Debug)]
pub struct Database {
    _process: Process,
    pub endpoint: String,
}

impl DataFolder {
    /// Imports the published reports if there are any, which writes nothing if the folder has them
    /// already. Without them, the sample is imported when the database is first started.
    pub fn prepare(args: &ProgramArgs, programs: &Programs) -> Result<Self, Error> {
        let data = if args.reports.is_some() { Data::FullScale } else { Data::Sample };
        let default_folder = match data {
            Data::FullScale => Path::new(FOLDER).join("full-scale"),
            Data::Sample => Path::new(FOLDER).join("sample"),
        };
        let folder = args.database.clone().unwrap_or(default_folder);
        let prepared = Self { data, folder, tnr: programs.tnr.clone() };
        if let Some(reports) = &args.reports {
            prepared.import(reports)?;
        }
        Ok(prepared)
    }

    fn import(&self, reports: &Path) -> Result<(), Error> {
        let report =
            |option: &str, name: &str| [option.into(), reports.join(name).into_os_string()];
        eprintln!("importing the published reports; the first time takes minutes");
        let mut command = self.command("import");
        command
            .args(report("--nanpa", "CoCodeAssignment_Utilized_AllStates_Public.zip"))
            .args(report("--cnac", "COCodeStatus_ALL.zip"))
            .args(report("--npa-report", "npa_report.csv"))
            .args(report("--carriers", "carriers.csv"));
        output(&mut command).map(|_| ())
    }

    /// The command of the local program with this name, on the folder.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.tnr);
        command.arg(name).arg("--data-dir").arg(&self.folder);
        command
    }

    /// Starts the database.
    pub fn start(&self) -> Result<Database, Error> {
        let mut command = self.command("dynamodb");
        command.args(["--port", "0", "--key", KEY]);
        let (process, printed) = Process::start_until(&mut command, "Ctrl-C", &log("dynamodb"))?;
        let endpoint = printed.value("DynamoDB")?.to_owned();
        Ok(Database { _process: process, endpoint })
    }

    /// One sentence about the data. The database has to be running or to have run.
    pub fn description(&self) -> Result<String, Error> {
        let versions: Value = output(self.command("versions").arg("--json"))?.parse()?;
        let records = versions[0]["records"].as_u64().ok_or("the database has no version")?;
        let origin = match self.data {
            Data::FullScale => "the published reports",
            Data::Sample => {
                "the sample; TNR_FULL_SCALE_DATA names a folder with the published reports"
            }
        };
        Ok(format!("{records} exchanges of {origin}."))
    }
}

/// What a command prints.
fn output(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("cannot start {program}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
