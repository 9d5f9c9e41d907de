//! Rows of the reports joined into records: carriers from the codes they hold and the overlay,
//! exchanges with their carrier's name and type, area codes with their primary state.

use std::collections::BTreeMap;

use shared::{
    dataset::Dataset,
    records::{
        AreaCode, Carrier, Country, Exchange, Npa, NpaNxx, Ocn, OwnedExchanges, State, Status,
    },
};

use crate::{Warnings, nanpa::Code, overlay::Known};

/// How often each value occurs.
type Counts<T> = BTreeMap<T, u32>;

/// Joins the rows; the same rows in any order of files always give the same dataset.
pub(crate) fn assemble(
    codes: Vec<Code>,
    npa_report: Vec<AreaCode>,
    overlay: Vec<Known>,
    warnings: &mut Warnings,
) -> Dataset {
    let codes = distinct(codes, warnings);
    let carriers = carriers(&codes, overlay, warnings);
    let area_codes = area_codes(&codes, npa_report);
    let exchanges = codes.into_iter().map(|code| exchange(code, &carriers)).collect();
    Dataset::new(carriers.into_values().collect(), area_codes, exchanges)
}

/// One row for each NPA-NXX; a code nobody holds has no holder.
fn distinct(codes: Vec<Code>, warnings: &mut Warnings) -> Vec<Code> {
    let mut distinct = BTreeMap::new();
    for code in codes {
        let code = match code.status {
            Status::Unassigned => unheld(code, warnings),
            _ => code,
        };
        let npa_nxx: NpaNxx = code.npa_nxx;
        if distinct.insert(npa_nxx, code).is_some() {
            warnings.add(format!("{npa_nxx} stands twice; the later row counts"));
        }
    }
    distinct.into_values().collect()
}

fn unheld(code: Code, warnings: &mut Warnings) -> Code {
    if let Some(ocn) = code.ocn {
        warnings.add(format!("{} is unassigned and yet names OCN {ocn}; left out", code.npa_nxx));
    }
    Code { ocn: None, company: None, ..code }
}

/// What the codes of one OCN say of its carrier.
#[derive(Default)]
struct Holdings {
    names: Counts<String>,
    countries: Counts<Country>,
    exchanges: OwnedExchanges,
}

fn carriers(
    codes: &[Code],
    overlay: Vec<Known>,
    warnings: &mut Warnings,
) -> BTreeMap<Ocn, Carrier> {
    let mut known: BTreeMap<Ocn, Known> = BTreeMap::new();
    for carrier in overlay {
        let ocn = carrier.ocn;
        if known.insert(ocn, carrier).is_some() {
            warnings.add(format!("OCN {ocn} stands twice in the overlay; the later row counts"));
        }
    }
    let mut carriers: BTreeMap<Ocn, Carrier> = holdings(codes)
        .into_iter()
        .map(|(ocn, holdings)| (ocn, carrier(ocn, holdings, known.remove(&ocn), warnings)))
        .collect();
    for (ocn, known) in known {
        match without_exchanges(known) {
            Some(carrier) => _ = carriers.insert(ocn, carrier),
            None => warnings.add(format!("OCN {ocn} has no country and no exchanges; left out")),
        }
    }
    carriers
}

fn holdings(codes: &[Code]) -> BTreeMap<Ocn, Holdings> {
    let mut all: BTreeMap<Ocn, Holdings> = BTreeMap::new();
    for (ocn, code) in codes.iter().filter_map(|code| Some((code.ocn?, code))) {
        let holdings = all.entry(ocn).or_default();
        if let Some(name) = &code.company {
            *holdings.names.entry(name.clone()).or_default() += 1;
        }
        *holdings.countries.entry(code.country).or_default() += 1;
        holdings.exchanges.total += 1;
        if let Some(state) = code.state {
            *holdings.exchanges.by_state.entry(state).or_default() += 1;
        }
    }
    all
}

fn carrier(ocn: Ocn, holdings: Holdings, known: Option<Known>, warnings: &mut Warnings) -> Carrier {
    let Holdings { names, countries, exchanges } = holdings;
    if names.len() > 1 {
        warnings.add("an OCN has several spellings of its name; the most frequent counts");
    }
    let known_name = known.as_ref().map(|known| known.company_name.clone());
    let company_name = most_frequent(&names).cloned().or(known_name).unwrap_or_default();
    let (common_name, carrier_type, known_state) = match known {
        Some(known) => (known.common_name, known.carrier_type, known.state),
        None => (None, None, None),
    };
    Carrier {
        ocn,
        common_name: common_name.filter(|name| !name.eq_ignore_ascii_case(&company_name)),
        company_name,
        carrier_type,
        state: most_frequent(&exchanges.by_state).copied().or(known_state),
        country: most_frequent(&countries).copied().unwrap_or(Country::Us),
        exchanges,
    }
}

/// A carrier only the overlay knows; its country may follow from its state.
fn without_exchanges(known: Known) -> Option<Carrier> {
    Some(Carrier {
        country: known.country.or_else(|| known.state.map(State::country))?,
        ocn: known.ocn,
        company_name: known.company_name,
        common_name: known.common_name,
        carrier_type: known.carrier_type,
        state: known.state,
        exchanges: OwnedExchanges::default(),
    })
}

/// The value that occurs most; of several, the first in order.
fn most_frequent<T: Ord>(counts: &Counts<T>) -> Option<&T> {
    counts.iter().rev().max_by_key(|&(_, count)| count).map(|(value, _)| value)
}

fn area_codes(codes: &[Code], npa_report: Vec<AreaCode>) -> Vec<AreaCode> {
    let mut area_codes: BTreeMap<Npa, AreaCode> =
        npa_report.into_iter().map(|area_code| (area_code.npa, area_code)).collect();
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::records::CarrierType;

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

    fn dataset() -> (Dataset, String) {
        let mut warnings = Warnings::default();
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
        let overlay =
            vec![known("464D", None), known("9999", Some(Country::Us)), known("9998", None)];
        let dataset = assemble(codes, vec![report], overlay, &mut warnings);
        (dataset, format!("{warnings:?}"))
    }

    #[test]
    fn a_carrier_takes_name_and_state_from_its_codes_and_the_rest_from_the_overlay() {
        let (dataset, warnings) = dataset();
        let carrier = dataset.carrier("464D".parse().unwrap()).unwrap();
        assert_eq!(carrier.company_name, "FIBER");
        assert_eq!(carrier.common_name.as_deref(), Some("Known"));
        assert_eq!(carrier.state.unwrap().to_string(), "ON");
        assert_eq!(carrier.exchanges.total, 3);
        assert_eq!(carrier.exchanges.by_state.values().sum::<u32>(), 3);
        assert!(warnings.contains("several spellings"), "{warnings}");
    }

    #[test]
    fn overlay_rows_without_exchanges_are_kept_if_their_country_is_known() {
        let (dataset, warnings) = dataset();
        assert_eq!(dataset.carrier("9999".parse().unwrap()).unwrap().exchanges.total, 0);
        assert!(dataset.carrier("9998".parse().unwrap()).is_none());
        assert!(warnings.contains("OCN 9998 has no country"), "{warnings}");
    }

    #[test]
    fn an_unassigned_code_has_no_holder() {
        let (dataset, warnings) = dataset();
        let exchange = dataset.exchange("613-203".parse().unwrap()).unwrap();
        assert_eq!((exchange.ocn, exchange.company_name), (None, None));
        assert!(warnings.contains("613-203 is unassigned and yet names OCN 464D"), "{warnings}");
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
