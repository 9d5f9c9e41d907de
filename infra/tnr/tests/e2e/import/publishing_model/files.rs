//! Five sets of reports for one area code, with exchanges and carriers added, removed and changed between
//! them.

use std::sync::LazyLock;

use ingest::Sources;

use crate::support::small_reports::ReportSet;

pub const FILE_SETS: usize = 5;

/// The exchanges in each set: NXX, OCN, company, rate center and use.
const SETS: [&str; FILE_SETS] = [
    "200,1111,ALPHA,EAST,AS\n201,1111,ALPHA,EAST,AS\n202,2222,BETA,WEST,AS\n203,,,WEST,VC",
    "200,2222,BETA,EAST,AS\n201,1111,ALPHA,EAST,AS\n203,,,WEST,VC\n204,3333,GAMMA,WEST,AS",
    "200,1111,ALPHA,NORTH,AS\n202,2222,BETA TWO,WEST,AS\n205,3333,GAMMA,WEST,RV",
    "201,3333,GAMMA,EAST,AS\n202,3333,GAMMA,WEST,AS\n203,1111,ALPHA,WEST,AS\n204,1111,ALPHA,WEST,AS",
    "200,1111,ALPHA,EAST,AS\n205,2222,BETA,SOUTH,AS",
];

/// Every exchange that appears in at least one set.
pub const NXXS: [&str; 6] = ["200", "201", "202", "203", "204", "205"];
/// Every carrier that appears in at least one set.
pub const OCNS: [&str; 4] = ["1111", "2222", "3333", "9999"];

/// A set's exchanges in 415 by NXX, as `NXX,OCN,company,rate-center`.
pub fn exchanges(set: usize) -> Vec<&'static str> {
    SETS[set].lines().map(|row| row.rsplit_once(',').unwrap().0).collect()
}

pub fn sources(set: usize) -> Sources {
    static SOURCES: LazyLock<Vec<Sources>> = LazyLock::new(|| SETS.map(sources_from).into());
    SOURCES[set].clone()
}

fn sources_from(rows: &str) -> Sources {
    let mut nanpa =
        "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tUse\tFile Updated 01/01/2000\n".to_owned();
    for row in rows.lines() {
        nanpa += &format!("CA\t415-{}\n", row.replace(',', "\t"));
    }
    let cnac = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n\
                416,200,In Service,Toronto,ON,DELTA,9999,\n";
    let npa_report = "File Date,01/01/2000\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE\n\
                      415,CA,US,Y\n416,ONTARIO,CANADA,Y\n";
    let carriers = "ocn,company_name,common_name,carrier_type,state,country\n\
                    1111,ALPHA,Alpha,WIRELESS,CA,US\n9999,DELTA,,CLEC,ON,CA\n";
    let [cnac, npa_report, carriers] = [cnac, npa_report, carriers].map(str::to_owned);
    ReportSet { nanpa, cnac, npa_report, carriers }.sources()
}
