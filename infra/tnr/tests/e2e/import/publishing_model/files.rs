//! Five sets of reports for one area code, with exchanges and carriers added, removed and changed between
//! them.

use std::{collections::BTreeSet, sync::LazyLock};

use ingest::{ReportName, Sources};

use crate::support::small_reports::source;

pub const FILE_SETS: usize = 5;

/// An exchange in a set: NXX, OCN, company, rate center, use.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SETS: [&[Row]; FILE_SETS] = [
    &[
        ("200", "1111", "ALPHA", "EAST", "AS"),
        ("201", "1111", "ALPHA", "EAST", "AS"),
        ("202", "2222", "BETA", "WEST", "AS"),
        ("203", "", "", "WEST", "VC"),
    ],
    &[
        ("200", "2222", "BETA", "EAST", "AS"),
        ("201", "1111", "ALPHA", "EAST", "AS"),
        ("204", "3333", "GAMMA", "WEST", "AS"),
        ("203", "", "", "WEST", "VC"),
    ],
    &[
        ("200", "1111", "ALPHA", "NORTH", "AS"),
        ("202", "2222", "BETA TWO", "WEST", "AS"),
        ("205", "3333", "GAMMA", "WEST", "RV"),
    ],
    &[
        ("201", "3333", "GAMMA", "EAST", "AS"),
        ("202", "3333", "GAMMA", "WEST", "AS"),
        ("203", "1111", "ALPHA", "WEST", "AS"),
        ("204", "1111", "ALPHA", "WEST", "AS"),
    ],
    &[("200", "1111", "ALPHA", "EAST", "AS"), ("205", "2222", "BETA", "SOUTH", "AS")],
];

/// Every exchange that appears in at least one set.
pub const NXXS: [&str; 6] = ["200", "201", "202", "203", "204", "205"];
/// Every carrier that appears in at least one set.
pub const OCNS: [&str; 4] = ["1111", "2222", "3333", "9999"];
pub const NPAS: [&str; 2] = ["415", "416"];

/// A set's exchanges in 415 by NXX, as `NXX OCN company rate-center`.
pub fn exchanges(set: usize) -> Vec<String> {
    let rows = SETS[set].iter();
    let descriptions = rows
        .map(|(nxx, ocn, company, place, _)| format!("{nxx} {ocn} {company} {place}"))
        .collect::<BTreeSet<String>>();
    descriptions.into_iter().collect()
}

pub fn sources(set: usize) -> Sources {
    static SOURCES: LazyLock<Vec<Sources>> = LazyLock::new(|| SETS.map(sources_from).into());
    SOURCES[set].clone()
}

fn sources_from(rows: &[Row]) -> Sources {
    let mut nanpa =
        "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tUse\tFile Updated 01/01/2000\n".to_owned();
    for (nxx, ocn, company, place, usage) in rows {
        nanpa += &format!("CA\t415-{nxx}\t{ocn}\t{company}\t{place}\t{usage}\n");
    }
    let cnac = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n\
                416,200,In Service,Toronto,ON,DELTA,9999,\n";
    let npa_report = "File Date,01/01/2000\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE\n\
                      415,CA,US,Y\n416,ONTARIO,CANADA,Y\n";
    let carriers = "ocn,company_name,common_name,carrier_type,state,country\n\
                    1111,ALPHA,Alpha,WIRELESS,CA,US\n9999,DELTA,,CLEC,ON,CA\n";
    Sources::from_iter([
        (ReportName::Nanpa, source(&nanpa)),
        (ReportName::Cnac, source(cnac)),
        (ReportName::NpaReport, source(npa_report)),
        (ReportName::Carriers, source(carriers)),
    ])
}
