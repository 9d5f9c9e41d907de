//! Numbers that occur more than once in a list.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
};

use formatting::PhoneNumber;

use super::{
    options::{Duplicates, OutputForm},
    summary::Summary,
};

/// A valid number and its extension as base-11 digits, which takes less memory than text. Split in
/// halves, because a single integer would be padded for alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NumberKey(u64, u64);

impl NumberKey {
    /// The key of a valid number; `None` if its extension is too long.
    pub fn new(number: &PhoneNumber) -> Option<Self> {
        let e164 = number.formats.e164.bytes().filter(u8::is_ascii_digit);
        let extension = number.extension.iter().flat_map(|digits| digits.bytes());
        let mark = number.extension.as_ref().map(|_| 10);
        let digit = |byte: u8| u128::from(byte.wrapping_sub(b'0'));
        let mut digits = e164.map(digit).chain(mark).chain(extension.map(digit));
        let key = digits.try_fold(0u128, |key, digit| key.checked_mul(11)?.checked_add(digit))?;
        Some(Self((key >> 64) as u64, key as u64))
    }
}

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

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;

    use super::*;

    fn key(text: &str) -> Option<NumberKey> {
        NumberKey::new(&PhoneNumber::parse(text, DefaultCountry::default()).unwrap())
    }

    #[test]
    fn numbers_are_the_same_if_e_164_and_extension_match() {
        assert_eq!(key("(415) 234-1234"), key("+1 415.234.1234"));
        assert_eq!(key("415 234 1234 x12"), key("+14152341234 ext. 12"));
        let others = ["415 234 1234", "415 234 1234 x12", "415 234 1234 x012", "415 234 1235"];
        let keys: std::collections::HashSet<_> = others.map(key).into();
        assert_eq!(keys.len(), others.len());
    }
}
