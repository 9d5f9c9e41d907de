use std::collections::BTreeSet;

use super::*;

/// The type, basis, line type and everyday name that follow from a company name.
fn describe(name: &str) -> String {
    let Some(KnownCompany { carrier_type, basis, line_type, common_name, .. }) = find(name) else {
        return "unknown".to_owned();
    };
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let [carrier_type, line_type] =
        [carrier_type.map(|it| it.to_string()), line_type.map(|it| it.to_string())].map(text);
    format!("{carrier_type} {basis} {line_type} {}", text(common_name.clone()))
}

#[test]
fn types_and_everyday_names_follow_from_company_names() {
    for (name, expected) in [
        ("T-MOBILE USA, INC.", "WIRELESS COMPANY_FAMILY - T-Mobile"),
        ("CELLCO PARTNERSHIP DBA VERIZON WIRELESS - CA", "WIRELESS COMPANY_FAMILY - Verizon"),
        ("BANDWIDTH.COM CLEC, LLC - NY", "CLEC COMPANY_FAMILY VOIP Bandwidth"),
        ("SPOK, INC.", "CLEC COMPANY_FAMILY PAGER Spok"),
        // The longest family wins.
        ("ONVOY, LLC - CA", "CLEC COMPANY_FAMILY VOIP Sinch"),
        ("ONVOY SPECTRUM, LLC", "WIRELESS COMPANY_FAMILY - Spectrum Mobile"),
        ("Bell Canada", "ILEC COMPANY_FAMILY - Bell"),
        ("Bell West Inc.", "CLEC COMPANY_FAMILY - Bell"),
        ("TELUS", "ILEC COMPANY_FAMILY - TELUS"),
        ("TELUS Integrated Communications", "CLEC COMPANY_FAMILY - TELUS"),
        // Its codes have several types.
        ("TELUS Quebec", "- COMPANY_FAMILY - TELUS"),
        ("Vidéotron Ltée", "- COMPANY_FAMILY - Videotron"),
        // A family's words must be whole.
        ("TELUSOFT", "unknown"),
        ("NORTHWOODS WIRELESS, LLC", "WIRELESS COMPANY_NAME - -"),
        ("Compagnie Sans-Fil du Nord", "WIRELESS COMPANY_NAME - -"),
        ("PRAIRIE TEL CO", "ILEC COMPANY_NAME - -"),
        // The first word rule wins.
        ("PRAIRIE TEL CO CELLULAR", "WIRELESS COMPANY_NAME - -"),
        ("TELEPHONE COMPANIONS", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(describe(name), expected, "{name}");
    }
}

#[test]
fn tables_are_sorted_unique_and_give_reasons() {
    let words: Vec<String> = rows(FAMILIES).map(|row| folded_words(&row.words)).collect();
    assert!(words.is_sorted(), "{words:?}");
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    assert!(TABLES.name_words.iter().all(|(_, rule)| rule.carrier_type.is_some()));
    for table in [FAMILIES, NAME_WORDS] {
        for row in csv::Reader::from_reader(table.as_bytes()).records() {
            let row = row.unwrap();
            let (words, reason) = (&row[0], &row[row.len() - 1]);
            assert!(!folded_words(words).is_empty() && reason.contains(' '), "{row:?}");
        }
    }
}
