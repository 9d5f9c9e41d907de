//! Reports for two area codes, cut from the sample, in three versions: small enough to import often.

use std::{fs, path::Path};

use ingest::{ReportName, Source, Sources};
use tnr::data::sample::sample;

/// The sample's area codes in California and Toronto.
const NPAS: [&str; 2] = ["415", "416"];

/// The content of the reports in one import.
#[derive(Debug, Clone)]
pub struct ReportSet {
    pub nanpa: String,
    pub cnac: String,
    pub npa_report: String,
    pub carriers: String,
}

impl ReportSet {
    /// The sample's reports without most area codes.
    pub fn first() -> Self {
        let keep = |text: &str, header_lines: usize, matches: &dyn Fn(&str, &str) -> bool| {
            let is_kept = |(index, line): &(usize, &str)| {
                *index < header_lines || NPAS.iter().any(|npa| matches(line, npa))
            };
            let lines = text.split_inclusive('\n').enumerate().filter(is_kept);
            lines.map(|(_, line)| line).collect::<String>()
        };
        let Self { nanpa, cnac, npa_report, carriers } = Self::sample();
        Self {
            nanpa: keep(&nanpa, 1, &|line, npa| line.contains(&format!("\t{npa}-"))),
            cnac: keep(&cnac, 2, &|line, npa| line.starts_with(npa)),
            // Area code 600 has no exchanges.
            npa_report: keep(&npa_report, 2, &|line, npa| {
                line.starts_with(npa) || line.starts_with("600")
            }),
            carriers,
        }
    }

    /// The reports a few weeks later: exchanges added, removed and changed, and a carrier renamed.
    pub fn second() -> Self {
        let mut reports = Self::first();
        let removed = reports.nanpa.lines().find(|line| line.contains("\t415-206\t")).unwrap();
        reports.nanpa = reports.nanpa.replace(&format!("{removed}\n"), "");
        reports.nanpa = reports.nanpa.replace("415-234", "415-207");
        reports.cnac = reports.cnac.replace("2000-01-01", "2000-01-15");
        reports.cnac = reports.cnac.replacen("\"Available\"", "\"Protected\"", 1);
        reports.carriers =
            reports.carriers.replace("Sample Telephone Company of Ontario", "Sample Bell");
        reports.cnac = reports.cnac.replace("Sample Telephone Company of Ontario", "Sample Bell");
        reports
    }

    /// The second reports, with a different code for the new exchange.
    pub fn third() -> Self {
        let mut reports = Self::second();
        reports.nanpa = reports.nanpa.replace("415-207", "415-209");
        reports
    }

    /// The sample's four complete reports.
    pub fn sample() -> Self {
        let sample = sample();
        let text = |name| match sample.get(name) {
            Some(Source::Embedded(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        };
        Self {
            nanpa: text(ReportName::Nanpa),
            cnac: text(ReportName::Cnac),
            npa_report: text(ReportName::NpaReport),
            carriers: text(ReportName::Carriers),
        }
    }

    /// The sample's reports with other names and a later date, as if published by NANPA and CNAC.
    pub fn published() -> Self {
        let sample = Self::sample();
        let reports = [sample.nanpa, sample.cnac, sample.npa_report, sample.carriers];
        let [nanpa, cnac, npa_report, carriers] = reports.map(|text| {
            let renamed = text.replace("SAMPLE", "ACTUAL").replace("Sample", "Actual");
            renamed.replace("01/01/2000", "07/01/2026").replace("2000-01-01", "2026-07-01")
        });
        Self { nanpa, cnac, npa_report, carriers }
    }

    /// Writes the reports into a new folder.
    pub fn write_into(&self, folder: &Path) {
        fs::create_dir(folder).unwrap();
        let Self { nanpa, cnac, npa_report, carriers } = self;
        for (name, text) in
            [("nanpa", nanpa), ("cnac", cnac), ("npa_report", npa_report), ("carriers", carriers)]
        {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    /// The reports as import sources.
    pub fn sources(&self) -> Sources {
        Sources::from_iter([
            (ReportName::Nanpa, source(&self.nanpa)),
            (ReportName::Cnac, source(&self.cnac)),
            (ReportName::NpaReport, source(&self.npa_report)),
            (ReportName::Carriers, source(&self.carriers)),
        ])
    }
}

/// Text as a source. It stays in memory until the process exits.
pub fn source(text: &str) -> Source {
    Source::Embedded(text.as_bytes().to_vec().leak())
}
