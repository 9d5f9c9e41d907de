//! Rows of the reports joined into records: carriers from the codes they hold and the overlay,
//! exchanges with their carrier's name and type, area codes with their primary state.

mod carriers;

use std::collections::{BTreeMap, BTreeSet};

use numbering::dataset::Dataset;
use numbering::records::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, Ocn, StateCode, Status,
};

use crate::{
    report::Notes,
    reports::{
        Code, cnac, nanpa,
        npa_report::{Entry, Home},
        overlay::Known,
        thousands_blocks::Block,
    },
};

/// How often each value occurs.
type Counts<T> = BTreeMap<T, u32>;

/// What all the reports hold.
#[derive(Default)]
pub(crate) struct Rows {
    pub codes: Vec<Code>,
    pub area_codes: Vec<Entry>,
    pub overlay: Vec<Known>,
    pub blocks: Vec<Block>,
}

/// Joins the rows; the same rows in any order of files always give the same dataset.
pub(crate) fn assemble(rows: Rows, notes: &mut Notes) -> Dataset {
    let Rows { codes, area_codes, overlay, blocks } = rows;
    let codes = of_their_country(codes, &area_codes, notes);
    let codes = distinct(codes, notes);
    let blocks = distinct_blocks(blocks, &codes, notes);
    let carriers = carriers::carriers(&codes, &blocks, overlay, notes);
    let area_codes = self::area_codes(&codes, &area_codes);
    let mut exchanges: BTreeMap<NpaNxx, Exchange> =
        codes.into_iter().map(|code| (code.npa_nxx, exchange(code, &carriers))).collect();
    for block in blocks {
        let exchange = exchanges.get_mut(&block.npa_nxx);
        if let (Some(exchange), Some(carrier)) = (exchange, carriers.get(&block.ocn)) {
            exchange.blocks.insert(block.digit, holder(carrier, block));
        }
    }
    Dataset::new(carriers.into_values().collect(), area_codes, exchanges.into_values().collect())
}

/// The codes that stand in the report of their area code's country: neither report can take over a
/// code of the other's.
fn of_their_country(codes: Vec<Code>, area_codes: &[Entry], notes: &mut Notes) -> Vec<Code> {
    let homes = homes(&codes, area_codes);
    let mut kept = Vec::new();
    for code in codes {
        let home = homes.get(&code.npa_nxx.npa);
        if home == Some(&Home::Of(code.country)) {
            kept.push(code);
            continue;
        }
        let file = match code.country {
            Country::Us => nanpa::FILE,
            Country::Ca => cnac::FILE,
        };
        let why = "the area code is another country's";
        notes.warn(format!("{file}: {why}; the row is left out"), code.npa_nxx);
        notes.skip(format!("{file}: rows of which {why}"));
    }
    kept
}

/// Whose each area code is: what the area code database says, or where it says nothing, the country
/// whose report has most of its codes.
fn homes(codes: &[Code], area_codes: &[Entry]) -> BTreeMap<Npa, Home> {
    let mut counts: BTreeMap<Npa, Counts<Country>> = BTreeMap::new();
    for code in codes {
        *counts.entry(code.npa_nxx.npa).or_default().entry(code.country).or_default() += 1;
    }
    let mut homes: BTreeMap<Npa, Home> = counts
        .into_iter()
        .filter_map(|(npa, countries)| Some((npa, Home::Of(*most_frequent(&countries)?))))
        .collect();
    let stated = area_codes.iter().filter(|entry| entry.home != Home::Unstated);
    homes.extend(stated.map(|entry| (entry.npa, entry.home)));
    homes
}

/// One row for each block of a US exchange that is there: the blocks of Canada are in no report.
fn distinct_blocks(blocks: Vec<Block>, codes: &[Code], notes: &mut Notes) -> Vec<Block> {
    let exchanges: BTreeMap<NpaNxx, Country> =
        codes.iter().map(|code| (code.npa_nxx, code.country)).collect();
    let mut distinct = BTreeMap::new();
    for block in blocks {
        let (npa_nxx, digit) = (block.npa_nxx, block.digit);
        let country = exchanges.get(&npa_nxx);
        if country.is_none() {
            notes.skip("thousands blocks of exchanges that are in no report");
        } else if country != Some(&Country::Us) {
            let example = format!("{npa_nxx}-{digit}");
            notes.warn("a thousands block is of an exchange in Canada and left out", example);
            notes.skip("thousands blocks of Canadian exchanges");
        } else if distinct.insert((npa_nxx, digit), block).is_some() {
            let example = format!("{npa_nxx}-{digit}");
            notes.warn("a thousands block stands twice; the later row counts", example);
            notes.skip("thousands blocks that stand again further on");
        }
    }
    distinct.into_values().collect()
}

