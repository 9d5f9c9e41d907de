//! The JSON that `tnr format` prints equals the API's responses, even while the folder is served. The session `json`
//! compares the other commands.

use std::fs;

use serde_json::Value;

use crate::support::{
    databases::sample_folder,
    program::{Server, run, stdout},
};

/// Removes fields of an object.
fn without(mut value: Value, fields: &[&str]) -> Value {
    let object = value.as_object_mut().unwrap();
    fields.iter().for_each(|field| _ = object.shift_remove(*field));
    value
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
