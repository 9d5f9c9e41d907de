//! Packs a table of names by prefix, sorted by prefix, from standard input:
//!
//! ```text
//! 4930<TAB>en Berlin<TAB>de Berlin
//! ```
//!
//! In the table of time zones, the names are zones, separated by spaces.
//!
//! Usage: `pack_names PREFIXES LINES`. Writes two files, both compressed: a map from each prefix to the index of its
//! line, and the lines without their prefixes. Prefixes with the same names share a line.
//! `.ci/libphonenumber/generate` runs it.

use std::{
    collections::HashMap,
    env,
    error::Error,
    fs,
    io::{self, BufRead},
};

const LEVEL: i32 = 22;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    let [prefixes_file, lines_file] = &*files else { return Err("name two files".into()) };
    let (mut prefixes, mut lines) = (fst::MapBuilder::memory(), String::new());
    let mut indexes: HashMap<String, u64> = HashMap::new();
    for row in io::stdin().lock().lines() {
        let row = row?;
        let (prefix, names) = row.split_once('\t').ok_or("a prefix has no names")?;
        let next = indexes.len() as u64;
        let index = *indexes.entry(names.to_owned()).or_insert_with(|| {
            lines.extend([names, "\n"]);
            next
        });
        prefixes.insert(prefix, index)?;
    }
    fs::write(prefixes_file, zstd::encode_all(&*prefixes.into_inner()?, LEVEL)?)?;
    fs::write(lines_file, zstd::encode_all(lines.as_bytes(), LEVEL)?)?;
    Ok(())
}