fn holder(carrier: &Carrier, block: Block) -> BlockHolder {
    BlockHolder {
        ocn: carrier.ocn,
        company_name: carrier.company_name.clone(),
        carrier_type: carrier.carrier_type,
        rate_center: block.rate_center,
        effective: block.effective,
    }
}

/// One row for each NPA-NXX; a code nobody holds has no holder.
fn distinct(codes: Vec<Code>, notes: &mut Notes) -> Vec<Code> {
    let mut distinct = BTreeMap::new();
    for code in codes {
        let code = match code.status {
            Status::Unassigned => unheld(code, notes),
            _ => code,
        };
        let npa_nxx: NpaNxx = code.npa_nxx;
        if distinct.insert(npa_nxx, code).is_some() {
            notes.warn("an NPA-NXX stands twice; the later row counts", npa_nxx);
            notes.skip("rows whose NPA-NXX stands again further on");
        }
    }
    distinct.into_values().collect()
}

fn unheld(code: Code, notes: &mut Notes) -> Code {
    if let Some(ocn) = code.ocn {
        let example = format!("{} names OCN {ocn}", code.npa_nxx);
        notes.warn("an unassigned code names a holder, who is left out", example);
    }
    Code { ocn: None, company: None, ..code }
}

/// The value that occurs most; of several, the first in order.
fn most_frequent<T: Ord>(counts: &Counts<T>) -> Option<&T> {
    counts.iter().rev().max_by_key(|&(_, count)| count).map(|(value, _)| value)
}

/// Every area code that has exchanges or is in service.
fn area_codes(codes: &[Code], entries: &[Entry]) -> Vec<AreaCode> {
    let mut area_codes: BTreeMap<Npa, AreaCode> = BTreeMap::new();
    for entry in entries {
        if let Some(country) = entry.country_in_service() {
            area_codes.insert(entry.npa, empty_area_code(entry.npa, country));
        }
    }
    let mut states: BTreeMap<Npa, Counts<StateCode>> = BTreeMap::new();
    for code in codes {
        let npa = code.npa_nxx.npa;
        let area_code = area_codes.entry(npa);
        area_code.or_insert_with(|| empty_area_code(npa, code.country)).total_exchanges += 1;
        if let Some(state) = code.state {
            *states.entry(npa).or_default().entry(state).or_default() += 1;
        }
    }
    for entry in entries {
        if let Some(area_code) = area_codes.get_mut(&entry.npa) {
            area_code.state = entry.states.first().copied();
            area_code.states.extend(&entry.states);
        }
    }
    for (npa, states) in states {
        if let Some(area_code) = area_codes.get_mut(&npa) {
            area_code.state = most_frequent(&states).copied().or(area_code.state);
            area_code.states.extend(states.into_keys());
        }
    }
    area_codes.into_values().collect()
}

fn empty_area_code(npa: Npa, country: Country) -> AreaCode {
    AreaCode { npa, state: None, states: BTreeSet::new(), country, total_exchanges: 0 }
}

fn exchange(code: Code, carriers: &BTreeMap<Ocn, Carrier>) -> Exchange {
    let carrier = code.ocn.and_then(|ocn| carriers.get(&ocn));
    Exchange {
        npa: code.npa_nxx.npa,
        nxx: code.npa_nxx.nxx,
        ocn: code.ocn,
        company_name: carrier.and_then(|carrier| carrier.company_name.clone()).or(code.company),
        carrier_type: carrier.and_then(|carrier| carrier.carrier_type),
        rate_center: code.rate_center,
        state: code.state,
        country: code.country,
        status: code.status,
        blocks: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests;
