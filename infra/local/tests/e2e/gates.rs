//! Reports that read well and are ruined: each is refused with what would move from what to what.

use std::{fs::File, io::Read, path::Path};

use ingest::{ImportReport, Options, Outcome, Quality, Sources, ingest};
use logging::with_causes;
use numbering::records::Country;
use store::Store;
use tnr::sample::sample;
use zip::ZipArchive;

use crate::{
    full_scale,
    service::Service,
    small_set::{Texts, dump, embedded},
};

/// The columns of NANPA's report.
const STATE: usize = 0;
const OCN: usize = 2;
const COMPANY: usize = 3;
const RATE_CENTER: usize = 4;
const USE: usize = 6;

/// A way to ruin the reports, and what has to be said of it.
struct Ruin {
    name: &'static str,
    ruin: fn(&mut Texts),
    /// Against a version of the reports that is whole.
    reasons: &'static [&'static str],
    /// What is said even if nothing came before; empty where nothing can be.
    first_reasons: &'static [&'static str],
}

/// NANPA's report with one cell of each row, not of the header, made from the row's cells.
fn with_cell(text: &str, column: usize, cell: impl Fn(&[&str]) -> String) -> String {
    let rows = text.split_inclusive('\n').enumerate().map(|(n, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        if n == 0 || cells.len() <= column {
            return line.to_owned();
        }
        let changed = cell(&cells);
        let mut cells = cells;
        cells[column] = &changed;
        cells.join("\t")
    });
    rows.collect()
}

/// NANPA's report with the names of two columns swapped, as if the publisher had moved them.
fn with_names_swapped(text: &str, first: usize, second: usize) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let mut names: Vec<&str> = header.split('\t').collect();
    names.swap(first, second);
    format!("{}\n{rows}", names.join("\t"))
}

/// CNAC's report with a column of each row made from what it holds.
fn with_cnac_cell(text: &str, change: impl Fn(&str) -> String) -> String {
    text.split_inclusive('\n')
        .enumerate()
        .map(|(n, line)| if n < 2 { line.to_owned() } else { change(line) })
        .collect()
}

