//! Tables of test cases, stored in text files.

/// The rows of a table with cells separated by vertical bars. Skips empty lines and lines that start with `#`. A cell
/// in quotes is JSON.
pub fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [String; N]> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let cells = line.split(" | ").map(str::trim).map(|cell| {
            if cell.starts_with('"') {
                serde_json::from_str(cell).unwrap()
            } else {
                cell.to_owned()
            }
        });
        cells.collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"))
    })
}
