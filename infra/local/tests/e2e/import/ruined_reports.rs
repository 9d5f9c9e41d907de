//! Ways to ruin a report that stays parseable, and what each refusal must say.

use std::cell::{Cell, RefCell};

use crate::support::small_reports::ReportTexts;

/// Columns of NANPA's report.
const STATE: usize = 0;
pub const OCN: usize = 2;
const COMPANY: usize = 3;
pub const RATE_CENTER: usize = 4;
const USE: usize = 6;

/// A way to ruin the reports, and what the refusal must say.
pub struct Ruin {
    pub name: &'static str,
    pub ruin: fn(&mut ReportTexts),
    /// Texts in the refusal after a version with intact reports.
    pub reasons: &'static [&'static str],
    /// Texts in the refusal of a first import; empty if only a previous version reveals the ruin.
    pub first_reasons: &'static [&'static str],
}

/// NANPA's report with one cell of each data row computed from the row's cells.
pub fn with_cell(text: &str, column: usize, cell: impl Fn(&[&str]) -> String) -> String {
    let rows = text.split_inclusive('\n').enumerate().map(|(n, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        if n == 0 || cells.len() <= column {
            return line.to_owned();
        }
        let changed = cell(&cells);
        [&cells[..column], &[changed.as_str()], &cells[column + 1..]].concat().join("\t")
    });
    rows.collect()
}

/// NANPA's report with two column names swapped, as if the publisher had moved them.
fn with_names_swapped(text: &str, first: usize, second: usize) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let mut names: Vec<&str> = header.split('\t').collect();
    names.swap(first, second);
    format!("{}\n{rows}", names.join("\t"))
}

/// NANPA's report with every 25th row reassigned to one carrier.
fn sprinkled(text: &str) -> String {
    let rows = Cell::new(0);
    with_cell(text, OCN, |cells| {
        rows.set(rows.get() + 1);
        if rows.get() % 25 == 0 { "6872" } else { cells[OCN] }.to_owned()
    })
}

pub const RUINS: [Ruin; 11] = [
    Ruin {
        name: "Use shifted by a row",
        ruin: |texts| {
            let above = RefCell::new("AS ".to_owned());
            texts.nanpa =
                with_cell(&texts.nanpa, USE, |cells| above.replace(cells[USE].to_owned()));
        },
        reasons: &["US exchanges (", "status of"],
        first_reasons: &[],
    },
    Ruin {
        name: "every 25th row of one OCN",
        ruin: |texts| texts.nanpa = sprinkled(&texts.nanpa),
        reasons: &["US exchanges (", "OCN of"],
        first_reasons: &[],
    },
    Ruin {
        name: "no OCN",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, OCN, |_| String::new()),
        reasons: &[
            "US exchanges (",
            "OCN of",
            "would have none",
            "area codes would lose exchanges",
        ],
        first_reasons: &["only 0 of", "US exchanges with an OCN"],
    },
    Ruin {
        name: "every Use is assigned",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |_| "AS ".to_owned()),
        reasons: &["US exchanges (", "status of"],
        first_reasons: &["the statuses of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "every Use is 'In Service'",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, USE, |_| "In Service".to_owned()),
        reasons: &["US exchanges (", "has status 'ASSIGNED' and would have 'RESERVED'"],
        first_reasons: &[
            "column Use:",
            "(100.0 %) hold a word that is not known",
            "check the order of the header",
        ],
    },
    Ruin {
        name: "one OCN",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, OCN, |_| "6872".to_owned()),
        reasons: &["US exchanges (", "OCN of"],
        first_reasons: &["the OCNs of US would be the same in 100.0 %"],
    },
    Ruin {
        name: "unknown states",
        ruin: |texts| texts.nanpa = with_cell(&texts.nanpa, STATE, |_| "ZZ".to_owned()),
        reasons: &["(100.0 %) would differ from version", "state of"],
        first_reasons: &["column State:", "such as 'ZZ' in line 2"],
    },
    Ruin {
        name: "cut off between two rows",
        ruin: |texts| {
            let lines: Vec<&str> = texts.nanpa.split_inclusive('\n').collect();
            texts.nanpa = lines[..lines.len() * 981 / 1000].concat();
        },
        reasons: &["would lose exchanges that version", "check whether a file is cut off"],
        first_reasons: &[],
    },
    Ruin {
        name: "Company and RateCenter swapped",
        ruin: |texts| texts.nanpa = with_names_swapped(&texts.nanpa, COMPANY, RATE_CENTER),
        reasons: &["carriers (", "company name of", "rate center of"],
        first_reasons: &["with several company names for one OCN"],
    },
    Ruin {
        name: "French statuses",
        ruin: |texts| {
            let french = texts.cnac.replace("\"In Service\"", "\"En service\"");
            texts.cnac = french.replace("\"Available\"", "\"Disponible\"");
        },
        reasons: &["CA exchanges (", "status of"],
        first_reasons: &["the CNAC code status, column Status:", "not known"],
    },
    Ruin {
        name: "the name of the country",
        ruin: |texts| texts.npa_report = texts.npa_report.replace(",US,", ",United States,"),
        reasons: &["hold a word that is not known, more than 1 %, such as 'United States'"],
        first_reasons: &["column COUNTRY:", "'United States'"],
    },
];
