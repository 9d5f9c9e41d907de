//! The machine that the figures are of.

use std::{fs, thread};

/// One sentence about the processor, its cores and the memory.
pub fn description() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or("an unknown processor".into());
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| gibibytes(&text));
    let memory = memory.map_or(String::new(), |memory| format!(", {memory:.0} GiB of memory"));
    format!("{cores} cores of {processor}{memory}, {}.", std::env::consts::ARCH)
}

/// The first value of a field in a file of lines such as `name : value`.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let (_, value) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(known, _)| known.trim() == name)?;
    Some(value.trim().to_owned())
}

/// An amount such as `16384 kB` in GiB.
fn gibibytes(text: &str) -> Option<f64> {
    let kibibytes: f64 = text.strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes / 1024.0 / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_kibibytes() {
        assert_eq!(gibibytes("16777216 kB"), Some(16.0));
        assert_eq!(gibibytes("unknown"), None);
    }
}
