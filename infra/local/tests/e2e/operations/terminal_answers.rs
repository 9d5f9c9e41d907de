//! `tnr lookup`, `carrier`, `area-code` and `search`, as a person reads their answers.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    databases::write_sample_into,
    program::{Serving, program_on, run, stderr, stdout},
};

fn sample_folder() -> TempDir {
    let data_dir = TempDir::new().unwrap();
    write_sample_into(data_dir.path());
    data_dir
}

#[test]
fn answers_are_short_aligned_and_name_the_next_command() {
    let data_dir = sample_folder();
    let commands: [&[&str]; 16] = [
        &["lookup", "+1 415 234 1234"],
        &["lookup", "4152341234 x42"],
        &["lookup", "020 7946 0958", "--country", "gb"],
        &["lookup", "+18005551234"],
        &["lookup", "415-234-567"],
        &["lookup", "+1 876 555 1234"],
        &["lookup", "hello"],
        &["carrier", "0230"],
        &["carrier", "sample"],
        &["carrier", "wireless", "--state", "ny", "--limit", "3"],
        &["carrier", "no such carrier"],
        &["area-code", "415", "--limit", "5"],
        &["area-code", "415", "234"],
        &["area-code", "600"],
        &["search", "san rafael", "--state", "CA", "--limit", "4"],
        &["search", "--rate-center", "no such place"],
    ];
    let mut answers = String::new();
    for command in commands {
        let output = run(&data_dir, command);
        let quoted: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
        answers += &format!("$ tnr {}\n{}\n", quoted.join(" "), stdout(&output));
        let noted = stderr(&output);
        assert!(
            noted.starts_with("note: made-up sample; ") && noted.lines().count() == 1,
            "{noted}"
        );
    }
    insta::assert_snapshot!(answers);
}

#[tokio::test]
async fn json_is_what_the_api_answers_even_while_the_folder_is_served() {
    let data_dir = sample_folder();
    let serving = Serving::on(&data_dir, &[]).await;
    let pairs: [(&[&str], &str); 7] = [
        (&["carrier", "0230"], "/v1/carrier/0230"),
        (&["carrier", "sample", "tel"], "/v1/carriers?q=sample%20tel"),
        (
            &["carrier", "sample", "--type", "ilec", "--limit", "2", "--offset", "3"],
            "/v1/carriers?q=sample&type=ilec&limit=2&offset=3",
        ),
        (&["area-code", "415"], "/v1/npa/415"),
        (&["area-code", "415", "234"], "/v1/npa/415/nxx/234"),
        (&["area-code", "415", "--limit", "1000"], "/v1/npa/415?limit=1000"),
        (
            &["search", "san", "--state", "CA", "--status", "assigned", "--limit", "7"],
            "/v1/search?q=san&state=CA&status=assigned&limit=7",
        ),
    ];
    for (command, path) in pairs {
        let printed = stdout(&run(&data_dir, &[command, &["--json"]].concat()));
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(printed, serving.get(path).await, "{path}");
    }
    let both = stdout(&run(&data_dir, &["lookup", "(415) 234-1234", "--json"]));
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both["format"], serving.get_without_flags("/v1/format/4152341234").await);
    assert_eq!(both["lookup"], serving.get("/v1/lookup/4152341234").await);
    let abroad = stdout(&run(&data_dir, &["lookup", "+442079460958", "--json"]));
    assert!(abroad.ends_with(",\"lookup\":null}\n"), "{abroad}");
}

#[test]
fn json_has_flags_if_it_is_known_where_their_images_are() {
    let data_dir = sample_folder();
    let mut command = program_on(&data_dir, &["lookup", "(415) 234-1234", "--json"]);
    let output = command.env("FLAGS_BASE_URL", "https://cdn.example/flags").output().unwrap();
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let svg = &answer["format"]["flags"]["state"]["svg"];
    assert_eq!(svg, "https://cdn.example/flags/states/CA.svg");
}

#[test]
fn what_is_refused_ends_with_its_message_and_a_code() {
    let data_dir = sample_folder();
    let refusals: [(&[&str], i32, &str); 10] = [
        (&["carrier", "ZZZZ"], 1, "no carrier found with OCN ZZZZ"),
        (&["area-code", "999"], 1, "no data found for NPA 999"),
        (&["area-code", "415", "999"], 1, "no data found for NPA-NXX 415-999"),
        (&["area-code", "41"], 2, "npa must be exactly 3 digits, got '41'"),
        (&["area-code", "415", "\u{1b}[31m"], 2, "nxx must be exactly 3 digits, got '\\u{1b}[31m'"),
        (&["area-code", "415", "--limit", "0"], 2, "limit must be a positive integer, got '0'"),
        (&["lookup", "1", "--country", "UK"], 2, "invalid value 'UK' for '--country <CODE>': not"),
        (&["search"], 2, "the following required arguments were not provided"),
        (&["search", "--type", "mobile"], 2, "type must be one of ILEC, CLEC"),
        (&["carrier", "sample", "--state", "XX"], 2, "state must be"),
    ];
    for (command, code, message) in refusals {
        let refused = run(&data_dir, command);
        let error = stderr(&refused);
        assert_eq!(refused.status.code(), Some(code), "{command:?}: {error}");
        assert!(error.contains(&format!("error: {message}")), "{command:?}: {error}");
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn without_data_the_next_step_is_named_and_nothing_is_made() {
    let data_dir = TempDir::new().unwrap();
    for command in [&["lookup", "4152341234"][..], &["search", "a"], &["area-code", "415"]] {
        let refused = run(&data_dir, command);
        assert_eq!(refused.status.code(), Some(1));
        let error = stderr(&refused);
        assert!(error.contains("error: there is no numbering data yet in folder '"), "{error}");
    }
    assert_eq!(fs::read_dir(data_dir.path()).unwrap().count(), 0);
}

#[test]
fn commands_wait_for_each_other() {
    let data_dir = sample_folder();
    let path: &Path = data_dir.path();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut command = crate::support::program::program(&["area-code", "415", "234"]);
                let output = command.arg("--data-dir").arg(path).output().unwrap();
                assert!(stdout(&output).starts_with("415  California"));
            });
        }
    });
}