const RUINS: [Ruin; 15] = [
    Ruin {
        name: "no OCN",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, OCN, |_| String::new()),
        reasons: &[
            "the US exchanges with an OCN would fall from",
            "% to 0.0 %, by more than 2 points",
            "the carriers that hold exchanges would shrink from",
            "the share of exchanges with an OCN would move by more than 20 points in",
        ],
        first_reasons: &["only 0 of", "US exchanges with an OCN"],
    },
    Ruin {
        name: "every Use is assigned",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |_| "AS ".to_owned()),
        reasons: &["the US exchanges of status ASSIGNED would rise from", "to 100.0 %"],
        first_reasons: &["the statuses of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "every Use is 'In Service'",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |_| "In Service".to_owned()),
        reasons: &[
            "the US exchanges of status ASSIGNED would fall from",
            "US exchanges (",
            "has status 'ASSIGNED' and would have 'RESERVED'",
        ],
        first_reasons: &["column Use:", "(100.0 %) hold a word that is not known"],
    },
    Ruin {
        name: "one OCN",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, OCN, |_| "6872".to_owned()),
        reasons: &["the different OCNs of US would fall from", "would change, more than 5 %"],
        first_reasons: &["the OCNs of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "states of no state",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, STATE, |_| "ZZ".to_owned()),
        reasons: &["the US exchanges with a state or province would fall from 100.0 % to 0.0 %"],
        first_reasons: &["column State:", "such as 'ZZ' in line 2"],
    },
    Ruin {
        name: "no rate center",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, RATE_CENTER, |_| String::new()),
        reasons: &[
            "the US exchanges with a rate center would fall from",
            "the different rate centers of US would fall from",
        ],
        first_reasons: &["US exchanges with a rate center"],
    },
    Ruin {
        name: "one rate center",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, RATE_CENTER, |_| "PHOENIX".to_owned()),
        reasons: &["the different rate centers of US would fall from"],
        first_reasons: &["the rate centers of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "every Use is vacant",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |_| "VC ".to_owned()),
        reasons: &[
            "the US exchanges of status ASSIGNED would fall from",
            "the US exchanges of status UNASSIGNED would rise from",
        ],
        first_reasons: &["the statuses of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "cut off between two rows",
        ruin: |texts| {
            let lines: Vec<&str> = texts.nanpa.split_inclusive('\n').collect();
            texts.nanpa = lines[..lines.len() * 981 / 1000].concat();
        },
        reasons: &["area codes would lose all exchanges", "set max_shrink (--max-shrink) to 100"],
        first_reasons: &[],
    },
    Ruin {
        name: "statuses in lower case",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |cells| cells[USE].to_lowercase()),
        reasons: &["the US exchanges of status ASSIGNED would fall from"],
        first_reasons: &["column Use:", "raise max_suspect (--max-suspect)"],
    },
    Ruin {
        name: "State and Use swapped",
        ruin: |texts| texts.nanpa = with_names_swapped(&texts.nanpa, STATE, USE),
        reasons: &["the US exchanges of status ASSIGNED would fall from"],
        first_reasons: &["column Use:", "check the order of the header"],
    },
    Ruin {
        name: "Company and RateCenter swapped",
        ruin: |texts| texts.nanpa = with_names_swapped(&texts.nanpa, COMPANY, RATE_CENTER),
        reasons: &["carriers (", "company name of", "rate center of"],
        first_reasons: &["with several company names for one OCN"],
    },
    Ruin {
        name: "French statuses",
        ruin: |texts| {
            texts.cnac = with_cnac_cell(&texts.cnac, |line| {
                line.replace("\"In Service\"", "\"En service\"")
                    .replace("\"Available\"", "\"Disponible\"")
            });
        },
        reasons: &["the CA exchanges of status ASSIGNED would fall from"],
        first_reasons: &["the CNAC code status, column Status:", "not known"],
    },
    Ruin {
        name: "full names of provinces",
        ruin: |texts| {
            texts.cnac = with_cnac_cell(&texts.cnac, |line| {
                let names = [("ON", "Ontario"), ("QC", "Quebec"), ("BC", "British Columbia")];
                names.iter().fold(line.to_owned(), |line, (code, name)| {
                    line.replace(&format!("\"{code}\""), &format!("\"{name}\""))
                })
            });
        },
        reasons: &["the CA exchanges with a state or province would fall from"],
        first_reasons: &["the CNAC code status, column Province:", "not known"],
    },
    Ruin {
        name: "the name of the country",
        ruin: |texts| texts.npa_report = texts.npa_report.replace(",US,", ",United States,"),
        reasons: &["hold a word that is not known, more than 1 %, such as 'United States'"],
        first_reasons: &["column COUNTRY:", "'United States'"],
    },
];

/// Most bytes CloudWatch takes as one event: the Lambda logs its report as one line.
const MOST_LOGGED: usize = 256 * 1024;

async fn import(store: &Store, texts: &Texts, options: Options) -> ImportReport {
    ingest(store, &texts.sources(), options, |_| ()).await.unwrap()
}

fn reason(name: &str, report: ImportReport) -> String {
    match report.outcome {
        Outcome::Refused { reason } => reason,
        other => panic!("{name}: {other:?}"),
    }
}

fn sample_texts() -> Texts {
    let Sources { nanpa, cnac, npa_report, carriers, .. } = sample();
    Texts {
        nanpa: embedded(&nanpa),
        cnac: embedded(&cnac),
        npa_report: embedded(&npa_report),
        carriers: embedded(&carriers.unwrap()),
    }
}

