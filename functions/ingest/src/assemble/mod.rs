//! Joins report rows into records: carriers, exchanges and area codes.

mod carriers;

use std::collections::{BTreeMap, BTreeSet};

use numbering::dataset::Dataset;
use numbering::records::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, NumberingPlan, Ocn, StateCode,
    Status,
};
use store::ReportName;

use crate::{
    notes::Notes,
    reports::{ReportRows, blocks::AssignedBlock, codes::CodeRow, file, npa_report::AreaCodeRow},
};

type Counts<T> = BTreeMap<T, u32>;

/// Joins rows into a dataset. The result depends only on the rows.
pub(crate) fn assemble(rows: ReportRows, notes: &mut Notes) -> Dataset {
    let codes = drop_foreign_codes(rows.codes, &rows.area_codes, notes);
    let codes = drop_duplicate_codes(codes, notes);
    let blocks = drop_invalid_blocks(rows.blocks, &codes, notes);
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

/// Drops codes whose area code belongs to the other country, so that neither report can overwrite the other's codes.
fn drop_foreign_codes(
    mut codes: Vec<CodeRow>,
    area_codes: &[AreaCodeRow],
    notes: &mut Notes,
) -> Vec<CodeRow> {
    let countries = area_code_countries(&codes, area_codes);
    codes.retain(|code| {
        let country = countries.get(&code.npa_nxx.npa);
        let is_own = country.is_some_and(|country| *country == code.country.to_string());
        if !is_own {
            let name = ReportName::codes(code.country);
            let rule = "the area code belongs to another country; the row is skipped";
            notes.warn(format!("{}: {rule}", file(name)), code.npa_nxx);
            notes.skip(name, "rows with another country's area code");
        }
        is_own
    });
    codes
}

/// Each area code's country, from the area code database; if that does not say, the country of the report with most of
/// its rows.
fn area_code_countries(codes: &[CodeRow], area_codes: &[AreaCodeRow]) -> BTreeMap<Npa, String> {
    let mut counts: BTreeMap<Npa, Counts<Country>> = BTreeMap::new();
    for code in codes {
        *counts.entry(code.npa_nxx.npa).or_default().entry(code.country).or_default() += 1;
    }
    let most_rows = |(npa, counts)| Some((npa, most_frequent::<Country>(&counts)?.to_string()));
    let mut countries: BTreeMap<_, _> = counts.into_iter().filter_map(most_rows).collect();
    let stated = area_codes.iter().filter(|row| !row.country.is_empty());
    countries.extend(stated.map(|row| (row.npa, row.country.clone())));
    countries
}

/// Drops duplicate rows for a block, and blocks in exchanges of another country.
fn drop_invalid_blocks(
    blocks: Vec<AssignedBlock>,
    codes: &[CodeRow],
    notes: &mut Notes,
) -> Vec<AssignedBlock> {
    let countries: BTreeMap<NpaNxx, Country> =
        codes.iter().map(|code| (code.npa_nxx, code.country)).collect();
    let mut valid = BTreeMap::new();
    for block in blocks {
        let (npa_nxx, digit) = (block.npa_nxx, block.digit);
        let (report, name) = (ReportName::blocks(block.country), format!("{npa_nxx}-{digit}"));
        match countries.get(&npa_nxx) {
            None => notes.skip(report, "blocks in unknown exchanges"),
            Some(country) if *country != block.country => {
                notes.warn("a thousands block in another country's exchange is skipped", name);
                notes.skip(report, "blocks in another country's exchanges");
            }
            Some(_) => {
                if valid.insert((npa_nxx, digit), block).is_some() {
                    notes.warn("duplicate thousands block; the later row is used", name);
                    notes.skip(report, "rows replaced by a later row with the same block");
                }
            }
        }
    }
    valid.into_values().collect()
}

/// Drops duplicate rows for an NPA-NXX, and removes the holders of unassigned codes.
fn drop_duplicate_codes(codes: Vec<CodeRow>, notes: &mut Notes) -> Vec<CodeRow> {
    let mut by_npa_nxx = BTreeMap::new();
    for mut code in codes {
        let (npa_nxx, report) = (code.npa_nxx, ReportName::codes(code.country));
        if code.status == Status::Unassigned {
            code.company = None;
            if let Some(ocn) = code.ocn.take() {
                let example = format!("{npa_nxx} names OCN {ocn}");
                notes.warn("an unassigned code names a holder, which is ignored", example);
            }
        }
        if by_npa_nxx.insert(npa_nxx, code).is_some() {
            notes.warn("duplicate NPA-NXX; the later row is used", npa_nxx);
            notes.skip(report, "rows replaced by a later row with the same NPA-NXX");
        }
    }
    by_npa_nxx.into_values().collect()
}

/// A country's blocks in a dataset, for an import that cannot read the country's report.
pub(crate) fn blocks_in(dataset: &Dataset, country: Country) -> Vec<AssignedBlock> {
    let exchanges = dataset.exchanges().filter(|exchange| exchange.country == country);
    let blocks = exchanges.flat_map(|exchange| {
        let npa_nxx = exchange.npa_nxx();
        exchange.blocks.into_iter().map(move |(digit, holder)| {
            let BlockHolder { ocn, company_name, rate_center, effective, .. } = holder;
            let (company, state) = (company_name, None);
            AssignedBlock { npa_nxx, country, digit, ocn, company, rate_center, state, effective }
        })
    });
    blocks.collect()
}

/// Returns the most frequent value. On a tie, the first in order wins.
fn most_frequent<T: Ord>(counts: &Counts<T>) -> Option<&T> {
    // Reversed, because `max_by_key` returns the last maximum.
    counts.iter().rev().max_by_key(|&(_, count)| count).map(|(value, _)| value)
}

fn area_codes(codes: &[CodeRow], rows: &[AreaCodeRow]) -> Vec<AreaCode> {
    let new = |npa, country| AreaCode {
        npa,
        state: None,
        states: BTreeSet::new(),
        country,
        total_exchanges: 0,
        plan: Box::default(),
    };
    let mut overlays = overlays(rows);
    let split: BTreeSet<Npa> =
        rows.iter().filter(|row| row.plan.has_several_time_zones).map(|row| row.npa).collect();
    let mut area_codes: BTreeMap<Npa, AreaCode> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_assigned) {
        let overlay = overlays.remove(&row.npa).unwrap_or_default();
        // The report often lists only one zone for later codes.
        let has_several_time_zones = split.contains(&row.npa) || !split.is_disjoint(&overlay);
        let area_code = AreaCode {
            state: row.states.first().copied(),
            states: row.states.iter().copied().collect(),
            plan: Box::new(NumberingPlan { overlay, has_several_time_zones, ..row.plan.clone() }),
            ..new(row.npa, row.reported_country())
        };
        area_codes.insert(row.npa, area_code);
    }
    let mut code_states: BTreeMap<Npa, Counts<StateCode>> = BTreeMap::new();
    for code in codes {
        let npa = code.npa_nxx.npa;
        let area_code = area_codes.entry(npa).or_insert_with(|| new(npa, Some(code.country)));
        area_code.total_exchanges += 1;
        if let Some(state) = code.state {
            *code_states.entry(npa).or_default().entry(state).or_default() += 1;
        }
    }
    for (npa, states) in code_states {
        if let Some(area_code) = area_codes.get_mut(&npa) {
            area_code.state = most_frequent(&states).copied().or(area_code.state);
            area_code.states.extend(states.into_keys());
        }
    }
    area_codes.into_values().collect()
}

/// Returns the assigned codes that serve the same area as each code. Since some rows lack the later codes, this joins
/// all lists that contain the code. It does not go further: 917 overlays both 212 and 718, which do not overlay each
/// other.
fn overlays(rows: &[AreaCodeRow]) -> BTreeMap<Npa, BTreeSet<Npa>> {
    let assigned: BTreeSet<Npa> =
        rows.iter().filter(|row| row.is_assigned).map(|row| row.npa).collect();
    let mut overlays: BTreeMap<Npa, BTreeSet<Npa>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_assigned) {
        for named in &row.overlays {
            let named = named.iter().copied().chain([row.npa]);
            let list: BTreeSet<Npa> = named.filter(|npa| assigned.contains(npa)).collect();
            for &npa in &list {
                overlays.entry(npa).or_default().extend(&list);
            }
        }
    }
    overlays
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
