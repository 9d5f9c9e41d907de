//! Joins the reports' rows into records: carriers from their codes and the overlay, exchanges with their carrier's name
//! and type, and area codes with their state.

mod carriers;

use std::collections::{BTreeMap, BTreeSet};

use numbering::dataset::Dataset;
use numbering::records::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, Ocn, StateCode, Status,
};

use crate::{
    outcome::Notes,
    reports::{
        CodeRow, cnac, nanpa,
        npa_report::{AreaCodeCountry, AreaCodeRow},
        overlay::OverlayRow,
        thousands_blocks::AssignedBlock,
    },
};

/// The number of times each value occurs.
type Counts<T> = BTreeMap<T, u32>;

/// The rows of all reports.
#[derive(Default)]
pub(crate) struct ReportRows {
    pub codes: Vec<CodeRow>,
    pub area_codes: Vec<AreaCodeRow>,
    pub overlay: Vec<OverlayRow>,
    pub blocks: Vec<AssignedBlock>,
}

/// Joins the rows; deterministic.
pub(crate) fn assemble(rows: ReportRows, notes: &mut Notes) -> Dataset {
    let own_codes = without_foreign_codes(rows.codes, &rows.area_codes, notes);
    let codes = without_repeated_codes(own_codes, notes);
    let blocks = valid_blocks(rows.blocks, &codes, notes);
    let carriers = carriers::carriers(&codes, &blocks, rows.overlay, notes);
    let area_codes = area_codes(&codes, &rows.area_codes);
    let mut exchanges: BTreeMap<NpaNxx, Exchange> =
        codes.into_iter().map(|code| (code.npa_nxx, exchange(code, &carriers))).collect();
    for block in blocks {
        let exchange = exchanges.get_mut(&block.npa_nxx);
        if let (Some(exchange), Some(carrier)) = (exchange, carriers.get(&block.ocn)) {
            let AssignedBlock { digit, ocn, rate_center, effective, .. } = block;
            let company_name = carrier.company_name.clone();
            let carrier_type = carrier.carrier_type;
            let holder = BlockHolder { ocn, company_name, carrier_type, rate_center, effective };
            exchange.blocks.insert(digit, holder);
        }
    }
    Dataset::new(carriers.into_values().collect(), area_codes, exchanges.into_values().collect())
}

/// Drops codes that are not in the report of their area code's country. Neither report can take over a code of the
/// other's.
fn without_foreign_codes(
    codes: Vec<CodeRow>,
    area_codes: &[AreaCodeRow],
    notes: &mut Notes,
) -> Vec<CodeRow> {
    let countries = area_code_countries(&codes, area_codes);
    let mut own_codes = Vec::new();
    for code in codes {
        let country = countries.get(&code.npa_nxx.npa);
        if country == Some(&AreaCodeCountry::Reported(code.country)) {
            own_codes.push(code);
            continue;
        }
        let file = match code.country {
            Country::Us => nanpa::FILE,
            Country::Ca => cnac::FILE,
        };
        let reason = "the area code is another country's";
        notes.warn(format!("{file}: {reason}; the row is left out"), code.npa_nxx);
        notes.skip(format!("{file}: rows of which {reason}"));
    }
    own_codes
}

/// Each area code's country: the one in the area code database or, if it names none, the country whose report has most
/// of its rows.
fn area_code_countries(
    codes: &[CodeRow],
    area_codes: &[AreaCodeRow],
) -> BTreeMap<Npa, AreaCodeCountry> {
    let mut counts: BTreeMap<Npa, Counts<Country>> = BTreeMap::new();
    for code in codes {
        *counts.entry(code.npa_nxx.npa).or_default().entry(code.country).or_default() += 1;
    }
    let mut countries = BTreeMap::new();
    for (npa, counts_of_npa) in counts {
        if let Some(&country) = most_frequent(&counts_of_npa) {
            countries.insert(npa, AreaCodeCountry::Reported(country));
        }
    }
    let stated = area_codes.iter().filter(|row| row.country != AreaCodeCountry::Unstated);
    countries.extend(stated.map(|row| (row.npa, row.country)));
    countries
}

