//! `tnr export`: all numbering data as files and as a database.

use std::{fs, path::Path};

use rusqlite::{Connection, types::ValueRef};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Server, run, stderr, stdout},
};

const TABLES: [&str; 4] = ["area-codes", "carriers", "exchanges", "blocks"];

fn export(data_dir: &TempDir, name: &Path, format: &str) {
    let name = name.display().to_string();
    let output = run(data_dir, &["export", "--format", format, &name]);
    assert!(stdout(&output).is_empty());
    assert!(stderr(&output).contains("with 3,484 exchanges to "), "{}", stderr(&output));
}

#[tokio::test]
async fn every_export_format_contains_every_record_even_while_serving() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let files = TempDir::new().unwrap();
    let [csv, jsonl, database] =
        ["csv", "jsonl", "numbers.sqlite"].map(|name| files.path().join(name));
    export(&data_dir, &csv, "csv");
    export(&data_dir, &jsonl, "jsonl");
    export(&data_dir, &database, "sqlite");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 3, "no unfinished file is left");

    let database = Connection::open(database).unwrap();
    for table in TABLES {
        let mut reader = csv::Reader::from_path(csv.join(format!("{table}.csv"))).unwrap();
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let lines = fs::read_to_string(jsonl.join(format!("{table}.jsonl"))).unwrap();
        for (format, folder) in [("csv", &csv), ("jsonl", &jsonl)] {
            let printed = run(&data_dir, &["export", "--format", format, "--table", table]);
            let file = fs::read(folder.join(format!("{table}.{format}"))).unwrap();
            assert!(printed.stdout == file, "{table}: {}", stderr(&printed));
        }
        let objects: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), objects.len(), "{table}");
        let name = table.replace('-', "_");
        let mut select = database.prepare(&format!("SELECT * FROM {name}")).unwrap();
        assert_eq!(select.column_names(), header.iter().collect::<Vec<_>>());
        let mut selected = select.query([]).unwrap();
        for (row, object) in rows.iter().zip(&objects) {
            let database_row = selected.next().unwrap().unwrap();
            for (column, (cell, name)) in row.iter().zip(&header).enumerate() {
                let text = match &object[name] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(cell, text, "{table} {name}");
                let stored = match database_row.get_ref(column).unwrap() {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(count) => count.into(),
                    other => other.as_str().unwrap().into(),
                };
                assert_eq!(object[name], stored, "{table} {name}");
            }
        }
        assert!(selected.next().unwrap().is_none());
    }
    let stats = server.get("/v1/stats").await;
    let count = |sql: &str| database.query_one(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(stats["total_records"], count("SELECT count(*) FROM exchanges"));
    let carrier = server.get("/v1/carrier/0230").await;
    let total = count("SELECT total_exchanges FROM carriers WHERE ocn = '0230'");
    assert_eq!(carrier["exchanges"]["total"], total);
    assert_eq!(total, count("SELECT count(*) FROM exchanges WHERE ocn = '0230'"));
    let plan: String = database
        .query_one("EXPLAIN QUERY PLAN SELECT * FROM exchanges WHERE ocn = '0230'", [], |row| {
            row.get(3)
        })
        .unwrap();
    assert!(plan.contains("exchanges_by_ocn"), "{plan}");
}

#[test]
fn an_export_states_its_source_and_limitations() {
    let data_dir = sample_folder();
    let files = TempDir::new().unwrap();
    let [folder, database] = ["csv", "numbers.sqlite"].map(|name| files.path().join(name));
    export(&data_dir, &folder, "csv");
    export(&data_dir, &database, "sqlite");
    let text = fs::read_to_string(folder.join("provenance.json")).unwrap();
    let mut provenance: Value = serde_json::from_str(&text).unwrap();
    let listed = stdout(&run(&data_dir, &["versions", "--json"]));
    let version = &serde_json::from_str::<Value>(&listed).unwrap()[0];
    assert_eq!(provenance["data_version"], version["version"]);
    assert_eq!(provenance["imported_at"], version["ingested_at"]);
    for varying in ["data_version", "imported_at", "generator"] {
        provenance[varying] = "".into();
    }
    insta::assert_json_snapshot!(provenance);
    let database = Connection::open(database).unwrap();
    let caveat: String = database
        .query_one("SELECT value FROM provenance WHERE name = 'caveat'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(provenance["caveat"], caveat);
    let printed = run(&data_dir, &["export", "--format", "jsonl", "--table", "provenance"]);
    assert!(stdout(&printed).contains("{\"name\":\"exchanges\",\"value\":\"3484\"}\n"));
}

#[test]
fn exports_replace_files_only_with_force() {
    let data_dir = sample_folder();
    let files = TempDir::new().unwrap();
    let folder = files.path().display().to_string();
    let file = files.path().join("carriers.csv").display().to_string();
    fs::write(&file, "old").unwrap();
    for arguments in [
        &["export", "--format", "csv", &folder][..],
        &["export", "--format", "csv", "--table", "carriers", &file],
        &["export", "--format", "sqlite", &file],
    ] {
        let rejected = run(&data_dir, arguments);
        let message = "already exists; pass --force to replace it";
        assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        stdout(&run(&data_dir, &[arguments, &["--force"]].concat()));
        assert_ne!(fs::read_to_string(&file).unwrap_or_default(), "old");
        fs::write(&file, "old").unwrap();
    }
    let left = fs::read_dir(files.path()).unwrap().count();
    assert_eq!(left, 5, "the tables and their provenance");
    stdout(&run(&data_dir, &["export", "--format", "csv", "--table", "carriers", "/dev/null"]));
    let missing = files.path().join("none/numbers.sqlite").display().to_string();
    for (arguments, message) in [
        (&["sqlite", &missing][..], "cannot write "),
        (&["sqlite", "--table", "blocks", "x"], "a SQLite database is one file with all tables"),
        (&["csv", "-"], "stdout takes one table"),
    ] {
        let rejected = run(&data_dir, &[&["export", "--format"], arguments].concat());
        assert_eq!(rejected.status.code(), Some(2));
        assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
    }
}
