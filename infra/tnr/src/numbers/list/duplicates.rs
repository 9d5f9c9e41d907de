//! Detects numbers that occur more than once in a list.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
};

use super::{
    options::{Duplicates, OutputFormat},
    summary::Summary,
};

/// A row within a part of the output.
#[derive(Debug)]
pub(super) struct OutputRow {
    /// The row's first line in the list.
    pub line: u64,
    /// The row's end within the part.
    pub end: usize,
    /// The keys of its numbers, and the positions at which to write the line that each one repeats.
    pub numbers: Vec<(Option<Box<str>>, usize)>,
}

/// Marks or drops duplicates.
pub(super) struct Deduplication {
    /// The line of each number's first occurrence.
    first_lines: HashMap<Box<str>, u64>,
    duplicates: Duplicates,
    format: OutputFormat,
}

impl Deduplication {
    pub fn new(duplicates: Duplicates, format: OutputFormat) -> Self {
        Self { first_lines: HashMap::new(), duplicates, format }
    }

    /// Writes the next part, and counts its duplicates.
    pub fn write(
        &mut self,
        text: &[u8],
        rows: Vec<OutputRow>,
        output: &mut impl Write,
        summary: &mut Summary,
    ) -> io::Result<()> {
        let mut written = 0;
        for OutputRow { line, end, numbers } in rows {
            let (mut has_new, mut has_duplicate) = (false, false);
            for (key, position) in numbers {
                let first_line = match key.map(|key| self.first_lines.entry(key)) {
                    None => continue,
                    Some(Entry::Occupied(first)) => *first.get(),
                    Some(Entry::Vacant(entry)) => {
                        entry.insert(line);
                        has_new = true;
                        continue;
                    }
                };
                has_duplicate = true;
                summary.duplicates += 1;
                if self.duplicates == Duplicates::Mark {
                    output.write_all(&text[written..position])?;
                    if self.format.is_json() {
                        output.write_all(b",\"duplicateOf\":")?;
                    }
                    write!(output, "{first_line}")?;
                    written = position;
                }
            }
            if self.duplicates == Duplicates::Drop && has_duplicate && !has_new {
                summary.omitted += 1;
            } else {
                output.write_all(&text[written..end])?;
            }
            written = end;
        }
        Ok(())
    }
}
