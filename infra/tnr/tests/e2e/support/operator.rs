//! An operator's database and files.

use std::{fs, process::Output};

use tempfile::TempDir;

use super::{program::run, small_reports::ReportSet};

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
    pub fn import(&self, reports: &ReportSet, more: &[&str]) -> Output {
        let nanpa = self.write("nanpa", &reports.nanpa);
        let cnac = self.write("cnac", &reports.cnac);
        let npa_report = self.write("npa_report", &reports.npa_report);
        let carriers = self.write("carriers", &reports.carriers);
        let options = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
        self.run(&[&options[..], &["--carriers", &carriers], more].concat())
    }
}
