//! Reports as text, and the records that they produce.

use std::fmt::Write;

use jiff::Timestamp;
use numbering::records::{Country, RecordKey};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    assemble::{assemble, blocks_in},
    reports::{REPORTS, ReportRows},
    *,
};

/// Cases in the form `= title`, then `@ report` before the rows of each report. The rows have a standard header, and
/// `|` for a tab. After `@ report!` comes a whole file.
const CASES: &str = include_str!("tests/cases.txt");

fn standard_header(report: &str) -> &'static str {
    match report {
        "nanpa" => "State|NPA-NXX|OCN|Company|RateCenter|Use|AssignDate\n",
        "cnac" => "NPA,NXX,Status,Exchange Area,Province,Company,OCN\n",
        "npa_report" => "NPA_ID,LOCATION,COUNTRY,IN_SERVICE\n",
        "carriers" => "ocn,company_name,common_name,carrier_type,state,country\n",
        "thousands_blocks" => {
            "State,NPA,NXX,X,STATUS,Assigned To,OCN,Rate Center,Block Effective Date\n"
        }
        "canadian_blocks" => {
            "NPA,NXX,Block,Status,Block Holder,Block Holder OCN,Block Effective Date\n"
        }
        other => panic!("{other}"),
    }
}

/// Removes fields without information.
fn prune(value: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, prune(value)));
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        value => value,
    }
}

/// The records of a case, and its errors, skipped rows and warnings.
fn describe(case: &str) -> String {
    let (title, sections) = case.split_once('\n').unwrap();
    let (mut rows, mut notes) = (ReportRows::default(), Notes::default());
    let mut text = format!("= {title}\n");
    for section in sections.split("@ ").skip(1) {
        let (report, body) = section.split_once('\n').unwrap();
        let name = report.trim_end_matches('!');
        let header = if report.ends_with('!') { "" } else { standard_header(name) };
        let file = format!("{header}{body}").replace('|', "\t");
        let is_named = |it: &&reports::Report| it.format.name.to_string() == name;
        match REPORTS.iter().find(is_named).unwrap().read(file.as_bytes(), &mut notes, |_| ()) {
            Ok((read, _)) => rows.append(read),
            Err(error) => writeln!(text, "error: {error}").unwrap(),
        }
    }
    for record in assemble(rows, &mut notes).records() {
        // Without that section, an area code only repeats its exchange.
        if sections.contains("npa_report") || !matches!(record.key(), RecordKey::AreaCode(_)) {
            writeln!(text, "{}", prune(serde_json::to_value(&record).unwrap())).unwrap();
        }
    }
    for (name, findings) in &notes.reports {
        for (reason, count) in &findings.skipped {
            writeln!(text, "skipped {count} in {name}: {reason}").unwrap();
        }
    }
    for (kind, Warning { count, examples }) in &notes.warnings {
        writeln!(text, "warning ({count}): {kind}: {}", examples.join("; ")).unwrap();
    }
    text
}

#[test]
fn records_follow_from_the_rows_of_all_reports() {
    let cases: Vec<String> = CASES.split("= ").skip(1).map(describe).collect();
    insta::assert_snapshot!(cases.join("\n"));
}

const NANPA: &str = "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tUse\tIn Service File Updated 09/04/2026\n\
                     CA\t415-200\t6010\tAT&T\tSNFC CNTRL\tAS\tYes\n";
const CNAC: &str = "NPA,NXX,Status,Exchange Area,Province,Company,OCN\n\
                    416,200,In Service,Toronto,ON,Bell Canada,8051\n";
const NPA_REPORT: &str = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE\n\
                          415,CA,US,Y\n416,ONTARIO,CANADA,Y\n";
const US_BLOCKS: &str = "State,NPA,NXX,X,STATUS,Assigned To,OCN,Rate Center,Block Effective Date\n\
                         CA,415,200,3,AS,AT&T,6010,SNFC CNTRL,07/01/2026\n";
const CANADIAN_BLOCKS: &str = "NPA,NXX,Block,Status,Block Holder OCN\n416,200,4,AS,8303\n";
const REQUIRED: [(ReportName, &str); 3] =
    [(ReportName::Nanpa, NANPA), (ReportName::Cnac, CNAC), (ReportName::NpaReport, NPA_REPORT)];

fn sources(blocks: &[(ReportName, &'static str)]) -> Sources {
    let all = REQUIRED.iter().chain(blocks);
    all.map(|&(name, text)| (name, Source::Embedded(text.as_bytes()))).collect()
}

#[tokio::test]
async fn each_report_is_described_by_its_source_bytes_date_and_time() {
    let now = Timestamp::constant(1_780_000_000, 0);
    let options = Options { now, ..Options::default() };
    let mut notes = Notes::default();
    let sources = sources(&[(ReportName::ThousandsBlocks, US_BLOCKS)]);
    let (rows, reports) = read_sources(&sources, options, &mut notes, &|_| ()).await.unwrap();
    assert_eq!((rows.codes.len(), rows.area_codes.len(), rows.blocks.len()), (2, 2, 1));
    let reports = serde_json::to_string_pretty(&reports.0).unwrap();
    insta::assert_snapshot!(format!("{reports}\n{:?}", notes.warnings));
    let sha256 = Sha256::digest(NANPA).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(reports.contains(&sha256));
}

#[tokio::test]
async fn only_block_reports_may_be_unreadable() {
    const NO_REPORT: &str = "<html>";
    let [us, ca] = [ReportName::ThousandsBlocks, ReportName::CanadianBlocks];
    for (blocks, unread, read) in [
        (&[(us, US_BLOCKS), (ca, NO_REPORT)][..], &[Country::Ca][..], 1),
        (&[(us, NO_REPORT)], &[Country::Us], 0),
        (&[], &[], 0),
    ] {
        let (mut notes, options) = (Notes::default(), Options::default());
        let sources = sources(blocks);
        let (rows, _) = read_sources(&sources, options, &mut notes, &|_| ()).await.unwrap();
        assert_eq!((&notes.countries_without_blocks[..], rows.blocks.len()), (unread, read));
    }
    for name in [ReportName::Cnac, ReportName::Carriers] {
        let broken = sources(&[]).with(name, Source::Embedded(NO_REPORT.as_bytes()));
        assert!(read_dataset(&broken).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn block_reports_from_both_countries_are_parsed() {
    let [us, ca] = [ReportName::ThousandsBlocks, ReportName::CanadianBlocks];
    let sources = sources(&[(us, US_BLOCKS), (ca, CANADIAN_BLOCKS)]);
    let dataset = read_dataset(&sources).await.unwrap();
    for (country, expected) in [
        (Country::Us, "415-200-3 6010 Some(\"AT&T\") Some(\"SNFC CNTRL\") Some(2026-07-01)"),
        (Country::Ca, "416-200-4 8303 None None None"),
    ] {
        let [block] = &blocks_in(&dataset, country)[..] else { panic!("{country}") };
        let reports::blocks::AssignedBlock { npa_nxx, digit, ocn, company, rate_center, .. } =
            block;
        let effective = block.effective;
        let found = format!("{npa_nxx}-{digit} {ocn} {company:?} {rate_center:?} {effective:?}");
        assert_eq!((block.country, found.as_str()), (country, expected));
    }
}
