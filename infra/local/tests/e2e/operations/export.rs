//! `tnr export`: all numbering data as files and as a database.

use std::{fs, path::Path};

use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use rusqlite::{Connection, types::ValueRef};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Server, run, sample_file, stderr, stdout},
};

const TABLES: [&str; 7] = [
    "area-codes",
    "area-code-states",
    "area-code-overlays",
    "carriers",
    "exchanges",
    "blocks",
    "dictionary",
];

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
    let [csv, jsonl, parquet, database] =
        ["csv", "jsonl", "parquet", "numbers.sqlite"].map(|name| files.path().join(name));
    export(&data_dir, &csv, "csv");
    export(&data_dir, &jsonl, "jsonl");
    export(&data_dir, &parquet, "parquet");
    export(&data_dir, &database, "sqlite");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 4, "no unfinished file is left");

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
        assert!(!rows.is_empty() || table == "blocks", "{table}");
        let file = fs::File::open(parquet.join(format!("{table}.parquet"))).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        let records = file.get_row_iter(None).unwrap().map(|row| to_object(&row.unwrap()));
        assert!(records.eq(objects.iter().cloned()), "{table}");
        let name = table.replace('-', "_");
        let order = if table == "dictionary" { "rowid" } else { "1, 2" };
        let mut select =
            database.prepare(&format!("SELECT * FROM {name} ORDER BY {order}")).unwrap();
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
    let keys =
        |sql: &str| database.prepare(sql).unwrap().query_map([], |_| Ok(())).unwrap().count();
    assert_eq!(keys("PRAGMA foreign_key_check"), 0);
    assert_eq!(keys("PRAGMA foreign_key_list(blocks)"), 3);
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
    for varying in ["data_version", "imported_at", "effective_on", "generator"] {
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
    assert_eq!(left, 8, "the tables and their provenance");
    stdout(&run(&data_dir, &["export", "--format", "csv", "--table", "carriers", "/dev/null"]));
    let missing = files.path().join("none/numbers.sqlite").display().to_string();
    for (arguments, message) in [
        (&["sqlite", &missing][..], "cannot write "),
        (&["sqlite", "--table", "blocks", "x"], "a SQLite database is one file with all tables"),
        (&["csv", "-"], "stdout takes one table"),
        (
            &["csv", "--table", "blocks", "x", "--effective-on", "2026-12-25"],
            "--effective-on is only for --table prefixes and",
        ),
    ] {
        let rejected = run(&data_dir, &[&["export", "--format"], arguments].concat());
        assert_eq!(rejected.status.code(), Some(2));
        assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
    }
}

/// A folder with the sample, and its export as a database in memory.
fn exported_sample() -> (TempDir, Connection) {
    let (data_dir, files) = (sample_folder(), TempDir::new().unwrap());
    let file = files.path().join("numbers.sqlite");
    export(&data_dir, &file, "sqlite");
    let mut database = Connection::open_in_memory().unwrap();
    database.restore("main", file, None::<fn(_)>).unwrap();
    (data_dir, database)
}

