//! The server to measure: `tnr serve` on a new folder.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// The kernel's clock ticks per second, which are the same on every architecture (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// The published reports, by option.
const REPORTS: [(&str, &str); 4] = [
    ("--nanpa", "CoCodeAssignment_Utilized_AllStates_Public.zip"),
    ("--cnac", "COCodeStatus_ALL.zip"),
    ("--npa-report", "npa_report.csv"),
    ("--carriers", "carriers.csv"),
];

pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    process: Child,
    address: String,
    published: Option<PathBuf>,
}

impl Server {
    /// Starts a server with the sample or, if `TNR_FULL_SCALE_DATA` is a folder with the published reports, with those.
    pub fn start(program: &Path) -> Self {
        let folder = env::temp_dir().join(format!("request_costs-{}", std::process::id()));
        let published = env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from);
        if let Some(reports) = &published {
            let files = REPORTS.map(|(option, file)| [option.into(), reports.join(file)]);
            let import = command(program, &folder, "import").args(files.as_flattened()).output();
            assert!(import.as_ref().is_ok_and(|it| it.status.success()), "{import:?}");
        }
        let mut serve = command(program, &folder, "serve");
        let mut process = serve.args(["--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut next_line = || lines.next().expect("the server starts").unwrap();
        let address = loop {
            if let Some((_, url)) = next_line().split_once("base URL") {
                break url.trim().trim_start_matches("http://").to_owned();
            }
        };
        while !next_line().contains("Ctrl-C") {}
        Self { program: program.to_owned(), folder, process, address, published }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn has_published_data(&self) -> bool {
        self.published.is_some()
    }

    /// Creates a key with these quotas.
    pub fn create_key(&self, quotas: &[&str]) -> String {
        let mut create = command(&self.program, &self.folder, "keys");
        let output = create.args(["create", "--name", "bench"]).args(quotas).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The CPU time that the server has taken so far, including its embedded database.
    pub fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // The name before the parenthesis may contain spaces.
        let fields = stat.rsplit_once(") ").unwrap().1.split(' ');
        let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND)
    }
}

/// A command on the data folder.
fn command(program: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(name).env("TNR_DATA_DIR", folder).stderr(Stdio::null());
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
        _ = fs::remove_dir_all(&self.folder);
    }
}
