//! Rows of the reports joined into records: carriers from the codes they hold and the overlay,
//! exchanges with their carrier's name and type, area codes with their primary state.

mod carriers;

use std::collections::{BTreeMap, BTreeSet};

use shared::{
    dataset::Dataset,
    records::{AreaCode, BlockHolder, Carrier, Exchange, Npa, NpaNxx, Ocn, State, Status},
};

use crate::{
    report::Notes,
    reports::{Code, overlay::Known, thousands_blocks::Block},
};

/// How often each value occurs.
type Counts<T> = BTreeMap<T, u32>;

/// What all the reports hold.
#[derive(Default)]
pub(crate) struct Rows {
    pub codes: Vec<Code>,
    pub area_codes: Vec<AreaCode>,
    pub overlay: Vec<Known>,
    pub blocks: Vec<Block>,
}

/// Joins the rows; the same rows in any order of files always give the same dataset.
pub(crate) fn assemble(rows: Rows, notes: &mut Notes) -> Dataset {
    let Rows { codes, area_codes, overlay, blocks } = rows;
    let codes = distinct(codes, notes);
    let blocks = distinct_blocks(blocks, &codes, notes);
    let carriers = carriers::carriers(&codes, &blocks, overlay, notes);
    let area_codes = self::area_codes(&codes, area_codes);
    let mut exchanges: BTreeMap<NpaNxx, Exchange> =
        codes.into_iter().map(|code| (code.npa_nxx, exchange(code, &carriers))).collect();
    for block in blocks {
        let exchange = exchanges.get_mut(&block.npa_nxx);
        if let (Some(exchange), Some(carrier)) = (exchange, carriers.get(&block.ocn)) {
            exchange.blocks.insert(block.digit, holder(carrier));
        }
    }
    Dataset::new(carriers.into_values().collect(), area_codes, exchanges.into_values().collect())
}

/// One row for each block of an exchange that is there.
fn distinct_blocks(blocks: Vec<Block>, codes: &[Code], notes: &mut Notes) -> Vec<Block> {
    let exchanges: BTreeSet<NpaNxx> = codes.iter().map(|code| code.npa_nxx).collect();
    let mut distinct = BTreeMap::new();
    for block in blocks {
        let (npa_nxx, digit) = (block.npa_nxx, block.digit);
        if !exchanges.contains(&npa_nxx) {
            notes.skip("thousands blocks of exchanges that are in no report");
        } else if distinct.insert((npa_nxx, digit), block).is_some() {
            let example = format!("{npa_nxx}-{digit}");
            notes.warn("a thousands block stands twice; the later row counts", example);
            notes.skip("thousands blocks that stand again further on");
        }
    }
    distinct.into_values().collect()
}

