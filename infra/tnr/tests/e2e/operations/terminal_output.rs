//! The output of `tnr lookup` and of the queries.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::terminal::assert_fits;
use crate::support::{
    databases::sample_folder,
    program::{Server, command_for, program, run, stderr, stdout},
};

/// Commands for a shell.
const COMMANDS: &str = r#"
tnr lookup '+1 415 234 1234'
tnr lookup '4152341234 x42'
tnr lookup '020 7946 0958' --country gb
tnr lookup +18005551234
tnr lookup 415-234-567
tnr lookup 415-234-567 --json
tnr lookup '+1 876 555 1234'
tnr lookup hello
tnr lookup 1 --country UK
tnr carrier 0230
tnr carrier sample --limit 3
tnr carrier sample --offset 200
tnr carrier wireless --state ny --limit 3
tnr carrier no such carrier
tnr carrier ZZZZ
tnr carrier spec
tnr carrier sample --state XX
tnr carrier 0230 --as-of 2026-01-01 --state CA
tnr area-code 415 --limit 5
tnr area-code 415 234
tnr area-code 600
tnr area-code 999
tnr area-code 41
tnr area-code 415 999
tnr area-code 415 "$(printf '\033[31m')"
tnr area-code 415 --limit 0
tnr area-codes 212
tnr area-codes 800
tnr area-codes --state NY --limit 3
tnr holders --npa 415 --limit 3
tnr holders --npa 415 --limit 3 --csv
tnr search 'san rafael' --state CA --limit 4
tnr search --rate-center 'no such place'
tnr search qqq --json
tnr search
tnr search --type mobile
tnr history 415
tnr history 415-234
tnr sources
tnr rollback
"#;

/// The start of lines whose text depends on the time.
const TIMES: [&str; 7] = [
    "  local time ",
    "  calling hours ",
    "  version ",
    "  imported at ",
    "  read at ",
    "  since ",
    "  until ",
];

#[test]
fn output_is_short_and_aligned_and_suggests_the_next_command() {
    let data_dir = sample_folder();
    let folder = Path::new(program(&[]).get_program()).parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut responses = String::new();
    for command in COMMANDS.trim().lines() {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &path).env("TNR_DATA_DIR", data_dir.path());
        let output = shell.env_remove("CARGO").env_remove("TNR_ENDPOINT_URL").output().unwrap();
        let response = String::from_utf8_lossy(&output.stdout);
        if !command.contains(" --json") && !command.contains(" --csv") {
            assert_fits(command, &response);
        }
        responses += &format!("$ {command}\n");
        for line in response.lines() {
            let time = TIMES.into_iter().find(|name| line.starts_with(name));
            responses += &time.map_or_else(|| format!("{line}\n"), |name| format!("{name}...\n"));
        }
        let is_shown = |line: &&str| line.starts_with("error: ") || line.ends_with(" shows them");
        for line in stderr(&output).lines().filter(is_shown) {
            responses += &format!("{line}\n");
        }
        responses += &format!("({})\n\n", output.status);
    }
    insta::assert_snapshot!(responses);
    let empty = TempDir::new().unwrap();
    assert_eq!(run(&empty, &["search", "qqq"]).status.code(), Some(2));
}

#[tokio::test]
async fn json_output_equals_api_responses_even_while_the_folder_is_served() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let pairs: [(&str, &str); 5] = [
        ("area-codes 212", "/v1/area-codes/212"),
        ("carrier 0230", "/v1/carrier/0230"),
        ("carrier sample tel", "/v1/carriers?q=sample%20tel&limit=100"),
        ("area-code 415 234", "/v1/npa/415/nxx/234"),
        (
            "search san --state CA --status assigned --limit 7",
            "/v1/search?q=san&state=CA&status=assigned&limit=7",
        ),
    ];
    for (command, path) in pairs {
        let words: Vec<&str> = command.split(' ').chain(["--json"]).collect();
        let printed = stdout(&run(&data_dir, &words));
        let mut printed: Value = serde_json::from_str(&printed).unwrap();
        let mut response = server.get(path).await;
        for list in [&mut printed, &mut response] {
            // The command's own default is the whole list.
            list["pagination"]["limit"].take();
        }
        assert_eq!(printed, response, "{path}");
    }
    let both = stdout(&run(&data_dir, &["lookup", "(415) 234-1234", "--json"]));
    let mut both: Value = serde_json::from_str(&both).unwrap();
    assert!(both["format"].as_object_mut().unwrap().remove("timeZones").is_some());
    let mut from_api = server.get_without_flags("/v1/format/4152341234?include=all").await;
    assert!(from_api.as_object_mut().unwrap().remove("timeZones").is_some(), "times differ");
    assert_eq!(both["format"], from_api);
    assert_eq!(both["lookup"], server.get("/v1/lookup/4152341234").await);
    let mut abroad = command_for(&data_dir, &["lookup", "+442079460958", "--json"]);
    let abroad =
        stdout(&abroad.env("FLAGS_BASE_URL", "https://cdn.example/flags").output().unwrap());
    assert!(abroad.ends_with(",\"lookup\":null}\n"), "{abroad}");
    assert!(abroad.contains("https://cdn.example/flags/countries/GB.svg"), "{abroad}");
}

#[test]
fn lookup_without_data_omits_only_the_location_and_carrier() {
    let data_dir = TempDir::new().unwrap();
    let abroad = run(&data_dir, &["lookup", "+442079460958"]);
    assert!(stdout(&abroad).starts_with("+44 20 7946 0958  valid\n"));
    assert_eq!(stderr(&abroad), "");
    let american = run(&data_dir, &["(305) 234-5678", "--json"]);
    let response: Value = serde_json::from_str(&stdout(&american)).unwrap();
    assert_eq!(response["format"]["formats"]["e164"], "+13052345678");
    let note = stderr(&american);
    assert!(
        note.starts_with("note: folder '") && note.contains("' has no numbering data, so"),
        "{note}"
    );
    assert!(note.contains("'tnr import --fetch --data-dir "), "{note}");
    assert!(!stdout(&run(&data_dir, &["3052345678"])).contains("exchange"), "no exchange is known");
    assert_eq!(fs::read_dir(data_dir.path()).unwrap().count(), 0);
}

#[test]
fn suggested_commands_use_the_same_data_folder() {
    let data_dir = sample_folder();
    let path = data_dir.path().display();
    let found = run(&data_dir, &["lookup", "4152341234"]);
    let next = format!("Next: tnr carrier 4070 --data-dir {path}\n");
    assert!(stdout(&found).contains(&next), "{}", stdout(&found));
    let note = format!("'tnr import --fetch --data-dir {path}'");
    assert!(stderr(&found).contains(&note), "{}", stderr(&found));
    let versions = stdout(&run(&data_dir, &["versions"]));
    assert!(!versions.contains("rollback"), "there is only one version: {versions}");
}
