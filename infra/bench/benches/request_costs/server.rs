//! The server to measure: `tnr serve` on a new folder, and its clients.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use jiff::Timestamp;
use reqwest::{
    Client, RequestBuilder,
    header::{HeaderMap, HeaderValue},
};
use signed_requests::client_builder;

const ALLOW_ALL: [&str; 2] = ["--allow", "changes,losses,suspect,dates"];

/// The kernel's clock ticks per second, which are the same on every architecture (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

type Reports = [(&'static str, &'static str); 4];
const SAMPLE: Reports = reports("nanpa_utilized_codes.txt", "cnac_co_code_status.csv");
const PUBLISHED: Reports =
    reports("CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip");
const SAMPLE_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tnr/sample");

const fn reports(nanpa: &'static str, cnac: &'static str) -> Reports {
    let (area_codes, carriers) = ("npa_report.csv", "carriers.csv");
    [("--nanpa", nanpa), ("--cnac", cnac), ("--npa-report", area_codes), ("--carriers", carriers)]
}

pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    process: Child,
    base_url: String,
    pub has_published_data: bool,
    /// A time at which another version was current.
    pub past: String,
}

impl Server {
    /// Starts a server with two versions of the sample or, if `TNR_FULL_SCALE_DATA` is a folder with the published
    /// reports, of those.
    pub fn start(program: &Path) -> Self {
        let folder = env::temp_dir().join(format!("request_costs-{}", std::process::id()));
        let published = env::var("TNR_FULL_SCALE_DATA");
        let has_published_data = published.is_ok();
        let reports = if has_published_data { PUBLISHED } else { SAMPLE };
        let reports_folder = published.unwrap_or_else(|_| SAMPLE_FOLDER.to_owned());
        let files =
            reports.map(|(option, file)| [option.into(), Path::new(&reports_folder).join(file)]);
        // The first import omits the carriers file, so the second one changes many records.
        let [first, second] = [&files[..3], &files[..]].map(|files| {
            let mut import = command(program, &folder, "import");
            import.args(files.as_flattened()).args(ALLOW_ALL);
            import
        });
        run(first);
        thread::sleep(Duration::from_secs(1));
        let past = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        thread::sleep(Duration::from_secs(2));
        run(second);
        let mut serve = command(program, &folder, "serve");
        let mut process = serve
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut next_line = || lines.next().expect("the server starts").unwrap();
        let base_url = loop {
            if let Some((_, url)) = next_line().split_once("base URL") {
                break url.trim().to_owned();
            }
        };
        while !next_line().contains("Ctrl-C") {}
        Self { program: program.to_owned(), folder, process, base_url, has_published_data, past }
    }

    pub fn url(&self, target: &str) -> String {
        format!("{}{target}", self.base_url)
    }

    /// Creates a key with these quotas, and a client with it.
    pub fn client(&self, quotas: &[&str]) -> Client {
        let mut create = command(&self.program, &self.folder, "keys");
        create.args(["create", "--name", "bench"]).args(quotas);
        let key = String::from_utf8(run(create)).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", key.trim().parse().unwrap());
        // Compression comes on top.
        headers.insert("accept-encoding", HeaderValue::from_static("gzip"));
        client_builder().default_headers(headers).build().unwrap()
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

fn run(mut command: Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn command(program: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(name).env("TNR_DATA_DIR", folder);
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
        _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sends a request, and returns the response's status and the requests left in the daily quota. Repeats a request
/// whose connection is closed.
pub async fn send(request: &RequestBuilder) -> (u16, Option<i64>) {
    let response = loop {
        if let Ok(response) = request.try_clone().unwrap().send().await {
            break response;
        }
    };
    let remaining = response.headers().get("x-ratelimit-remaining");
    let remaining = remaining.and_then(|value| value.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    _ = response.bytes().await;
    (status, remaining)
}
