use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::*;

const NANPA: &str = "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tUse\tIn Service File Updated 09/04/2026\n\
                     CA\t415-200\t6010\tAT&T\tSNFC CNTRL\tAS\tYes\n";
const CNAC: &str = "NPA,NXX,Status,Exchange Area,Province,Company,OCN\n\
                    416,200,In Service,Toronto,ON,Bell Canada,8051\n";
const NPA_REPORT: &str = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE\n\
                          415,CA,US,Y\n416,ONTARIO,CANADA,Y\n";
const BLOCKS: &str = "State,NPA,NXX,X,STATUS,Assigned To,OCN,Rate Center,Block Effective Date\n\
                      CA,415,200,3,AS,AT&T,6010,SNFC CNTRL,\n";

fn sources(thousands_blocks: Option<&'static str>, canadian: Option<&'static str>) -> Sources {
    let embedded = |text: &'static str| Source::Embedded(text.as_bytes());
    Sources {
        nanpa: embedded(NANPA),
        cnac: embedded(CNAC),
        npa_report: embedded(NPA_REPORT),
        carriers: None,
        thousands_blocks: thousands_blocks.map(embedded),
        canadian_blocks: canadian.map(embedded),
    }
}

#[tokio::test]
async fn each_report_is_described_by_its_source_bytes_date_and_time() {
    let now = Timestamp::constant(1_780_000_000, 0);
    let options = Options { now, ..Options::default() };
    let mut notes = Notes::default();
    let sources = sources(Some(BLOCKS), None);
    let (rows, reports) = read_sources(&sources, options, &mut notes, &|_| ()).await.unwrap();
    assert_eq!((rows.codes.len(), rows.area_codes.len(), rows.blocks.len()), (2, 2, 1));
    for (name, text, date) in [
        (ReportName::Nanpa, NANPA, Some(Date::constant(2026, 9, 4))),
        (ReportName::Cnac, CNAC, None),
        (ReportName::NpaReport, NPA_REPORT, Some(Date::constant(2026, 1, 5))),
        (ReportName::ThousandsBlocks, BLOCKS, None),
    ] {
        let sha256: String =
            Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = ImportedReport {
            address: "the embedded sample".to_owned(),
            date,
            read_at: now,
            bytes: text.len() as u64,
            sha256,
            ..ImportedReport::default()
        };
        assert_eq!(reports.0[&name], expected, "{name:?}");
    }
    assert_eq!(reports.0.len(), 4);
    assert_eq!(notes.warnings["a report has no date"].examples, [cnac::REPORT.file]);
}

#[tokio::test]
async fn an_unreadable_block_report_is_noted_and_does_not_stop_the_others() {
    const NO_REPORT: &str = "<html>";
    for (us, canadian, unread, blocks) in [
        (Some(BLOCKS), Some(NO_REPORT), &[Country::Ca][..], 1),
        (Some(NO_REPORT), None, &[Country::Us], 0),
        (None, None, &[], 0),
    ] {
        let (mut notes, options) = (Notes::default(), Options::default());
        let sources = sources(us, canadian);
        let (rows, _) = read_sources(&sources, options, &mut notes, &|_| ()).await.unwrap();
        assert_eq!((&notes.countries_without_blocks[..], rows.blocks.len()), (unread, blocks));
    }
    let broken = Sources { cnac: Source::Embedded(b"<html>"), ..sources(None, None) };
    assert!(read_dataset(&broken).await.is_err(), "other reports are required");
}
