//! Finds the numbers in a line.

use formatting::{DefaultCountry, Leniency, NumberInText, PhoneNumber, RulesFailed, find_numbers};

pub struct Found<'a> {
    /// In bytes.
    pub start: usize,
    pub tn: &'a str,
    pub number: PhoneNumber,
}

/// The numbers in a line, whose invalid UTF-8 is skipped.
pub fn find_in_line(
    line: &[u8],
    country: DefaultCountry,
    leniency: Leniency,
) -> Result<Vec<Found<'_>>, RulesFailed> {
    let (mut found, mut start) = (Vec::new(), 0);
    for chunk in line.utf8_chunks() {
        let text = chunk.valid();
        for number in find_numbers(text, country, leniency) {
            let NumberInText { range, number } = number?;
            found.push(Found { start: start + range.start, tn: &text[range], number });
        }
        start += text.len() + chunk.invalid().len();
    }
    Ok(found)
}
