//! Tests unreadable reports that do not stop an import. `operations/sessions/gates.sh` has those that do.

use ingest::{Options, ReportName, ingest};
use jiff::{SignedDuration, Timestamp};
use numbering::records::Country;

use crate::support::{
    service::Service,
    small_reports::{ReportSet, source},
};

#[tokio::test]
async fn unreadable_block_report_leaves_current_blocks_and_other_reports_import() {
    let service = Service::empty().await;
    let store = service.database.store();
    let blocks = "NPA,CO Code (NXX),Block,Status,Block Holder,Block Holder OCN\n\
                  416,234,5,AS,Bloc Ltée,333C\n";
    let renamed = blocks.replace("Block Holder OCN", "Number of the Holder");
    let mut described = Vec::new();
    for (text, hours, unread) in [(blocks, 1, &[][..]), (&*renamed, 0, &[Country::Ca])] {
        let reports = ReportSet::first().sources();
        let sources = reports.with(ReportName::CanadianBlocks, source(text));
        let now = Timestamp::now() - SignedDuration::from_hours(hours);
        let options = Options { now, ..Options::default() };
        let report = ingest(&store, &sources, options, |_| ()).await.unwrap();
        assert_eq!(report.unread_block_reports, unread, "{report:?}");
        let result = service.ok("/v1/format/+14162345678").await;
        assert_eq!(result["carrier"]["ocn"], "333C", "{report:?}");
        let manifest = store.manifest().await.unwrap().unwrap();
        described.push(manifest.current.reports.0[&ReportName::CanadianBlocks].clone());
    }
    assert_eq!((&described[0], described[0].counts["blocks"]), (&described[1], 1));
}
