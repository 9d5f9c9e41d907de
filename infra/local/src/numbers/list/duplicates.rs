//! Numbers that occur more than once in a list.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
};

use super::{
    answer::NumberKey,
    options::{Duplicates, OutputForm},
    summary::Summary,
};

/// A row within a part of the output.
#[derive(Debug)]
pub(super) struct WrittenRow {
    /// The line of the list where the row begins.
    pub line: u64,
    /// The row's end within the part.
    pub end: usize,
    /// The keys of its numbers, and where to write the line that each one repeats.
    pub numbers: Vec<(Option<NumberKey>, usize)>,
}

/// The first lines of the numbers written so far.
pub(super) struct Deduplication {
    first_lines: HashMap<NumberKey, u64>,
    duplicates: Duplicates,
    form: OutputForm,
}

impl Deduplication {
    pub fn new(duplicates: Duplicates, form: OutputForm) -> Self {
        Self { first_lines: HashMap::new(), duplicates, form }
    }

    /// Writes the next part, and counts its duplicates of earlier rows.
    pub fn write(
        &mut self,
        text: &[u8],
        rows: &[WrittenRow],
        output: &mut impl Write,
        summary: &mut Summary,
    ) -> io::Result<()> {
        let mut written = 0;
        for WrittenRow { line, end, numbers } in rows {
            let (mut has_new, mut has_repeated) = (false, false);
            for &(key, place) in numbers {
                let earlier = match key.map(|key| self.first_lines.entry(key)) {
                    None => continue,
                    Some(Entry::Occupied(first)) => *first.get(),
                    Some(Entry::Vacant(free)) => {
                        free.insert(*line);
                        has_new = true;
                        continue;
                    }
                };
                has_repeated = true;
                summary.duplicates += 1;
                if self.duplicates == Duplicates::Mark {
                    output.write_all(&text[written..place])?;
                    match self.form {
                        OutputForm::Csv => write!(output, "{earlier}")?,
                        OutputForm::JsonLines => write!(output, ",\"duplicateOf\":{earlier}")?,
                    }
                    written = place;
                }
            }
            if self.duplicates == Duplicates::Drop && has_repeated && !has_new {
                summary.left_out += 1;
            } else {
                output.write_all(&text[written..*end])?;
            }
            written = *end;
        }
        Ok(())
    }
}
