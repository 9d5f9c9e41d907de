use std::collections::BTreeSet;

use super::*;

/// The type, basis, line type and everyday name that follow from a company name.
fn describe(name: &str, ocn: &str) -> String {
    let CompanyFacts { carrier_type, line_type, common_name } = find(name, ocn.parse().unwrap());
    let (carrier_type, basis) = carrier_type.unzip();
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let facts = [
        carrier_type.map(|it| it.to_string()),
        basis.map(|it| it.to_string()),
        line_type.map(|it| it.to_string()),
        common_name.map(str::to_owned),
    ];
    facts.map(text).join(" ")
}

fn assert_facts(companies: &[(&str, &str)]) {
    for (name, expected) in companies {
        assert_eq!(describe(name, "0000"), *expected, "{name}");
    }
}

#[test]
fn types_and_everyday_names_follow_from_company_names() {
    assert_facts(&[
        ("T-MOBILE USA, INC.", "WIRELESS COMPANY_FAMILY - T-Mobile"),
        ("CELLCO PARTNERSHIP DBA VERIZON WIRELESS - CA", "WIRELESS COMPANY_FAMILY - Verizon"),
        ("BANDWIDTH.COM CLEC, LLC - NY", "CLEC COMPANY_FAMILY VOIP Bandwidth"),
        // The longest family wins.
        ("ONVOY, LLC - CA", "CLEC COMPANY_FAMILY VOIP Sinch"),
        ("ONVOY SPECTRUM, LLC", "WIRELESS COMPANY_FAMILY - Spectrum Mobile"),
        ("Bell Canada", "ILEC COMPANY_FAMILY - Bell"),
        ("Bell West Inc.", "CLEC COMPANY_FAMILY - Bell"),
        ("TELUS", "ILEC COMPANY_FAMILY - TELUS"),
        ("TELUS Integrated Communications", "CLEC COMPANY_FAMILY - TELUS"),
        // A family's words must be whole.
        ("TELUSOFT", "- - - -"),
        ("NORTHWOODS WIRELESS, LLC", "WIRELESS COMPANY_NAME - -"),
        ("Compagnie Sans-Fil du Nord", "WIRELESS COMPANY_NAME - -"),
        ("PRAIRIE TEL CO", "ILEC COMPANY_NAME - -"),
        ("PRAIRIE TELEPHONE COMPANY, INC.", "ILEC COMPANY_NAME - -"),
        ("PRAIRIE COOP", "ILEC COMPANY_NAME - -"),
        ("La Compagnie de Téléphone du Nord", "ILEC COMPANY_NAME - -"),
        // The first rule wins.
        ("PRAIRIE TEL CO CELLULAR", "WIRELESS COMPANY_NAME - -"),
        ("TELEPHONES4U", "- - - -"),
        ("", "- - - -"),
    ]);
}

#[test]
fn paging_companies_have_the_line_type_pager() {
    assert_facts(&[
        ("SPOK, INC.", "WIRELESS COMPANY_FAMILY PAGER Spok"),
        ("AMERICAN MESSAGING SERVICES, LLC", "WIRELESS COMPANY_FAMILY PAGER American Messaging"),
        ("INDIANA PAGING NETWORK, INC.", "WIRELESS COMPANY_NAME PAGER -"),
        ("DIAL-A-BEEPER, INC.", "WIRELESS COMPANY_NAME PAGER -"),
        ("BORINQUEN BEEPERS, INC.", "WIRELESS COMPANY_NAME PAGER -"),
        ("MR. BEEPER, INC.", "WIRELESS COMPANY_NAME PAGER -"),
        ("BEEPER EXPRESS OF PUERTO RICO, INC.", "WIRELESS COMPANY_NAME PAGER -"),
        ("MERRYVILLE INVESTMENTS, LTD DBA BEST PAGE", "WIRELESS COMPANY_NAME PAGER -"),
        // Cellular service makes any of its numbers more likely to be a phone.
        ("UNITED CELLULAR & PAGING, INC.", "WIRELESS COMPANY_NAME - -"),
    ]);
}

