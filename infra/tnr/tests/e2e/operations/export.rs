//! Tests `tnr export`, which writes all numbering data to files and databases.

use std::fs;

use clap::ValueEnum;
use ingest::{Options, ReportName, ingest};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row},
};
use rusqlite::{Connection, types::ValueRef};
use serde_json::Value;
use tempfile::TempDir;
use tnr::{data::export::tables::Table, database::Database};

use crate::support::{
    databases::sample_folder,
    program::{Server, run, stdout},
    small_reports::{ReportSet, source},
};

/// Converts a row in a Parquet file to a JSON object.
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

/// Imports the sample with two thousands blocks added, one of which starts years from now.
async fn import_blocks(data_dir: &TempDir) {
    let report = "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n\
                  ,415,206,2,AS,SAN RAFAEL,01/02/2020,SAMPLE,5927\n\
                  ,415,206,3,AS,SAN RAFAEL,01/01/2099,SAMPLE,0230\n";
    let sources = ReportSet::sample().sources().with(ReportName::ThousandsBlocks, source(report));
    let database = Database::embedded(data_dir.path()).await.unwrap();
    ingest(&database.store(), &sources, Options::default(), |_| ()).await.unwrap();
    database.close().await;
}

/// The rows of a table, read from JSON Lines on stdout or from a Parquet file.
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

/// An object's values, written as in CSV.
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
    import_blocks(&data_dir).await;
    let server = Server::on(&data_dir, &[]).await;
    let files = TempDir::new().unwrap();
    let [folder, file] = ["csv", "numbers.sqlite"].map(|name| files.path().join(name));
    for (format, path) in [("csv", &folder), ("sqlite", &file)] {
        stdout(&run(&data_dir, &["export", "--format", format, path.to_str().unwrap()]));
    }
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
    let provenance = table_rows(&data_dir, "provenance", "jsonl");
    assert!(database_rows(&database, "provenance").iter().all(|row| provenance.contains(row)));
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