/// Imports `whole` and then each ruin of it; all have to be refused, each for its reasons.
async fn assert_every_ruin_is_refused(service: &Service, whole: &Texts) {
    let store = service.database.store();
    let published = import(&store, whole, Options::default()).await;
    assert_eq!(published.outcome, Outcome::Published);
    for Ruin { name, ruin, reasons, first_reasons } in &RUINS {
        let mut ruined = whole.clone();
        ruin(&mut ruined);
        let report = import(&store, &ruined, Options::default()).await;
        assert_eq!(report.version, published.version, "{name}");
        assert!(report.changes.as_ref().unwrap().total() > 0, "{name}");
        let line = serde_json::to_string(&report).unwrap();
        assert!(line.len() < MOST_LOGGED, "{name}: {} bytes", line.len());
        let reason = reason(name, report);
        eprintln!("{name}:\n{reason}\n");
        for expected in reasons.iter().chain(*first_reasons) {
            assert!(reason.contains(expected), "{name}: no '{expected}' in\n{reason}");
        }
    }
}

#[tokio::test]
async fn every_ruined_report_is_refused_with_what_would_move() {
    assert_every_ruin_is_refused(&Service::empty().await, &sample_texts()).await;
}

#[tokio::test]
async fn a_first_import_is_refused_if_no_report_looks_like_it() {
    let service = Service::empty().await;
    let store = service.database.store();
    for Ruin { name, ruin, first_reasons, .. } in &RUINS {
        if first_reasons.is_empty() {
            continue;
        }
        let mut ruined = sample_texts();
        ruin(&mut ruined);
        let reason = reason(name, import(&store, &ruined, Options::default()).await);
        for expected in *first_reasons {
            assert!(reason.contains(expected), "{name}: no '{expected}' in\n{reason}");
        }
    }
    assert!(store.manifest().await.unwrap().is_none());
    let whole = import(&store, &sample_texts(), Options::default()).await;
    assert_eq!(whole.outcome, Outcome::Published);
}

#[tokio::test]
async fn a_column_given_twice_is_refused_by_name() {
    let service = Service::empty().await;
    let mut texts = sample_texts();
    let doubled = texts.nanpa.split_inclusive('\n').map(|line| {
        let mut cells: Vec<&str> = line.split('\t').collect();
        cells.insert(OCN, cells[OCN]);
        cells.join("\t")
    });
    texts.nanpa = doubled.collect();
    let store = service.database.store();
    let error = ingest(&store, &texts.sources(), Options::default(), |_| ()).await.unwrap_err();
    let expected = "line 1: the header names the column OCN twice, in cells 3 and 4";
    let message = with_causes(&error);
    assert!(message.contains(expected), "{message}");
}

#[tokio::test]
async fn whoever_knows_better_waives_the_gates_that_the_refusal_names() {
    let service = Service::empty().await;
    let store = service.database.store();
    import(&store, &sample_texts(), Options::default()).await;
    let mut texts = sample_texts();
    texts.nanpa = with_cell(&texts.nanpa, OCN, |_| String::new());
    let all = Some("100".parse().unwrap());
    let change = Options { max_change: all, ..Options::default() };
    let still = reason("only changes are waived", import(&store, &texts, change).await);
    assert!(still.contains("--max-suspect") && still.contains("--max-shrink"), "{still}");
    assert!(!still.contains("--max-change"), "{still}");
    let max_shrink = "100".parse().unwrap();
    let waived = Options { max_suspect: all, max_shrink, ..change };
    assert_eq!(import(&store, &texts, waived).await.outcome, Outcome::Published);
}

#[tokio::test]
async fn a_few_changes_of_a_night_pass_every_gate() {
    let service = Service::empty().await;
    let store = service.database.store();
    import(&store, &sample_texts(), Options::default()).await;
    let mut texts = sample_texts();
    let holder = texts.nanpa.lines().find(|line| line.contains("\tAS ")).unwrap();
    let holder: Vec<String> = holder.split('\t').map(str::to_owned).collect();
    let changed = std::cell::Cell::new(0);
    texts.nanpa = with_cell(&texts.nanpa, OCN, |cells| {
        let moves = cells[USE].trim() == "AS" && changed.get() < 15;
        changed.set(changed.get() + u32::from(moves));
        if moves { holder[OCN].clone() } else { cells[OCN].to_owned() }
    });
    let report = import(&store, &texts, Options::default()).await;
    assert_eq!(report.outcome, Outcome::Published);
    assert!(report.changes.unwrap().total() > 10);
}

