//! Reports for two area codes, cut from the sample, in three versions. They are small enough to import often.

use std::{fs, path::Path};

use ingest::{ReportName, Source, Sources};
use tnr::data::sample::sample;

/// The content of the reports in one import.
#[derive(Debug, Clone)]
pub struct ReportSet {
    pub nanpa: String,
    pub cnac: String,
    pub npa_report: String,
    pub carriers: String,
}

impl ReportSet {
    /// The sample's reports without most of the area codes. Area code 600 has no exchanges.
    pub fn first() -> Self {
        let keep = |text: &str, header_lines: usize, patterns: &[&str]| -> String {
            let lines = text.split_inclusive('\n').enumerate();
            let is_kept = |(index, line): &(usize, &str)| {
                let line = format!("\n{line}");
                *index < header_lines || patterns.iter().any(|pattern| line.contains(pattern))
            };
            lines.filter(is_kept).map(|(_, line)| line).collect()
        };
        let Self { nanpa, cnac, npa_report, carriers } = Self::sample();
        Self {
            nanpa: keep(&nanpa, 1, &["\t415-", "\t416-"]),
            cnac: keep(&cnac, 2, &["\n415", "\n416"]),
            npa_report: keep(&npa_report, 2, &["\n415", "\n416", "\n600"]),
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

    /// The sample's reports with other names and a later date, as if NANPA and CNAC had published them.
    pub fn published() -> Self {
        let sample = Self::sample();
        let reports = [sample.nanpa, sample.cnac, sample.npa_report, sample.carriers];
        let [nanpa, cnac, npa_report, carriers] = reports.map(|text| {
            let renamed = text.replace("SAMPLE", "ACTUAL").replace("Sample", "Actual");
            renamed.replace("01/01/2000", "07/01/2026").replace("2000-01-01", "2026-07-01")
        });
        Self { nanpa, cnac, npa_report, carriers }
    }

    fn files(&self) -> [(ReportName, &'static str, &str); 4] {
        [
            (ReportName::Nanpa, "nanpa", &self.nanpa),
            (ReportName::Cnac, "cnac", &self.cnac),
            (ReportName::NpaReport, "npa_report", &self.npa_report),
            (ReportName::Carriers, "carriers", &self.carriers),
        ]
    }

    /// Writes the reports into a new folder.
    pub fn write_into(&self, folder: &Path) {
        fs::create_dir(folder).unwrap();
        for (_, name, text) in self.files() {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    /// The reports as import sources.
    pub fn sources(&self) -> Sources {
        Sources::from_iter(self.files().map(|(name, _, text)| (name, source(text))))
    }
}

/// Text as a source. It stays in memory until the process exits.
pub fn source(text: &str) -> Source {
    Source::Embedded(text.as_bytes().to_vec().leak())
}
