use std::{env, path::PathBuf};

use logging::with_causes;
use numbering::ranges::{Range, RangeFacts};

use super::*;

async fn read(country: &str, sources: Vec<Source>) -> Result<ParsedCountry, IngestError> {
    let description = country.parse::<SupportedCountry>().unwrap().description();
    let options = Options { now: "2026-11-01T00:00:00Z".parse().unwrap(), ..Options::default() };
    read_country(description, &sources, options, &|_| ()).await
}

/// A country's files in the `samples` folder, in the published layout.
fn samples(country: &str) -> Vec<Source> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/countries/samples");
    let files = folder.join(country.to_lowercase()).read_dir().unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(Source::File).collect()
}

fn line(Range { from, to, facts }: Range<&RangeFacts>) -> String {
    let RangeFacts { range_use, status, holder, effective_from, place } = facts;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let date = effective_from.map_or(String::new(), |date| date.to_string());
    format!(
        "{from}-{to} {range_use} | {} | {} | {date} | {}\n",
        text(status),
        text(holder),
        text(place)
    )
}

#[tokio::test]
async fn samples_from_every_country_are_parsed() {
    let mut text = String::new();
    for country in SupportedCountry::all() {
        let read = read(country.code(), samples(country.code())).await.unwrap();
        text += &format!("{} {:?}\n", country.code(), read.imported.counts);
        text.extend(read.ranges.iter().map(line));
        for (kind, warning) in &read.rows.warnings {
            text += &format!("  {kind}: {}\n", warning.examples.join("; "));
        }
        text.extend(read.rows.skipped.iter().map(|(reason, rows)| format!("  {rows} {reason}\n")));
    }
    insta::assert_snapshot!(text);
}

/// Compares published files with counts from an independent program.
#[tokio::test]
async fn published_files_from_four_countries_are_parsed_in_full() {
    let Ok(folder) = env::var("TNR_FULL_SCALE_DATA") else { return };
    for (country, file, rows, unknown) in [
        ("ES", "ES-cnmc-2025-10-bd-num.zip", 12_882, 0),
        ("FR", "FR-arcep-2026-04.zip", 19_991, 282),
        ("GB", "GB-ofcom-2025-09.zip", 45_400, 0),
        ("RU", "RU-DEF-9xx-2026.zip", 17_059, 0),
    ] {
        let source = Source::File(PathBuf::from(&folder).join("world").join(file));
        let ParsedCountry { ranges, rows: found, .. } = read(country, vec![source]).await.unwrap();
        let size = ranges.pack().unwrap().len();
        println!(
            "{country} {} {size} {:?} {:?} {:?}",
            ranges.iter().count(),
            found.skipped,
            found.unknown_values,
            found.warnings
        );
        assert_eq!(
            (found.count, found.unknown_values.values().sum::<u32>()),
            (rows, unknown),
            "{country}"
        );
    }
}

#[tokio::test]
async fn codes_are_unknown_values_without_the_names_file() {
    let without_names =
        samples("FR").into_iter().filter(|it| !it.to_string().contains("identifiants"));
    let ParsedCountry { rows, .. } = read("FR", without_names.collect()).await.unwrap();
    assert_eq!(rows.unknown_values, [("Mnémo".to_owned(), rows.count)].into());
}

#[tokio::test]
async fn errors_distinguish_cells_rows_and_missing_files() {
    let file = |text: &'static str| vec![Source::Embedded(text.as_bytes())];
    let header = "Block Status,CP Name,Non Geo Number Length,Allocation Date,NMS Number Block: Number Block\n";
    let blank = format!("{header}Free,,10 digit numbers,,\n").leak();
    let invisible = format!("{header}Allocated,A\u{200b}B,10 digit numbers,,8081 570\n").leak();
    for (country, text, expected) in [
        ("GB", &*invisible, "line 2, cell 2: contains the invisible character U+200B"),
        ("GB", &*blank, "none of the 1 rows is usable: rows without a valid range"),
        ("FR", "a;b\n", "no usable rows: expected files whose names start with majnum, found the"),
    ] {
        let error = with_causes(&read(country, file(text)).await.err().unwrap());
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn failed_countries_state_the_reason() {
    let report = CountryReport::failed(&IngestError::NothingImported);
    assert_eq!(report.outcome, Outcome::failed(&IngestError::NothingImported));
}
