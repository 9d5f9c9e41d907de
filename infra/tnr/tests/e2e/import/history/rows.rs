//! The report rows of the random walk, and their changes, computed with plain loops.

use std::collections::BTreeMap;

use ingest::{ReportName, Sources};
use jiff::{ToSpan, civil::Date};
use rand::{RngExt, rngs::StdRng, seq::IndexedRandom};
use serde_json::Value;

use crate::support::small_reports::source;

/// An overlay. libphonenumber has a wrong time zone for 689, which the oldest code corrects.
pub const NPAS: [&str; 2] = ["407", "689"];
pub const NXXS: [&str; 6] = ["200", "201", "202", "203", "204", "205"];
pub const OCNS: [&str; 4] = ["1111", "2222", "3333", "4444"];
/// An exchange in 407 with a permanent block, because an empty block report counts as unreadable.
const POOLED: &str = "299";
const PLACES: [&str; 3] = ["EAST", "WEST", "SNFC"];

/// The rows for one night.
#[derive(Clone, PartialEq)]
pub struct Rows {
    /// OCN, rate center and state by NPA and NXX.
    exchanges: BTreeMap<(&'static str, &'static str), (&'static str, &'static str, &'static str)>,
    /// The holder of a thousands block in 407, and the day it becomes effective.
    blocks: BTreeMap<(&'static str, u8), (&'static str, Date)>,
    /// Names by OCN.
    names: BTreeMap<&'static str, u32>,
}

/// An exchange with its holders' names.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub ocn: &'static str,
    pub name: String,
    pub place: &'static str,
    pub state: &'static str,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub digit: u8,
    pub ocn: &'static str,
    name: String,
    pub effective: Date,
}

/// An exchange before and after a night.
#[derive(Debug, Clone)]
pub struct Change {
    pub npa: &'static str,
    pub nxx: &'static str,
    before: Option<Row>,
    after: Option<Row>,
}

impl Row {
    /// Returns `true` if the carrier holds the exchange or one of its blocks.
    pub fn is_held_by(&self, ocn: &str) -> bool {
        self.ocn == ocn || self.blocks.iter().any(|block| block.ocn == ocn)
    }
}

impl Change {
    pub fn key(&self) -> String {
        format!("{}-{}", self.npa, self.nxx)
    }

    pub fn kind(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    /// The row before and the row after, if they exist.
    pub fn versions(&self) -> impl Iterator<Item = &Row> {
        [&self.before, &self.after].into_iter().flatten()
    }

    /// Some fields before and after, named as in the API.
    pub fn fields(&self) -> [(&'static str, Value, Value); 4] {
        type Field = (&'static str, fn(&Row) -> &str);
        let fields: [Field; 4] = [
            ("ocn", |row| row.ocn),
            ("company_name", |row| &row.name),
            ("rate_center", |row| row.place),
            ("state", |row| row.state),
        ];
        fields.map(|(name, field)| {
            let value = |row: &Option<Row>| row.as_ref().map(field).into();
            (name, value(&self.before), value(&self.after))
        })
    }
}

impl Rows {
    pub fn first() -> Self {
        let codes = [(NPAS[0], NXXS[0]), (NPAS[1], NXXS[0]), (NPAS[0], POOLED)];
        let exchanges = codes.map(|code| (code, (OCNS[0], PLACES[0], "FL")));
        let blocks = [((POOLED, 0), (OCNS[3], Date::constant(2000, 1, 1)))];
        let names = OCNS.map(|ocn| (ocn, 0));
        Self { exchanges: exchanges.into(), blocks: blocks.into(), names: names.into() }
    }

    /// Makes up to three changes.
    pub fn change(&mut self, random: &mut StdRng, date: Date) {
        for _ in 0..random.random_range(1..4) {
            let code = (*NPAS.choose(random).unwrap(), *NXXS.choose(random).unwrap());
            let ocn = *OCNS.choose(random).unwrap();
            match random.random_range(0..8) {
                0 => _ = self.exchanges.remove(&code),
                1 => *self.names.get_mut(ocn).unwrap() += 1,
                2 => {
                    // Before, on or after the night, which is long enough ago that the date has passed.
                    let effective = date + i64::from(random.random_range(-2..=10)).days();
                    self.blocks.insert((code.1, random.random_range(0..10)), (ocn, effective));
                }
                3 if self.blocks.len() > 1 => _ = self.blocks.pop_first(),
                _ => {
                    let place = *PLACES.choose(random).unwrap();
                    let state = *["FL", "FL", "GA"].choose(random).unwrap();
                    self.exchanges.insert(code, (ocn, place, state));
                }
            }
        }
    }

    fn name(&self, ocn: &str) -> String {
        format!("COMPANY {ocn} {}", self.names[ocn])
    }

    fn row(&self, npa: &str, nxx: &str) -> Option<Row> {
        for ((known_npa, known_nxx), (ocn, place, state)) in &self.exchanges {
            if (*known_npa, *known_nxx) != (npa, nxx) {
                continue;
            }
            let mut blocks = Vec::new();
            for ((block_nxx, digit), (holder, effective)) in &self.blocks {
                if npa == "407" && *block_nxx == nxx {
                    let (name, effective) = (self.name(holder), *effective);
                    blocks.push(Block { digit: *digit, ocn: holder, name, effective });
                }
            }
            return Some(Row { ocn, name: self.name(ocn), place, state, blocks });
        }
        None
    }

    /// The exchanges in an area code, by NXX.
    pub fn exchanges_in(&self, npa: &'static str) -> impl Iterator<Item = (&'static str, Row)> {
        let codes = NXXS.into_iter().chain([POOLED]);
        codes.filter_map(move |nxx| Some((nxx, self.row(npa, nxx)?)))
    }

    /// The exchanges that differ, in order.
    pub fn changes(before: &Self, after: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for npa in NPAS {
            for nxx in NXXS.into_iter().chain([POOLED]) {
                let (before, after) = (before.row(npa, nxx), after.row(npa, nxx));
                if before != after {
                    changes.push(Change { npa, nxx, before, after });
                }
            }
        }
        changes
    }

    pub fn sources(&self) -> Sources {
        let mut nanpa =
            "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tUse\tFile Updated 01/01/2000\n".to_owned();
        for ((npa, nxx), (ocn, place, state)) in &self.exchanges {
            let name = self.name(ocn);
            nanpa += &format!("{state}\t{npa}-{nxx}\t{ocn}\t{name}\t{place}\tAS\n");
        }
        let mut blocks =
            "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n".to_owned();
        for ((nxx, digit), (ocn, effective)) in &self.blocks {
            if self.exchanges.contains_key(&("407", *nxx)) {
                let (name, day) = (self.name(ocn), effective.strftime("%m/%d/%Y"));
                blocks += &format!("FL,407,{nxx},{digit},AS,,{day},{name},{ocn}\n");
            }
        }
        let npa_report = "File Date,01/01/2000\n\
                          NPA_ID,LOCATION,COUNTRY,IN_SERVICE,IN_SERVICE_DT,OVERLAY_COMPLEX\n\
                          407,FL,US,Y,04/16/1988,407/689\n689,FL,US,Y,06/04/2019,407/689\n\
                          416,ONTARIO,CANADA,Y,,\n800,,,Y,,\n";
        let cnac = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n\
                    416,200,In Service,Toronto,ON,DELTA,9999,\n";
        Sources::from_iter([
            (ReportName::Nanpa, source(&nanpa)),
            (ReportName::Cnac, source(cnac)),
            (ReportName::NpaReport, source(npa_report)),
            (ReportName::ThousandsBlocks, source(&blocks)),
        ])
    }
}
