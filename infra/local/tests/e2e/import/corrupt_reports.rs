//! Ways to corrupt a report so that it stays parseable, and the reasons that each refusal must give.

use std::cell::{Cell, RefCell};

use crate::support::small_reports::ReportSet;

/// Columns in NANPA's report.
const STATE: usize = 0;
pub const OCN: usize = 2;
const COMPANY: usize = 3;
pub const RATE_CENTER: usize = 4;
const USE: usize = 6;

/// A way to corrupt the reports, and the reasons that the refusal must give.
pub struct Corruption {
    pub name: &'static str,
    pub apply: fn(&mut ReportSet),
    /// Text that the refusal must contain after an import of intact reports.
    pub reasons: &'static [&'static str],
    /// Text that a first import's refusal must contain; empty if only a previous version reveals the corruption.
    pub first_import_reasons: &'static [&'static str],
}

/// NANPA's report with one cell in each data row computed from the row's cells.
pub fn replace_cell(text: &str, column: usize, cell: impl Fn(&[&str]) -> String) -> String {
    let rows = text.split_inclusive('\n').enumerate().map(|(index, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        if index == 0 || cells.len() <= column {
            return line.to_owned();
        }
        let changed = cell(&cells);
        [&cells[..column], &[changed.as_str()], &cells[column + 1..]].concat().join("\t")
    });
    rows.collect()
}

/// NANPA's report with two column names swapped, as if the publisher had moved them.
fn swap_columns(text: &str, first: usize, second: usize) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let mut names: Vec<&str> = header.split('\t').collect();
    names.swap(first, second);
    format!("{}\n{rows}", names.join("\t"))
}

/// NANPA's report with every 25th row reassigned to one carrier.
fn assign_every_25th_row(text: &str) -> String {
    let rows = Cell::new(0);
    replace_cell(text, OCN, |cells| {
        rows.set(rows.get() + 1);
        if rows.get() % 25 == 0 { "6872" } else { cells[OCN] }.to_owned()
    })
}

pub const CORRUPTIONS: [Corruption; 11] = [
    Corruption {
        name: "Use shifted by one row",
        apply: |reports| {
            let above = RefCell::new("AS ".to_owned());
            reports.nanpa =
                replace_cell(&reports.nanpa, USE, |cells| above.replace(cells[USE].to_owned()));
        },
        reasons: &["US exchanges (", "status ("],
        first_import_reasons: &[],
    },
    Corruption {
        name: "every 25th row with one OCN",
        apply: |reports| reports.nanpa = assign_every_25th_row(&reports.nanpa),
        reasons: &["US exchanges (", "OCN ("],
        first_import_reasons: &[],
    },
    Corruption {
        name: "no OCN",
        apply: |reports| reports.nanpa = replace_cell(&reports.nanpa, OCN, |_| String::new()),
        reasons: &[
            "US exchanges (",
            "OCN (",
            "to none",
            "area codes would lose or change exchanges",
        ],
        first_import_reasons: &["only 0 of", "US exchanges with an OCN"],
    },
    Corruption {
        name: "every Use is assigned",
        apply: |reports| reports.nanpa = replace_cell(&reports.nanpa, USE, |_| "AS ".to_owned()),
        reasons: &["US exchanges (", "status ("],
        first_import_reasons: &["US records would have the same status"],
    },
    Corruption {
        name: "every Use is 'In Service'",
        apply: |reports| {
            reports.nanpa = replace_cell(&reports.nanpa, USE, |_| "In Service".to_owned());
        },
        reasons: &["US exchanges (", "would change status from 'ASSIGNED' to 'RESERVED'"],
        first_import_reasons: &[
            "column Use:",
            "(100.0%) have an unknown value",
            "check the column order in the header",
        ],
    },
    Corruption {
        name: "one OCN",
        apply: |reports| reports.nanpa = replace_cell(&reports.nanpa, OCN, |_| "6872".to_owned()),
        reasons: &["US exchanges (", "OCN ("],
        first_import_reasons: &["US records would have the same OCN"],
    },
    Corruption {
        name: "unknown states",
        apply: |reports| reports.nanpa = replace_cell(&reports.nanpa, STATE, |_| "ZZ".to_owned()),
        reasons: &["(100.0%) would differ from version", "state ("],
        first_import_reasons: &["column State:", "such as 'ZZ' on line 2"],
    },
    Corruption {
        name: "cut off between two rows",
        apply: |reports| {
            let lines: Vec<&str> = reports.nanpa.split_inclusive('\n').collect();
            reports.nanpa = lines[..lines.len() * 981 / 1000].concat();
        },
        reasons: &[
            "would lose or change exchanges compared with version",
            "check whether a file is truncated",
        ],
        first_import_reasons: &[],
    },
    Corruption {
        name: "Company and RateCenter swapped",
        apply: |reports| reports.nanpa = swap_columns(&reports.nanpa, COMPANY, RATE_CENTER),
        reasons: &["carriers (", "company name (", "rate center ("],
        first_import_reasons: &["have several company names for one OCN"],
    },
    Corruption {
        name: "French statuses",
        apply: |reports| {
            let french = reports.cnac.replace("\"In Service\"", "\"En service\"");
            reports.cnac = french.replace("\"Available\"", "\"Disponible\"");
        },
        reasons: &["CA exchanges (", "status ("],
        first_import_reasons: &["the CNAC code status, column Status:", "an unknown value"],
    },
    Corruption {
        name: "full country names",
        apply: |reports| reports.npa_report = reports.npa_report.replace(",US,", ",United States,"),
        reasons: &["have an unknown value, more than 1%, such as 'United States'"],
        first_import_reasons: &["column COUNTRY:", "'United States'"],
    },
];
