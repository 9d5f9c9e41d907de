//! Single items that are damaged in a database whose pages are whole: what goes on working, what names
//! the item, and the one command that mends it.

use std::{fs, process::Output};

use reqwest::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

use super::damaged_folders::{damage_row, folder};
use crate::support::{
    program::{Serving, program, run, stderr, stdout},
    service::http_client,
    small_reports::ReportTexts,
};

/// What is damaged in an item: a bit of a name, a byte that JSON does not have, or the name of the key.
const DAMAGES: [&str; 3] = [
    "item_json = replace(item_json, '\"record\"', '\"recosd\"')",
    "item_json = CAST(replace(item_json, '\"record\"', x'22ff22') AS TEXT)",
    "item_json = replace(item_json, '\"npa_nxx\"', '\"npa_nxp\"')",
];

/// Imports small reports.
fn import(data_dir: &TempDir, more: &[&str]) -> Output {
    let texts = ReportTexts::first();
    let write = |name: &str, text: &str| {
        let file = data_dir.path().join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let (nanpa, cnac) = (write("nanpa", &texts.nanpa), write("cnac", &texts.cnac));
    let npa_report = write("npa_report", &texts.npa_report);
    let files = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
    run(data_dir, &[&files[..], more].concat())
}

fn line_of<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {text}"))
}

#[tokio::test]
async fn a_damaged_lookup_item_is_answered_from_memory_and_rewritten_by_verify_repair() {
    for damage in DAMAGES {
        let (data_dir, database) = folder();
        let lookup = ["lookup", "+14152065555"];
        let before = stdout(&run(&data_dir, &lookup));
        damage_row(&database, &format!("UPDATE exchanges SET {damage} WHERE pk = 'S:415#206'"));
        assert_eq!(stdout(&run(&data_dir, &lookup)), before, "{damage}");

        let found = run(&data_dir, &["verify", "--json"]);
        assert_eq!(found.status.code(), Some(1), "{}", stderr(&found));
        let json: Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!(json["drift"]["unreadable"], 1, "{damage}: {json}");
        let serving = Serving::on(&data_dir, &[]).await;
        let answer = serving.get("/v1/npa/415/nxx/206").await;
        assert_eq!(answer["exchanges"][0]["nxx"], "206", "{damage}: {answer}");
        assert_eq!(serving.get("/health").await["status"], "healthy", "{damage}");
        drop(serving);
        stdout(&run(&data_dir, &["verify", "--repair"]));
        stdout(&run(&data_dir, &["verify"]));
    }
}

#[tokio::test]
async fn a_damaged_key_is_named_and_deleted_by_its_name_and_the_others_go_on_working() {
    let (data_dir, database) = folder();
    let create = |name: &str| {
        let key = stdout(&run(&data_dir, &["keys", "create", "--name", name]));
        key.trim().to_owned()
    };
    let (whole, damaged) = (create("whole"), create("damaged"));
    let prefix = &damaged[..15];
    let damage = "UPDATE api_keys SET item_json = replace(item_json, 'created_at', 'created_by') \
                  WHERE item_json LIKE '%\"damaged\"%'";
    damage_row(&database, damage);

    let listed = run(&data_dir, &["keys", "list"]);
    assert!(stdout(&listed).contains(" whole\n"), "{}", stdout(&listed));
    let warning = format!("warning: key {prefix} is damaged, and its client gets 401; ");
    assert!(stderr(&listed).starts_with(&warning), "{}", stderr(&listed));
    let examined = stdout_of_any(&run(&data_dir, &["doctor"]));
    assert!(line_of(&examined, prefix).contains("this key is damaged"), "{examined}");
    let serving = Serving::on(&data_dir, &[]).await;
    let status = async |key: &str| {
        let request = http_client().get(format!("{}/v1/npa/415", serving.base_url));
        request.bearer_auth(key).send().await.unwrap().status()
    };
    assert_eq!(status(&whole).await, StatusCode::OK);
    assert_eq!(status(&damaged).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&whole).await, StatusCode::OK);
    drop(serving);

    let deleted = stdout(&run(&data_dir, &["keys", "delete", prefix]));
    assert_eq!(deleted, format!("Deleted {prefix}, which was damaged.\n"));
    assert_eq!(stderr(&run(&data_dir, &["keys", "list"])), "");
}

