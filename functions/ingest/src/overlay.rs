//! The carriers overlay: names and types that neither NANPA nor CNAC publishes, in the columns of
//! spec 2.2.

use shared::records::{CarrierType, Country, Ocn, State};

use crate::{
    IngestError, Warnings,
    nanpa::state,
    table::{Layout, Row, Table, filled},
};

pub(crate) const FILE: &str = "the carriers overlay";

/// What the overlay says of one carrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub ocn: Ocn,
    pub company_name: String,
    pub common_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    pub state: Option<State>,
    pub country: Option<Country>,
}

pub(crate) fn parse(text: &str, warnings: &mut Warnings) -> Result<Vec<Known>, IngestError> {
    let columns = ["ocn", "company_name", "common_name", "carrier_type", "state", "country"];
    let table = Table::read(FILE, text, Layout::Commas, columns)?;
    table.rows().map(|row| known(&row, warnings)).collect()
}

fn known(row: &Row<'_, 6>, warnings: &mut Warnings) -> Result<Known, IngestError> {
    let [_, company_name, common_name, carrier_type, place, country] = row.cells;
    let differs = |name: &&str| !name.eq_ignore_ascii_case(company_name);
    Ok(Known {
        ocn: row.parsed(0)?,
        company_name: company_name.clone(),
        common_name: filled(common_name).filter(differs).map(str::to_owned),
        carrier_type: filled(carrier_type).and_then(|word| {
            let known = word.parse().ok();
            if known.is_none() {
                warnings.add(format!("{FILE}: carrier_type '{word}' is not known and left out"));
            }
            known
        }),
        state: state(FILE, place, warnings),
        country: country.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_is_left_out_and_a_repeated_name_is_none() {
        let text = "ocn,company_name,common_name,carrier_type,state,country\n\
                    6010,\"NEW CINGULAR, LLC\",AT&T,WIRELESS,CA,US\n\
                    0051,Pacific Bell,PACIFIC BELL,RBOC,,\n";
        let mut warnings = Warnings::default();
        let carriers = parse(text, &mut warnings).unwrap();
        assert_eq!(carriers[0].common_name.as_deref(), Some("AT&T"));
        assert_eq!(carriers[0].carrier_type, Some(CarrierType::Wireless));
        assert_eq!((&carriers[1].common_name, carriers[1].carrier_type), (&None, None));
        assert!(format!("{warnings:?}").contains("carrier_type 'RBOC'"));
    }
}
