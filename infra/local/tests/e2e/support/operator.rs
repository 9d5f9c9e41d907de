//! An operator's database and files.

use std::{fs, process::Output};

use tempfile::TempDir;

use super::{program::run, small_reports::ReportTexts};

/// A folder with the operator's database and files.
pub struct Operator {
    pub folder: TempDir,
}

impl Operator {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.folder.path().join(name), text).unwrap();
        self.path(name)
    }

    /// Runs the program on this operator's database.
    pub fn run(&self, arguments: &[&str]) -> Output {
        run(&self.folder, arguments)
    }

    /// Imports these reports with extra options.
    pub fn import(&self, texts: &ReportTexts, more: &[&str]) -> Output {
        let nanpa = self.write("nanpa", &texts.nanpa);
        let cnac = self.write("cnac", &texts.cnac);
        let npa_report = self.write("npa_report", &texts.npa_report);
        let carriers = self.write("carriers", &texts.carriers);
        let reports = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
        self.run(&[&reports[..], &["--carriers", &carriers], more].concat())
    }
}
