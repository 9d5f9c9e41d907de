//! Distinguishes a header row from a row with numbers.

use super::column_names::NameMatch;

/// The minimum number of digits in a phone number. Most column names have fewer.
const MIN_DIGITS: usize = 7;
/// A cell with this many digits holds a number even if it also contains words. A date has eight.
const MIN_DIGITS_WITH_WORDS: usize = 10;

/// Letters that may precede an extension, in lowercase. A cell with other letters and few digits is a name.
const EXTENSION_LABELS: [&str; 4] = ["x", "ext", "extn", "extension"];

/// Returns `true` if a first row has a column whose name suggests phone numbers, or several cells and no number.
pub fn looks_like_header(cells: &[String]) -> bool {
    let is_name = |cell: &String| NameMatch::new(cell) > NameMatch::None && !holds_number(cell);
    cells.iter().any(is_name)
        || (cells.len() > 1 && !cells.iter().any(|cell| digits_in(cell) >= MIN_DIGITS))
}

/// Returns `true` if the cell holds a number rather than a column name. If it has few digits, the only letters
/// allowed are extension labels and the RFC 3966 scheme.
pub fn holds_number(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let letters: String = cell.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = if cell.starts_with("tel:") { &letters[3..] } else { &letters };
    let is_plain = letters.is_empty() || EXTENSION_LABELS.contains(&letters);
    digits_in(&cell) >= if is_plain { MIN_DIGITS } else { MIN_DIGITS_WITH_WORDS }
}

fn digits_in(cell: &str) -> usize {
    cell.chars().filter(|c| c.is_numeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_row_looks_like_phone_numbers_or_has_several_cells_without_a_number() {
        for (row, expected) in [
            ("phone", true),
            ("name", false),
            ("name,city", true),
            ("name,3052345678", false),
            ("phone,3052345678", true),
            ("From", true),
            ("tel:+1-305-234-5678", false),
            ("Cell: 305 234 5678", false),
            ("WhatsApp +44 20 7946 0958", false),
        ] {
            let cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            assert_eq!(looks_like_header(&cells), expected, "{row}");
        }
    }

    #[test]
    fn cells_with_numbers_differ_from_names_with_digits() {
        let numbers = "3052345678; (305) 234-5678 ext. 42; tel:+1-305-234-5678; ٣٠٥٢٣٤٥٦٧٨; \
                       Phone: 305-234-5678; 305 234 5678 home";
        assert!(numbers.split("; ").all(holds_number));
        assert!(!["Phone (as of 2024-01-05)", "phone 1", "x", ""].into_iter().any(holds_number));
    }
}
