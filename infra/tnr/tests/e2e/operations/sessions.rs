//! Runs shell sessions. Each file in `sessions` has commands that run in order in a new folder. Its snapshot has their
//! output and exit codes, except for what differs between runs. `TNR_SESSION=quotas` runs only this session.

use std::{
    cmp::Reverse,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, Mutex},
    thread,
    time::Duration,
};

use regex::Regex;
use tempfile::TempDir;
use tokio::{runtime::Runtime, time::timeout};

use crate::support::{
    databases::write_sample_into,
    listening::serve_files,
    program::{Server, assert_fits, program},
    small_reports::ReportSet,
};

/// Runs before each command. `import first` imports the reports in the folder `first`. `get` prints a response and its
/// status. `await` waits until a condition is true.
const PRELUDE: &str = r#"
import() { reports=$1; shift; tnr import --nanpa $reports/nanpa --cnac $reports/cnac \
    --npa-report $reports/npa_report --carriers $reports/carriers "$@"; }
get() { curl -sS -w '\n%{http_code}\n' -H "x-api-key: $1" "$URL$2"; }
await() { for attempt in $(seq 600); do eval "$1" && return; sleep 0.1; done; echo "still waiting for: $1"; }
"#;

/// Commands whose output must fit a terminal, separated by `|`.
const WIDTH_LIMITED_COMMANDS: &str = "tnr area-code|tnr carrier|tnr costs|tnr doctor|tnr history|tnr holders|tnr keys list|\
    tnr lookup|tnr search|tnr verify|tnr versions";

