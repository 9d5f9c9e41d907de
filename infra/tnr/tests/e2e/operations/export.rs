//! `tnr export`: all numbering data as files and as a database.

use std::{fs, path::Path};

use clap::ValueEnum;
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row},
};
use rusqlite::{Connection, types::ValueRef};
use serde_json::Value;
use tempfile::TempDir;
use tnr::data::export::tables::Table;

use crate::support::{
    databases::sample_folder,
    program::{Server, run, sample_file, stderr, stdout},
};

/// A row in a Parquet file as a JSON object.
fn to_object(row: &Row) -> Value {
    let columns = row.get_column_iter().map(|(name, field)| {
        let value = match field {
            Field::Null => Value::Null,
            Field::Long(number) => (*number).into(),
            Field::Str(text) => text.as_str().into(),
            other => panic!("{other}"),
        };
        (name.clone(), value)
    });
    Value::Object(columns.collect())
}

fn export(data_dir: &TempDir, name: &Path, format: &str) {
    let output = run(data_dir, &["export", "--format", format, name.to_str().unwrap()]);
    assert!(stdout(&output).is_empty());
    assert!(stderr(&output).contains("with 3,484 exchanges to "), "{}", stderr(&output));
}

/// Imports the sample with two thousands blocks, of which one starts years from now.
fn import_blocks(data_dir: &TempDir) {
    let blocks = data_dir.path().join("blocks.csv");
    let report = "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n\
                  ,415,206,2,AS,SAN RAFAEL,01/02/2020,SAMPLE,5927\n\
                  ,415,206,3,AS,SAN RAFAEL,01/01/2099,SAMPLE,0230\n";
    fs::write(&blocks, report).unwrap();
    let [nanpa, cnac, npa_report, carriers] =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"]
            .map(sample_file);
    let arguments = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
    let more = ["--carriers", &carriers, "--thousands-blocks", blocks.to_str().unwrap()];
    stdout(&run(data_dir, &[&arguments[..], &more].concat()));
}