#[tokio::test]
async fn a_damaged_manifest_is_named_with_the_one_command_that_mends_it() {
    let data_dir = TempDir::new().unwrap();
    let key = stdout(&run(&data_dir, &["keys", "create", "--name", "client"])).trim().to_owned();
    stdout(&import(&data_dir, &[]));
    let manifest = "UPDATE dataset SET item_json = replace(item_json, 'current', 'currenu') \
                    WHERE pk = 'S:manifest'";
    let database = data_dir.path().join("dynamodb.sqlite");
    damage_row(&database, manifest);

    let remedy = "'tnr import --fetch --replace-manifest'";
    for command in [&["versions"][..], &["verify"], &["rollback"], &["lookup", "+14152065555"]] {
        let failed = run(&data_dir, command);
        assert_eq!(failed.status.code(), Some(2), "{command:?}");
        assert!(stderr(&failed).contains(remedy), "{command:?}: {}", stderr(&failed));
    }
    let refused = import(&data_dir, &[]);
    assert!(!refused.status.success() && stderr(&refused).contains(remedy), "{}", stderr(&refused));
    let serving = Serving::on(&data_dir, &[]).await;
    let answer = async |path: &str| {
        let request = http_client().get(format!("{}{path}", serving.base_url)).bearer_auth(&key);
        let response = request.send().await.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    let (status, health) = answer("/health").await;
    assert_eq!((status.as_u16(), &health["status"]), (503, &"unhealthy".into()));
    let (status, body) = answer("/v1/npa/415").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("has to be imported again"), "{message}");
    drop(serving);

    let mended = stdout(&import(&data_dir, &["--replace-manifest"]));
    assert!(mended.contains("the manifest could not be read and is replaced"), "{mended}");
    let again = stdout(&import(&data_dir, &["--replace-manifest"]));
    assert!(!again.contains("is replaced"), "one that can be read stays: {again}");
    assert!(stdout(&run(&data_dir, &["versions"])).starts_with("* "));
    stdout(&run(&data_dir, &["verify"]));
    assert!(stdout(&run(&data_dir, &["keys", "list"])).contains(" client\n"), "the keys stay");
}

/// What a command printed, whether it succeeded or not.
fn stdout_of_any(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn with_every_version_damaged_health_and_readiness_fail_and_an_import_mends_it() {
    let (data_dir, database) = folder();
    let damage = "UPDATE dataset SET item_json = replace(item_json, substr(item_json, 400, 4), 'AAAA') \
                  WHERE pk LIKE '%#0000'";
    damage_row(&database, damage);
    let serving = Serving::on(&data_dir, &["--ops-address", "127.0.0.1:0"]).await;
    let ready = http_client().get(format!("{}/ready", serving.operations_url()));
    let ready = ready.send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    let health = format!("{}/health", serving.base_url);
    let asked = program(&["health", &health]).output().unwrap();
    assert_eq!(asked.status.code(), Some(1), "{}", stderr(&asked));
    assert!(stdout_of_any(&asked).contains("unhealthy"), "{}", stdout_of_any(&asked));
    let answer = serving.get("/v1/npa/415").await;
    assert!(answer["message"].as_str().unwrap().contains("has to be imported again"), "{answer}");
    drop(serving);

    stdout(&import(&data_dir, &["--allow-older"]));
    let serving = Serving::on(&data_dir, &[]).await;
    assert_eq!(serving.get("/v1/npa/415").await["npa"], "415");
    assert_eq!(serving.get("/health").await["status"], "healthy");
}