#[test]
fn brands_have_everyday_names() {
    assert_facts(&[
        ("TELEPHONE USA OF WISCONSIN, LLC DBA CENTURYLINK", "ILEC COMPANY_NAME - CenturyLink"),
        ("OGDEN TELCO NY DBA FRONTIER OGDEN TELEPHONE CO", "ILEC COMPANY_NAME - Frontier"),
        ("FRONTIER MIDSTATES, INC. - MI", "ILEC COMPANY_FAMILY - Frontier"),
        ("CEBRIDGE TELECOM TX , L.P. - TX", "CLEC COMPANY_FAMILY - Optimum"),
        ("TCA COMMUNICATIONS, LLC DBA SUDDENLINK COMM - AR", "CLEC COMPANY_FAMILY - Optimum"),
        ("8X8, INC.", "CLEC COMPANY_FAMILY VOIP 8x8"),
        ("INTRADO COMMUNICATIONS, LLC", "CLEC COMPANY_FAMILY - Intrado"),
        ("ASTOUND  BROADBAND, LLC - OR", "CLEC COMPANY_FAMILY - Astound"),
        ("ALASCOM, INC. DBA AT&T ALASKA", "ILEC COMPANY_FAMILY - AT&T"),
        (
            "USCOC OF CUMBERLAND, INC. DBA UNITED STATES CEL MD",
            "WIRELESS COMPANY_FAMILY - UScellular",
        ),
        // The brand has a name and no type, so a rule determines it.
        ("WINDSTREAM ALABAMA, INC.", "ILEC COMPANY_NAME - Windstream"),
        ("WINDSTREAM NORTHSTAR, LLC - MN", "CLEC COMPANY_NAME - Windstream"),
    ]);
}

#[test]
fn companies_named_with_a_state_are_competitive() {
    assert_facts(&[
        ("ACME COMMUNICATIONS, INC. - IN", "CLEC COMPANY_NAME - -"),
        ("ACME TELEPHONE COMPANY - IA", "CLEC COMPANY_NAME - -"),
        ("ACME TELECOM-NY", "CLEC COMPANY_NAME - -"),
        ("Acme Telecom Corp - BC", "CLEC COMPANY_NAME - -"),
        // Incumbents with old names also have a code in each state.
        ("ACME TEL. CO. - IA", "ILEC COMPANY_NAME - -"),
        ("ACME WIRELESS, LLC - IA", "WIRELESS COMPANY_NAME - -"),
        ("ACME COMMUNICATIONS OF IN", "- - - -"),
        ("ACME COMMUNICATIONS - XX", "- - - -"),
        ("ACME COMMUNICATIONS - IN -", "- - - -"),
        ("IN", "- - - -"),
    ]);
}

#[test]
fn ocns_tell_companies_of_one_name_apart() {
    for (name, ocn, expected) in [
        ("Videotron Ltd.", "8306", "CLEC COMPANY_FAMILY - Videotron"),
        ("Videotron Ltd.", "328F", "WIRELESS COMPANY_FAMILY - Videotron"),
        ("Vidéotron Ltée", "328F", "WIRELESS COMPANY_FAMILY - Videotron"),
        ("Videotron Ltd.", "0000", "- - - Videotron"),
        ("TELUS Quebec", "8083", "ILEC COMPANY_FAMILY - TELUS"),
        ("TELUS Quebec", "2243", "CLEC COMPANY_FAMILY - TELUS"),
        ("MTS Inc.", "8088", "ILEC COMPANY_FAMILY - Bell MTS"),
        ("MTS Inc.", "991B", "WIRELESS COMPANY_FAMILY - Bell MTS"),
        ("Bragg Communications Inc.", "4878", "CLEC COMPANY_FAMILY - Eastlink"),
        ("Bragg Communications Inc.", "421G", "WIRELESS COMPANY_FAMILY - Eastlink"),
        // Only under the same name: a code may be sold.
        ("ACME LLC", "421G", "- - - -"),
    ] {
        assert_eq!(describe(name, ocn), expected, "{name} {ocn}");
    }
}

#[test]
fn tables_are_sorted_unique_and_give_reasons() {
    let keys: Vec<_> = rows(FAMILIES).map(|row| (folded_words(&row.words), row.ocn)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    assert!(TABLES.name_words.iter().all(|(_, rule)| rule.carrier_type.is_some()));
    for table in [FAMILIES, NAME_WORDS] {
        for row in csv::Reader::from_reader(table.as_bytes()).records() {
            let row = row.unwrap();
            let (words, reason) = (&row[0], &row[row.len() - 1]);
            assert!(!folded_words(words).is_empty() && reason.contains(' '), "{row:?}");
        }
    }
}