#[tokio::test]
async fn the_quality_of_a_version_is_kept_with_it_and_compared_with_the_one_before() {
    let service = Service::empty().await;
    let store = service.database.store();
    let first = import(&store, &Texts::first(), Options::default()).await;
    let quality: Quality = store.quality(&first.version.unwrap()).await.unwrap().unwrap();
    assert_eq!(quality.by_country[&Country::Us].records, 135);
    assert_eq!(quality.by_area_code.len(), 2);
    let before = dump(&store).await;
    let dry = Options { dry_run: true, allow_older: true, ..Options::default() };
    let planned = import(&store, &Texts::second(), dry).await;
    assert_eq!(dump(&store).await, before, "a dry run keeps nothing");
    let records = planned.quality.countries[&Country::Us]["records"];
    assert_eq!((records.before, records.after), (Some(135.0), Some(134.0)));
    assert!(planned.quality.area_codes.contains_key(&"416".parse().unwrap()));

    let later = Options { allow_older: true, ..Options::default() };
    let second = import(&store, &Texts::second(), later).await;
    let kept: Quality = store.quality(&second.version.unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.by_country[&Country::Us].records, 134);
    assert_ne!(kept, quality);
}

#[tokio::test]
async fn a_dry_run_lists_each_record_with_old_and_new_values() {
    let service = Service::empty().await;
    let store = service.database.store();
    import(&store, &Texts::first(), Options::default()).await;
    let dry = Options { dry_run: true, ..Options::default() };
    let report = import(&store, &Texts::second(), dry).await;
    let changes: Vec<_> = report.changes.unwrap().iter().collect();
    let told = |key: &str| changes.iter().find(|change| change.key == key).unwrap();
    assert_eq!(told("415-206").change, ingest::ChangeKind::Removed);
    assert_eq!(told("415-207").change, ingest::ChangeKind::Added);
    let total = &told("415").fields["total_exchanges"];
    assert_eq!((total.before.as_deref(), total.after.as_deref()), (Some("135"), Some("134")));
    let status = changes.iter().find(|change| change.fields.contains_key("status")).unwrap();
    assert!(status.fields["status"].before.is_some() || status.fields["status"].after.is_some());
    let renamed = changes.iter().find_map(|change| {
        let name = change.fields.get("company_name")?;
        Some((change.record.name(), name.before.clone()?, name.after.clone()?))
    });
    let (_, before, after) = renamed.unwrap();
    assert_eq!(before, "Sample Telephone Company of Ontario");
    assert_eq!(after, "Sample Bell");
    let differences = &report.differences;
    let counted = [differences.exchanges, differences.carriers, differences.area_codes];
    assert_eq!(changes.len(), counted.iter().map(|delta| delta.total() as usize).sum::<usize>());
}

/// The published reports as text, from a folder that holds them.
fn published_texts(folder: &Path) -> Texts {
    let unpacked = |name: &str| {
        let mut zip = ZipArchive::new(File::open(folder.join(name)).unwrap()).unwrap();
        let mut text = Vec::new();
        zip.by_index(0).unwrap().read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    };
    let text = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap()).into_owned()
    };
    Texts {
        nanpa: unpacked("CoCodeAssignment_Utilized_AllStates_Public.zip"),
        cnac: unpacked("COCodeStatus_ALL.zip"),
        npa_report: text("npa_report.csv"),
        carriers: text("carriers.csv"),
    }
}

#[tokio::test]
async fn every_ruin_of_the_published_reports_is_refused_and_they_follow_the_sample() {
    let Some(folder) = full_scale::folder() else { return };
    let service = Service::with_sample().await;
    let whole = published_texts(&folder);
    assert_every_ruin_is_refused(&service, &whole).await;
    let again = import(&service.database.store(), &whole, Options::default()).await;
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert!(again.quality.area_codes.is_empty(), "nothing moves");
}
