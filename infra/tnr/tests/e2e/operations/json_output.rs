//! The JSON that commands print equals the API's responses, even while the folder is served.

use std::fs;

use serde_json::Value;

use crate::support::{
    databases::sample_folder,
    program::{Server, command_for, run, stdout},
};

/// Removes fields of an object.
fn without(mut value: Value, fields: &[&str]) -> Value {
    let object = value.as_object_mut().unwrap();
    fields.iter().for_each(|field| _ = object.shift_remove(*field));
    value
}

#[tokio::test]
async fn queries_print_api_responses() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let printed = |command: &str| {
        let words: Vec<&str> = command.split('|').chain(["--json"]).collect();
        serde_json::from_str::<Value>(&stdout(&run(&data_dir, &words))).unwrap()
    };
    for (command, path) in [
        ("area-codes|212", "/v1/area-codes/212"),
        ("carrier|0230", "/v1/carrier/0230"),
        ("carrier|sample|tel", "/v1/carriers?q=sample%20tel&limit=100"),
        ("area-code|415|234", "/v1/npa/415/nxx/234"),
        (
            "search|san|--state|CA|--status|assigned|--limit|7",
            "/v1/search?q=san&state=CA&status=assigned&limit=7",
        ),
    ] {
        let (mut printed, mut response) = (printed(command), server.get(path).await);
        for list in [&mut printed, &mut response] {
            // The command's own default is the whole list.
            list["pagination"]["limit"].take();
        }
        assert_eq!(printed, response, "{path}");
    }
    let both = printed("lookup|(415) 234-1234");
    let times = ["flags", "timeZones"];
    let from_api = server.get("/v1/format/4152341234?include=all").await;
    assert_eq!(without(both["format"].clone(), &times), without(from_api, &times));
    assert_eq!(both["lookup"], server.get("/v1/lookup/4152341234").await);
    let mut abroad = command_for(&data_dir, &["lookup", "+442079460958", "--json"]);
    let abroad = abroad.env("FLAGS_BASE_URL", "https://cdn.example/flags").output().unwrap();
    let abroad = stdout(&abroad);
    assert!(abroad.ends_with(",\"lookup\":null}\n"), "{abroad}");
    assert!(abroad.contains("https://cdn.example/flags/countries/GB.svg"), "{abroad}");
}

#[tokio::test]
async fn formatted_lists_have_the_fields_of_api_responses() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let numbers =
        ["+14152341234", "(305) 234-5678 ext. 42", "020 7946 0958", "hello", "907·217·1234"];
    let list = data_dir.path().join("list.txt");
    fs::write(&list, numbers.join("\n")).unwrap();
    let options = ["format", list.to_str().unwrap(), "--include", "line,assignment"];
    let printed = stdout(&run(&data_dir, &options));
    assert_eq!(printed.lines().count(), numbers.len());
    for (number, line) in numbers.iter().zip(printed.lines()) {
        let encoded = number.replace('+', "%2B").replace(' ', "%20");
        let path = format!("/v1/format?tn={encoded}&include=reason,line,assignment");
        let mut expected = without(server.get(&path).await, &["flags"]);
        if expected["valid"] == false {
            // Nothing in a rejected number may be mistaken for a number.
            expected = without(expected, &["formats"]);
        }
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["tn"], *number);
        assert_eq!(without(line, &["lineNumber", "tn", "verdict"]), expected, "{number}");
    }
}