/// One row per block of a US exchange in the reports. No report has Canadian blocks.
fn valid_blocks(
    blocks: Vec<AssignedBlock>,
    codes: &[CodeRow],
    notes: &mut Notes,
) -> Vec<AssignedBlock> {
    let countries: BTreeMap<NpaNxx, Country> =
        codes.iter().map(|code| (code.npa_nxx, code.country)).collect();
    let mut valid = BTreeMap::new();
    for block in blocks {
        let (npa_nxx, digit) = (block.npa_nxx, block.digit);
        let name = format!("{npa_nxx}-{digit}");
        match countries.get(&npa_nxx) {
            None => notes.skip("thousands blocks of exchanges that are in no report"),
            Some(Country::Ca) => {
                notes.warn("a thousands block is of an exchange in Canada and left out", name);
                notes.skip("thousands blocks of Canadian exchanges");
            }
            Some(Country::Us) => {
                if valid.insert((npa_nxx, digit), block).is_some() {
                    notes.warn("a thousands block stands twice; the later row counts", name);
                    notes.skip("thousands blocks that stand again further on");
                }
            }
        }
    }
    valid.into_values().collect()
}

/// One row per NPA-NXX. An unassigned code loses its holder.
fn without_repeated_codes(codes: Vec<CodeRow>, notes: &mut Notes) -> Vec<CodeRow> {
    let mut by_npa_nxx = BTreeMap::new();
    for mut code in codes {
        let npa_nxx = code.npa_nxx;
        if code.status == Status::Unassigned {
            code.company = None;
            if let Some(ocn) = code.ocn.take() {
                let example = format!("{npa_nxx} names OCN {ocn}");
                notes.warn("an unassigned code names a holder, who is left out", example);
            }
        }
        if by_npa_nxx.insert(npa_nxx, code).is_some() {
            notes.warn("an NPA-NXX stands twice; the later row counts", npa_nxx);
            notes.skip("rows whose NPA-NXX stands again further on");
        }
    }
    by_npa_nxx.into_values().collect()
}

/// The most frequent value. On a tie: the first in order.
fn most_frequent<T: Ord>(counts: &Counts<T>) -> Option<&T> {
    // `max_by_key` returns the last of several maxima, so iterate from the end.
    counts.iter().rev().max_by_key(|&(_, count)| count).map(|(value, _)| value)
}

/// Every area code that has exchanges or is in service.
fn area_codes(codes: &[CodeRow], rows: &[AreaCodeRow]) -> Vec<AreaCode> {
    let new = |npa, country| AreaCode {
        npa,
        state: None,
        states: BTreeSet::new(),
        country,
        total_exchanges: 0,
    };
    let in_service = rows.iter().filter_map(|row| Some((row.npa, row.country_in_service()?)));
    let mut area_codes: BTreeMap<Npa, AreaCode> =
        in_service.map(|(npa, country)| (npa, new(npa, country))).collect();
    let mut states_of_codes: BTreeMap<Npa, Counts<StateCode>> = BTreeMap::new();
    for code in codes {
        let npa = code.npa_nxx.npa;
        let area_code = area_codes.entry(npa).or_insert_with(|| new(npa, code.country));
        area_code.total_exchanges += 1;
        if let Some(state) = code.state {
            *states_of_codes.entry(npa).or_default().entry(state).or_default() += 1;
        }
    }
    for row in rows {
        if let Some(area_code) = area_codes.get_mut(&row.npa) {
            area_code.state = row.states.first().copied();
            area_code.states.extend(&row.states);
        }
    }
    for (npa, states) in states_of_codes {
        if let Some(area_code) = area_codes.get_mut(&npa) {
            area_code.state = most_frequent(&states).copied().or(area_code.state);
            area_code.states.extend(states.into_keys());
        }
    }
    area_codes.into_values().collect()
}

fn exchange(code: CodeRow, carriers: &BTreeMap<Ocn, Carrier>) -> Exchange {
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