/// The rows of a table as JSON Lines on stdout, or in a Parquet file.
fn table_rows(data_dir: &TempDir, table: &str, format: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let arguments = ["export", "--format", format, "--table", table];
    if format == "parquet" {
        let file = folder.path().join("table");
        stdout(&run(data_dir, &[&arguments[..], &[file.to_str().unwrap()]].concat()));
        let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
        return reader.get_row_iter(None).unwrap().map(|row| to_object(&row.unwrap())).collect();
    }
    let text = stdout(&run(data_dir, &arguments));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An object's values as in CSV.
fn as_cells(object: &Value) -> Vec<String> {
    let values = object.as_object().unwrap().values();
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    values.map(text).collect()
}

/// The rows of a table in the exported database.
fn database_rows(database: &Connection, table: &str) -> Vec<Value> {
    let order = if table == "dictionary" { "rowid" } else { "1, 2" };
    let name = table.replace('-', "_");
    let mut select = database.prepare(&format!("SELECT * FROM {name} ORDER BY {order}")).unwrap();
    let names: Vec<String> = select.column_names().into_iter().map(str::to_owned).collect();
    let rows = select.query_map([], |row| {
        let cells = names.iter().enumerate().map(|(column, name)| {
            let value = match row.get_ref(column).unwrap() {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(count) => count.into(),
                other => other.as_str().unwrap().into(),
            };
            (name.clone(), value)
        });
        Ok(Value::Object(cells.collect()))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn every_export_format_contains_every_record_even_while_serving() {
    let data_dir = sample_folder();
    import_blocks(&data_dir);
    let server = Server::on(&data_dir, &[]).await;
    let files = TempDir::new().unwrap();
    let [folder, file] = ["csv", "numbers.sqlite"].map(|name| files.path().join(name));
    export(&data_dir, &folder, "csv");
    export(&data_dir, &file, "sqlite");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 2, "no unfinished file is left");
    let database = Connection::open(file).unwrap();
    for table in Table::value_variants().iter().filter(|table| **table != Table::Provenance) {
        let value = table.to_possible_value().unwrap();
        let table = value.get_name();
        let objects = table_rows(&data_dir, table, "jsonl");
        assert!(!objects.is_empty(), "{table}");
        assert_eq!(table_rows(&data_dir, table, "parquet"), objects, "{table}");
        assert_eq!(database_rows(&database, table), objects, "{table}");
        let printed = stdout(&run(&data_dir, &["export", "--format", "csv", "--table", table]));
        let mut rows = csv::Reader::from_reader(printed.as_bytes());
        let header = rows.headers().unwrap().clone();
        assert!(
            objects.iter().all(|row| header.iter().eq(row.as_object().unwrap().keys())),
            "{table}"
        );
        let cells =
            rows.records().map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
        assert!(cells.eq(objects.iter().map(as_cells)), "{table}");
        if table != "prefixes" {
            let file = fs::read_to_string(folder.join(format!("{table}.csv"))).unwrap();
            assert!(file == printed, "{table}");
        }
    }
    let count = |sql: &str| database.query_one(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_list('blocks')"), 3);
    let stats = server.get("/v1/stats").await;
    assert_eq!(stats["total_records"], count("SELECT count(*) FROM exchanges"));
    let carrier = server.get("/v1/carrier/0230").await;
    let total = count("SELECT total_exchanges FROM carriers WHERE ocn = '0230'");
    assert_eq!(carrier["exchanges"]["total"], total);
    assert_eq!(total, count("SELECT count(*) FROM exchanges WHERE ocn = '0230'"));
    let existing = "SELECT t.name || '.' || c.name || ' ' || c.type FROM sqlite_master t, \
                    pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'";
    let described = "SELECT table_name || '.' || column_name || ' ' || type FROM dictionary";
    for (all, known) in [(existing, described), (described, existing)] {
        assert_eq!(count(&format!("SELECT count(*) FROM ({all} EXCEPT {known})")), 0, "{all}");
    }
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
    for varying in ["data_version", "imported_at", "effective_on", "generator"] {
        provenance[varying] = "".into();
    }
    insta::assert_json_snapshot!(provenance);
    let rows = database_rows(&Connection::open(database).unwrap(), "provenance");
    let caveat = rows.iter().find(|row| row["name"] == "caveat").unwrap();
    assert_eq!(provenance["caveat"], caveat["value"]);
    let printed = table_rows(&data_dir, "provenance", "jsonl");
    assert!(printed.contains(&serde_json::json!({ "name": "exchanges", "value": "3484" })));
}

#[test]
fn exports_replace_files_only_with_force_and_leave_nothing_behind() {
    let data_dir = sample_folder();
    let files = TempDir::new().unwrap();
    let folder = files.path().display().to_string();
    let file = files.path().join("carriers.csv").display().to_string();
    fs::write(&file, "old").unwrap();
    let missing = files.path().join("none/numbers.sqlite").display().to_string();
    for (arguments, message) in [
        (&["csv", &*folder][..], "already exists; pass --force to replace it"),
        (&["csv", "--table", "carriers", &file], "already exists; pass --force to replace it"),
        (&["sqlite", &missing], "cannot write "),
        (
            &["sqlite", "--table", "blocks", "x"],
            "this format is one file with all data; omit --table",
        ),
        (&["csv", "-"], "stdout takes one table"),
        (&["vicidial", "--table", "blocks", "x"], "omit --table"),
    ] {
        let rejected = run(&data_dir, &[&["export", "--format"], arguments].concat());
        assert_eq!(rejected.status.code(), Some(2));
        assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    }
    stdout(&run(&data_dir, &["export", "--format", "csv", "--force", &folder]));
    assert_ne!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 8, "seven tables and their provenance");
    stdout(&run(&data_dir, &["export", "--format", "csv", "--table", "carriers", "/dev/null"]));
}

#[test]
fn vicidial_gets_the_standard_time_of_each_exchange() {
    let data_dir = sample_folder();
    let vicidial = ["export", "--format", "vicidial", "-"];
    let lines = stdout(&run(&data_dir, &vicidial));
    let later = [&vicidial[..], &["--effective-on", "2026-12-25"]].concat();
    assert_eq!(stdout(&run(&data_dir, &later)), lines, "exchanges have no effective day");
    for expected in ["305,234,-5.00,Y,,,PERRINE,FL,,US,C", "415,206,-8.00,Y,,,SAN RAFAEL,CA,,US,"] {
        assert!(lines.lines().any(|line| line == expected), "{expected}");
    }
    assert!(lines.lines().all(|line| line.split(',').count() == 11));
    // Its exchanges are in several zones.
    assert!(!lines.lines().any(|line| line.starts_with("208,")));
}