/// Text that differs between runs, and its replacement.
static VARYING: LazyLock<[(Regex, &str); 11]> = LazyLock::new(|| {
    let patterns = [
        // The progress of a stage appears only on a busy machine.
        (r"(?m)^[A-Z][a-z]+ing( [^:\n]*)?: .*\n", ""),
        (
            r"(?m)^(  (local time|calling hours|since|until|read at|imported at|version)) .*$",
            "$1 ...",
        ),
        (r"tnr_live_[0-9A-Za-z]+", "[key]"),
        (r"\d{8}T\d{6}Z-[0-9A-Za-z]+", "[version]"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "[time]"),
        (r#"("effective_on": )"[^"]+"#, "$1\"[day]"),
        (r"[\d.,]+ ?(ms|s)\b", "[duration]"),
        (r"127\.0\.0\.\d:\d{4,}", "[address]"),
        (r"\b[0-9a-f]{32,}\b", "[hash]"),
        (r#""reset":\d+"#, "\"reset\":[time]"),
        // The first damage that SQLite finds depends on random keys.
        (
            r"damaged: (Tree|Page|Freelist|Rowid|database disk|non-|row |wrong )[^;]*?: Error code 11",
            "damaged: [reason]: Error code 11",
        ),
    ];
    patterns.map(|(pattern, replacement)| (Regex::new(pattern).unwrap(), replacement))
});

/// A folder with the sample in `data`, and a folder for each set of reports.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    write_sample_into(&folder.path().join("data"));
    for (name, reports) in [
        ("first", ReportSet::first()),
        ("second", ReportSet::second()),
        ("sample", ReportSet::sample()),
        ("published", ReportSet::published()),
    ] {
        reports.write_into(&folder.path().join(name));
    }
    folder
}

/// A shell command in the folder. `URL`, `KEY` and `OPS` refer to the server, and `ROOT` to the project's folder.
/// The folder's files are also at the URL `FILES`.
fn shell(folder: &Path, files: &str, command: &str, server: Option<&Server>) -> Command {
    let program = PathBuf::from(program(&[]).get_program());
    let path = format!("{}:{}", program.parent().unwrap().display(), env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{PRELUDE}{command}")]).current_dir(folder).stdin(Stdio::null());
    shell.env_clear().envs([
        ("PATH", &*path),
        ("HOME", "home"),
        ("FILES", files),
        ("ROOT", concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
        ("TNR_DATA_DIR", "data"),
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ]);
    if let Some(server) = server {
        shell.env("URL", &server.base_url).env("KEY", &server.key);
        shell.env("OPS", server.operations_url());
    }
    shell
}

/// A server's output until it is ready, without log lines, which start with the time.
fn banner(output: &str) -> String {
    let banner = output.split_inclusive("Ctrl-C").next().unwrap();
    let lines = banner.lines().filter(|line| !line.starts_with(|it: char| it.is_ascii_digit()));
    lines.map(|line| format!("{line}\n")).collect()
}

/// For a command such as a `serve` that should have failed.
const MAX_TIME: Duration = Duration::from_secs(300);

/// The output of each command in a session. `serve` starts a server; `stop` and `kill` end it.
async fn transcript(commands: &str) -> String {
    let folder = folder();
    let files = serve_files(folder.path().to_owned()).await;
    let shell =
        |command: &str, server: Option<&Server>| shell(folder.path(), &files, command, server);
    let mut server: Option<Server> = None;
    let mut transcript = String::new();
    for command in commands.lines() {
        let printed = match (command.split(' ').next().unwrap(), server.take()) {
            ("serve", _) => {
                let has_address = command.contains("--ops-address");
                let address = if has_address { "" } else { "--ops-address 127.0.0.1:0" };
                let line = format!("exec tnr {command} --port 0 {address}");
                let started = Server::start(&mut shell(&line, None)).await;
                let banner = banner(&started.output());
                fs::write(folder.path().join("banner"), &banner).unwrap();
                server = Some(started);
                // Versions are too wide.
                if command == "serve" {
                    assert_fits(command, &banner);
                }
                banner
            }
            ("stop", running) => format!("{}\n", running.unwrap().interrupt().await),
            ("kill", running) => {
                running.unwrap().kill();
                String::new()
            }
            (_, running) => {
                let mut shell = tokio::process::Command::from(shell(command, running.as_ref()));
                let output = timeout(MAX_TIME, shell.kill_on_drop(true).output()).await;
                let output = output.unwrap_or_else(|_| panic!("'{command}' did not end")).unwrap();
                let printed = String::from_utf8_lossy(&output.stdout);
                let is_fitting =
                    WIDTH_LIMITED_COMMANDS.split('|').any(|start| command.starts_with(start));
                if is_fitting && !command.contains("--csv") {
                    let text = printed.lines().filter(|line| !line.starts_with(['{', '[']));
                    text.for_each(|line| assert_fits(command, line));
                }
                server = running;
                let notes = String::from_utf8_lossy(&output.stderr);
                format!("{printed}{notes}({})\n", output.status)
            }
        };
        let printed = printed.replace(&folder.path().display().to_string(), ".");
        let printed = printed.replace(env!("CARGO_PKG_VERSION"), "[release]");
        let printed = VARYING.iter().fold(printed, |text, (pattern, replacement)| {
            pattern.replace_all(&text, *replacement).into_owned()
        });
        transcript += &format!("$ {command}\n{printed}\n");
    }
    transcript
}

/// With more, sessions would time out on a busy machine.
const CONCURRENT_SESSIONS: usize = 4;

#[test]
fn session_output_matches_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/operations/sessions");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    let wanted = env::var("TNR_SESSION").unwrap_or_default();
    files.retain(|file| file.display().to_string().ends_with(&format!("{wanted}.sh")));
    assert!(!files.is_empty(), "session '{wanted}' does not exist");
    // The longest sessions come first.
    files.sort_by_key(|file| Reverse(fs::metadata(file).unwrap().len()));
    let files = Mutex::new(files.into_iter());
    let next = || files.lock().unwrap().next();
    thread::scope(|threads| {
        for _ in 0..CONCURRENT_SESSIONS {
            threads.spawn(|| {
                while let Some(file) = next() {
                    let name = file.file_stem().unwrap().display().to_string();
                    let commands = fs::read_to_string(file).unwrap();
                    let transcript = Runtime::new().unwrap().block_on(transcript(&commands));
                    insta::assert_snapshot!(name, transcript);
                }
            });
        }
    });
}