fn holder(carrier: &Carrier) -> BlockHolder {
    let Carrier { ocn, company_name, carrier_type, .. } = carrier;
    BlockHolder { ocn: *ocn, company_name: company_name.clone(), carrier_type: *carrier_type }
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

fn area_codes(codes: &[Code], in_service: Vec<AreaCode>) -> Vec<AreaCode> {
    let mut area_codes: BTreeMap<Npa, AreaCode> =
        in_service.into_iter().map(|area_code| (area_code.npa, area_code)).collect();
    let mut states: BTreeMap<Npa, Counts<State>> = BTreeMap::new();
    for code in codes {
        let npa = code.npa_nxx.npa;
        let new = AreaCode { npa, state: None, country: code.country, total_exchanges: 0 };
        area_codes.entry(npa).or_insert(new).total_exchanges += 1;
        if let Some(state) = code.state {
            *states.entry(npa).or_default().entry(state).or_default() += 1;
        }
    }
    for (npa, states) in states {
        if let Some(area_code) = area_codes.get_mut(&npa) {
            area_code.state = most_frequent(&states).copied().or(area_code.state);
        }
    }
    area_codes.into_values().collect()
}

fn exchange(code: Code, carriers: &BTreeMap<Ocn, Carrier>) -> Exchange {
    let carrier = code.ocn.and_then(|ocn| carriers.get(&ocn));
    Exchange {
        npa: code.npa_nxx.npa,
        nxx: code.npa_nxx.nxx,
        ocn: code.ocn,
        company_name: carrier.map(|carrier| carrier.company_name.clone()).or(code.company),
        carrier_type: carrier.and_then(|carrier| carrier.carrier_type),
        rate_center: code.rate_center,
        state: code.state,
        country: code.country,
        status: code.status,
        blocks: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::records::{CarrierType, Country};

    fn code(
        npa_nxx: &str,
        ocn: Option<&str>,
        company: &str,
        state: Option<&str>,
        status: Status,
    ) -> Code {
        Code {
            npa_nxx: npa_nxx.parse().unwrap(),
            country: Country::Ca,
            state: state.map(|state| state.parse().unwrap()),
            status,
            ocn: ocn.map(|ocn| ocn.parse().unwrap()),
            company: Some(company.to_owned()),
            rate_center: None,
            assigned: None,
        }
    }

    fn known(ocn: &str, country: Option<Country>) -> Known {
        Known {
            ocn: ocn.parse().unwrap(),
            company_name: "Known Inc.".to_owned(),
            common_name: Some("Known".to_owned()),
            carrier_type: Some(CarrierType::Clec),
            state: None,
            country,
        }
    }

    fn block(npa_nxx: &str, digit: u8, ocn: &str) -> Block {
        Block {
            npa_nxx: npa_nxx.parse().unwrap(),
            digit,
            ocn: ocn.parse().unwrap(),
            company: format!("Block {ocn}"),
            state: Some("QC".parse().unwrap()),
        }
    }

    fn dataset() -> (Dataset, String) {
        let mut notes = Notes::default();
        let codes = vec![
            code("613-200", Some("464D"), "Fiber", Some("QC"), Status::Assigned),
            code("613-201", Some("464D"), "FIBER", Some("ON"), Status::Assigned),
            code("613-202", Some("464D"), "FIBER", Some("ON"), Status::Reserved),
            code("613-203", Some("464D"), "FIBER", None, Status::Unassigned),
            code("613-204", None, "No OCN Ltd.", None, Status::Assigned),
        ];
        let report = AreaCode {
            npa: "613".parse().unwrap(),
            state: Some("QC".parse().unwrap()),
            country: Country::Ca,
            total_exchanges: 0,
        };
        let rows = Rows {
            codes,
            area_codes: vec![report],
            overlay: vec![
                known("464D", None),
                known("9999", Some(Country::Us)),
                known("9998", None),
            ],
            blocks: vec![
                block("613-200", 3, "464D"),
                block("613-200", 4, "777D"),
                block("613-999", 0, "777D"),
            ],
        };
        let dataset = assemble(rows, &mut notes);
        (dataset, format!("{notes:?}"))
    }

    #[test]
    fn a_block_is_its_holders_and_one_without_codes_is_a_carrier_too() {
        let (dataset, notes) = dataset();
        let exchange = dataset.exchange("613-200".parse().unwrap()).unwrap();
        let holders: Vec<_> = exchange
            .blocks
            .iter()
            .map(|(digit, holder)| (*digit, holder.ocn.to_string(), holder.company_name.as_str()))
            .collect();
        let expected = [(3, "464D".to_owned(), "FIBER"), (4, "777D".to_owned(), "Block 777D")];
        assert_eq!(holders, expected);
        let carrier = dataset.carrier("777D".parse().unwrap()).unwrap();
        assert_eq!((carrier.exchanges.total, carrier.state.unwrap().to_string()), (0, "QC".into()));
        assert!(notes.contains("blocks of exchanges that are in no report"), "{notes}");
    }

    #[test]
    fn of_names_used_as_often_the_one_used_last_counts() {
        let dated = |name: &str, npa_nxx: &str, assigned: &str| Code {
            assigned: Some(assigned.parse().unwrap()),
            ..code(npa_nxx, Some("464D"), name, None, Status::Assigned)
        };
        let codes = vec![
            dated("AAA OLD", "613-200", "1999-01-01"),
            dated("NEW", "613-201", "2020-01-01"),
            dated("ZZZ OLD", "613-202", "2019-12-31"),
        ];
        let mut notes = Notes::default();
        let dataset = assemble(Rows { codes, ..Rows::default() }, &mut notes);
        assert_eq!(dataset.carriers()[0].company_name, "NEW");
        assert!(format!("{notes:?}").contains("464D is 'NEW' rather than 'AAA OLD'"), "{notes:?}");
    }

    #[test]
    fn a_carrier_takes_name_and_state_from_its_codes_and_the_rest_from_the_overlay() {
        let (dataset, notes) = dataset();
        let carrier = dataset.carrier("464D".parse().unwrap()).unwrap();
        assert_eq!(carrier.company_name, "FIBER");
        assert_eq!(carrier.common_name.as_deref(), Some("Known"));
        assert_eq!(carrier.state.unwrap().to_string(), "ON");
        assert_eq!(carrier.exchanges.total, 3);
        assert_eq!(carrier.exchanges.by_state.values().sum::<u32>(), 3);
        assert!(notes.contains("several spellings"), "{notes}");
    }

    #[test]
    fn overlay_rows_without_exchanges_are_kept_if_their_country_is_known() {
        let (dataset, notes) = dataset();
        assert_eq!(dataset.carrier("9999".parse().unwrap()).unwrap().exchanges.total, 0);
        assert!(dataset.carrier("9998".parse().unwrap()).is_none());
        assert!(notes.contains("overlay rows without a country"), "{notes}");
    }

    #[test]
    fn an_unassigned_code_has_no_holder() {
        let (dataset, notes) = dataset();
        let exchange = dataset.exchange("613-203".parse().unwrap()).unwrap();
        assert_eq!((exchange.ocn, exchange.company_name), (None, None));
        assert!(notes.contains("613-203 names OCN 464D"), "{notes}");
    }

    #[test]
    fn a_holder_without_an_ocn_keeps_its_name() {
        let (dataset, _) = dataset();
        let exchange = dataset.exchange("613-204".parse().unwrap()).unwrap();
        assert_eq!((exchange.ocn, exchange.company_name.as_deref()), (None, Some("No OCN Ltd.")));
    }

    #[test]
    fn an_area_code_is_where_most_of_its_codes_are() {
        let (dataset, _) = dataset();
        let area_code = dataset.area_code("613".parse().unwrap()).unwrap();
        assert_eq!(area_code.state.unwrap().to_string(), "ON");
        assert_eq!(area_code.total_exchanges, 5);
    }
}