#[test]
fn the_dictionary_describes_every_column_of_the_database() {
    let (_, database) = exported_sample();
    let columns = |sql: &str| -> Vec<String> {
        let mut select = database.prepare(sql).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let described = columns(
        "SELECT table_name || '.' || column_name || ' ' || type FROM dictionary ORDER BY 1",
    );
    let existing = columns(
        "SELECT t.name || '.' || c.name || ' ' || c.type FROM sqlite_master t, pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1",
    );
    assert_eq!(described, existing);
    assert!(columns("SELECT description FROM dictionary").iter().all(|it| it.len() > 3));
}

/// The query in docs/EXPORT.md for Asterisk and FreeSWITCH.
const PREFIX_QUERY: &str = "SELECT ocn FROM prefixes WHERE prefix IN (SUBSTR(?1, 1, 8), SUBSTR(?1, 1, 7)) \
                              ORDER BY LENGTH(prefix) DESC LIMIT 1";

/// A report on thousands blocks with random blocks in every 40th exchange of the sample. Some start years from now.
fn random_blocks(database: &Connection, random: &mut StdRng) -> String {
    let sql = "SELECT npa, nxx, rate_center FROM exchanges WHERE status = 'ASSIGNED' AND country = 'US' AND ocn NOT NULL";
    let mut select = database.prepare(sql).unwrap();
    let exchanges =
        select.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
    let exchanges: Vec<[String; 3]> = exchanges.map(Result::unwrap).collect();
    let mut report =
        "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n".to_owned();
    for [npa, nxx, rate_center] in exchanges.iter().step_by(40) {
        for digit in 0..10 {
            let day = ["", "01/02/2020", "01/01/2099"][random.random_range(0..3)];
            let ocn = ["5927", "0230"][random.random_range(0..2)];
            if random.random_bool(0.7) {
                report += &format!(",{npa},{nxx},{digit},AS,{rate_center},{day},SAMPLE,{ocn}\n");
            }
        }
    }
    report
}

#[tokio::test]
async fn longest_prefix_of_random_numbers_is_the_holder_in_the_api() {
    let (data_dir, database) = exported_sample();
    let mut random = StdRng::seed_from_u64(7);
    let [nanpa, cnac, npa_report, carriers] =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"]
            .map(sample_file);
    let files = TempDir::new().unwrap();
    let blocks = files.path().join("blocks.csv");
    let report = random_blocks(&database, &mut random);
    fs::write(&blocks, &report).unwrap();
    let imported = run(
        &data_dir,
        &[
            "import",
            "--nanpa",
            &nanpa,
            "--cnac",
            &cnac,
            "--npa-report",
            &npa_report,
            "--carriers",
            &carriers,
            "--thousands-blocks",
            blocks.to_str().unwrap(),
        ],
    );
    stdout(&imported);
    let file = files.path().join("numbers.sqlite");
    export(&data_dir, &file, "sqlite");
    let database = Connection::open(file).unwrap();
    let pending =
        "SELECT count(*) FROM prefixes WHERE effective_from = '2099-01-01' AND next_ocn NOT NULL";
    let pending: usize = database.query_one(pending, [], |row| row.get(0)).unwrap();
    assert_eq!(pending, report.lines().filter(|line| line.contains("2099")).count());
    let server = Server::on(&data_dir, &[]).await;
    let rows: Vec<&str> = report.lines().skip(1).collect();
    let mut compared = 0;
    for _ in 0..60 {
        let cells: Vec<&str> = rows.choose(&mut random).unwrap().split(',').collect();
        let number = format!("1{}{}{}{:03}", cells[1], cells[2], random.random_range(0..10), 123);
        let formatted = server.get(&format!("/v1/format/+{number}")).await;
        // The API has no carrier for numbers that are not valid.
        if formatted["valid"] == true {
            let found: Option<String> =
                database.query_one(PREFIX_QUERY, [&number], |row| row.get(0)).unwrap();
            assert_eq!(formatted["carrier"]["ocn"].as_str(), found.as_deref(), "{number}");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
    // On a later day, the next holders have the blocks.
    let table = ["export", "--format", "jsonl", "--table", "prefixes"];
    let later = stdout(&run(&data_dir, &[&table[..], &["--effective-on", "2099-01-01"]].concat()));
    let later: Vec<Value> = later.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut select = database.prepare("SELECT coalesce(next_ocn, ocn) FROM prefixes").unwrap();
    let next = select.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    let next: Vec<Value> = next.map(|ocn| Value::from(ocn.unwrap())).collect();
    assert!(later.iter().map(|row| &row["ocn"]).eq(&next));
    assert!(later.iter().all(|row| row["effective_from"].is_null()));
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
    let rejected = run(&data_dir, &["export", "--format", "vicidial", "--table", "blocks", "x"]);
    assert!(stderr(&rejected).contains("omit --table"), "{}", stderr(&rejected));
}
