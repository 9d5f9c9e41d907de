//! NANPA's report of utilised central office codes: the exchanges of the US.

use shared::records::{Country, NpaNxx, Ocn, State, Status};

use crate::{
    IngestError, Warnings,
    table::{Layout, Row, Table, filled},
};

pub(crate) const FILE: &str = "the NANPA utilised codes";

/// A row of either country's code report, read but not yet joined with anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    pub npa_nxx: NpaNxx,
    pub country: Country,
    pub state: Option<State>,
    pub status: Status,
    pub ocn: Option<Ocn>,
    pub company: Option<String>,
    pub rate_center: Option<String>,
}

/// Stands in the OCN column where a code belongs to no single carrier.
const MULTIPLE: &str = "MULT";
/// Stand in the rate center column where a code has none: N11 and 555.
const NO_RATE_CENTER: [&str; 2] = ["XXXXXXXXXX", "DIR ASST"];

pub(crate) fn parse(text: &str, warnings: &mut Warnings) -> Result<Vec<Code>, IngestError> {
    let columns = ["State", "NPA-NXX", "OCN", "Company", "RateCenter", "Use"];
    let table = Table::read(FILE, text, Layout::Tabs, columns)?;
    table.rows().map(|row| code(&row, warnings)).collect()
}

fn code(row: &Row<'_, 6>, warnings: &mut Warnings) -> Result<Code, IngestError> {
    let [place, _, ocn, company, rate_center, usage] = row.cells;
    let of_one_carrier = ocn != MULTIPLE;
    Ok(Code {
        npa_nxx: row.parsed(1)?,
        country: Country::Us,
        state: state(FILE, place, warnings),
        status: status(usage, warnings),
        ocn: filled(ocn).filter(|_| of_one_carrier).and_then(|text| read_ocn(FILE, text, warnings)),
        company: filled(company).filter(|_| of_one_carrier).map(str::to_owned),
        rate_center: filled(rate_center)
            .filter(|name| !NO_RATE_CENTER.contains(name))
            .map(str::to_owned),
    })
}

fn status(usage: &str, warnings: &mut Warnings) -> Status {
    match usage {
        "AS" => Status::Assigned,
        "VC" => Status::Unassigned,
        "UA" | "PR" | "RV" => Status::Reserved,
        unknown => {
            warnings.add(format!("{FILE}: Use '{unknown}' is not known and taken as RESERVED"));
            Status::Reserved
        }
    }
}

/// A state by its code in the reports: the postal one, but for the Northern Mariana Islands.
pub(crate) fn state(file: &str, code: &str, warnings: &mut Warnings) -> Option<State> {
    let postal = match code {
        "NN" | "CNMI" => "MP",
        postal => filled(postal)?,
    };
    let state = postal.parse().ok();
    if state.is_none() {
        warnings.add(format!("{file}: '{code}' is no state or province and left out"));
    }
    state
}

pub(crate) fn read_ocn(file: &str, text: &str, warnings: &mut Warnings) -> Option<Ocn> {
    let ocn = text.parse().ok();
    if ocn.is_none() {
        warnings.add(format!("{file}: '{text}' is no OCN and left out"));
    }
    ocn
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "State\tNPA-NXX\tOCN \tCompany  \tRateCenter\tEffectiveDate\tUse\tAssignDate   \tInitial/Growth\tPooled Code \tIn Service  \tFile Updated 09/04/2026\n";

    fn parsed(row: &str) -> (Code, Warnings) {
        let mut warnings = Warnings::default();
        let codes = parse(&format!("{HEADER}{row}"), &mut warnings).unwrap();
        (codes[0].clone(), warnings)
    }

    #[test]
    fn an_assigned_code() {
        let row = "AK   \t907-200\t6872\t\"GCI, CORP.\"   \tVALDEZ    \t   \tAS \t02/21/2006   \tI \tN \tYes\n";
        let (code, _) = parsed(row);
        assert_eq!(code.npa_nxx.to_string(), "907-200");
        assert_eq!(code.ocn.unwrap().to_string(), "6872");
        assert_eq!(code.company.as_deref(), Some("GCI, CORP."));
        assert_eq!(code.rate_center.as_deref(), Some("VALDEZ"));
        assert_eq!(code.state.unwrap().to_string(), "AK");
        assert_eq!(code.status, Status::Assigned);
    }

    #[test]
    fn mult_is_no_carrier_and_its_rate_center_no_place() {
        let row = "NN\t670-211\tMULT\t\"MULTIPLE OCN LISTING\"\tXXXXXXXXXX\t \tUA \t \t \t \tNo\n";
        let (code, _) = parsed(row);
        assert_eq!((code.ocn, code.company, code.rate_center), (None, None, None));
        assert_eq!(code.state.unwrap().to_string(), "MP");
        assert_eq!(code.status, Status::Reserved);
    }

    #[test]
    fn an_unknown_use_is_reserved_with_a_warning() {
        let (code, warnings) = parsed("AK\t907-200\t6872\tX\tY\t\tZZ\t\t\t\tNo\n");
        assert_eq!(code.status, Status::Reserved);
        let report = format!("{warnings:?}");
        assert!(report.contains("Use 'ZZ' is not known"), "{report}");
    }

    #[test]
    fn a_wrong_code_is_refused_with_its_place() {
        let text = format!("{HEADER}AK\t907200\t6872\tX\tY\t\tAS\t\t\t\tNo\n");
        let error = parse(&text, &mut Warnings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the NANPA utilised codes, line 2, column NPA-NXX: '907200' must be exactly NPA-NXX, as in 415-555"
        );
    }
}
