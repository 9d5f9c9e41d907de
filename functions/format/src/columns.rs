//! Which column of a CSV has the phone numbers: for `POST /v1/format`, and for lists on the terminal.

use csv::{ByteRecord, ReaderBuilder};

/// What may stand between the cells. Of two that divide the first row alike, the first one counts. Excel
/// writes semicolons where a comma is a decimal sign.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The names of a column of numbers, in lower case and without anything but letters and digits.
const NAMES_OF_NUMBERS: [&str; 16] = [
    "tn",
    "phone",
    "phonenumber",
    "phoneno",
    "telephone",
    "telephonenumber",
    "tel",
    "mobile",
    "mobilephone",
    "mobilenumber",
    "cell",
    "cellphone",
    "msisdn",
    "e164",
    "telefon",
    "telefono",
];

/// What the name of such a column contains if it is none of these.
const PARTS_OF_NAMES: [&str; 5] = ["phone", "mobile", "telef", "msisdn", "cellular"];

/// A name that may mean such a column if no other does.
const VAGUE_NAME: &str = "number";

/// What is in the name of a column about numbers that has none, such as `Phone type`.
const PARTS_OF_OTHER_NAMES: [&str; 2] = ["type", "phonetic"];
/// Ends of such names, as in `Phone carrier`.
const ENDS_OF_OTHER_NAMES: [&str; 11] = [
    "carrier",
    "consent",
    "country",
    "ext",
    "extension",
    "label",
    "notes",
    "provider",
    "status",
    "valid",
    "verified",
];

/// A number has at least as many digits, and the name of a column mostly fewer.
const FEWEST_DIGITS: usize = 7;
/// A cell with as many digits holds a number, whatever else is in it; a date has eight.
const DIGITS_OF_NUMBER: usize = 10;

/// The letters that a number may have before its extension, in lower case. A cell with others is a name, unless it
/// has many digits.
const EXTENSION_LABELS: [&str; 4] = ["x", "ext", "extn", "extension"];

/// Why it is not certain which column is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// No column is named like one of phone numbers.
    NoneAlike,
    /// The columns at these positions are.
    SeveralAlike(Vec<usize>),
    /// No column has the name, or the number, that was asked for.
    NoSuch,
    /// More than one column has that name.
    Ambiguous,
}

/// The cells of the first row, and what divides them. A text without a row has no cells.
pub fn first_row(text: &[u8]) -> (u8, ByteRecord) {
    let divided = DELIMITERS.map(|delimiter| (delimiter, first_row_divided_by(delimiter, text)));
    let [first, rest @ ..] = divided;
    rest.into_iter().fold(first, |best, it| if it.1.len() > best.1.len() { it } else { best })
}

/// The cells of the first row, which this delimiter divides.
pub fn first_row_divided_by(delimiter: u8, text: &[u8]) -> ByteRecord {
    let mut reader = ReaderBuilder::new();
    let mut reader = reader.has_headers(false).delimiter(delimiter).from_reader(text);
    let mut row = ByteRecord::new();
    // Reading from memory cannot fail.
    _ = reader.read_byte_record(&mut row);
    row
}

/// The delimiter that a first line such as `sep=;` names, as Excel reads and writes it, and where the rows
/// begin after that line.
pub fn named_delimiter(text: &[u8]) -> Option<(u8, usize)> {
    let (name, rest) = text.split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let line_end = match rest {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    let is_named = name.eq_ignore_ascii_case(b"sep=") && is_delimiter(delimiter);
    is_named.then_some((delimiter, name.len() + 1 + line_end))
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | b' ') || (byte.is_ascii_punctuation() && byte != b'"')
}

/// The position of the column of numbers: the only one, or the only one that is named like one of numbers.
///
/// # Errors
/// Returns [`Doubt`] if no column, or more than one, is named so.
pub fn column_of_numbers(names: &[String]) -> Result<usize, Doubt> {
    if names.len() == 1 {
        return Ok(0);
    }
    let most = names.iter().map(|name| likeness(name)).max().unwrap_or_default();
    let alike = positions(names, |name| likeness(name) == most);
    match alike[..] {
        _ if most == 0 => Err(Doubt::NoneAlike),
        [only] => Ok(only),
        _ => Err(Doubt::SeveralAlike(alike)),
    }
}

/// The position of a column by its name or its number from 1 on. A name is preferred, and may have another
/// case if no column has it as it is.
///
/// # Errors
/// Returns [`Doubt`] if no column, or more than one, is meant.
pub fn column_named(names: &[String], wanted: &str) -> Result<usize, Doubt> {
    let wanted = wanted.trim();
    let exact = positions(names, |name| name == wanted);
    let alike = if exact.is_empty() {
        positions(names, |name| name.to_lowercase() == wanted.to_lowercase())
    } else {
        exact
    };
    match alike[..] {
        [only] => Ok(only),
        [] => match wanted.parse::<usize>() {
            Ok(number) if (1..=names.len()).contains(&number) => Ok(number - 1),
            _ => Err(Doubt::NoSuch),
        },
        _ => Err(Doubt::Ambiguous),
    }
}

/// The position of the column of the countries of numbers: the one that is named like the parameter
/// `defaultCountry`, in any case and punctuation.
///
/// # Errors
/// Returns [`Doubt`] if more than one is named so.
pub fn column_of_countries(names: &[String]) -> Result<Option<usize>, Doubt> {
    let alike = positions(names, |name| plain(name) == "defaultcountry");
    match alike[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(Doubt::SeveralAlike(alike)),
    }
}

/// The names of the columns of a table that has none.
pub fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("column_{number}")).collect()
}

/// Whether a column is named like one of numbers.
pub fn is_named_like_numbers(name: &str) -> bool {
    likeness(name) > 0
}

/// Whether a cell has as many digits as a number, which may stand among words.
pub fn has_digits_of_number(cell: &str) -> bool {
    digits_in(cell) >= FEWEST_DIGITS
}

/// Whether the cells of a first row name columns: one has the name that is `wanted`, or none holds a number.
pub fn are_names(cells: &[String], wanted: Option<&str>) -> bool {
    let is_wanted = |cell: &String| {
        wanted.is_some_and(|name| cell.to_lowercase() == name.trim().to_lowercase())
    };
    cells.iter().any(is_wanted) || !cells.iter().any(|cell| holds_number(cell))
}

/// Whether a cell is a number and no name of a column: it has the digits of one, and if they are few no
/// letters but those of an extension and of the scheme of RFC 3966.
fn holds_number(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let letters: String = cell.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = if cell.starts_with("tel:") { &letters[3..] } else { &letters };
    let is_plain = letters.is_empty() || EXTENSION_LABELS.contains(&letters);
    digits_in(&cell) >= if is_plain { FEWEST_DIGITS } else { DIGITS_OF_NUMBER }
}

fn digits_in(cell: &str) -> usize {
    cell.chars().filter(|c| c.is_numeric()).count()
}

/// How much the name of a column is like one of numbers: 2 if it is such a name, which may end with a
/// digit as in `Phone 1`, or contains one, and 1 if it is vague.
fn likeness(name: &str) -> u8 {
    let plain = plain(name);
    let bare = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_known = NAMES_OF_NUMBERS.iter().any(|known| *known == plain || *known == bare);
    let is_other = PARTS_OF_OTHER_NAMES.iter().any(|part| plain.contains(part))
        || ENDS_OF_OTHER_NAMES.iter().any(|end| bare.ends_with(end));
    if is_known || (!is_other && PARTS_OF_NAMES.iter().any(|part| plain.contains(part))) {
        2
    } else {
        (bare == VAGUE_NAME).into()
    }
}

/// A name in lower case and without anything but letters and digits.
fn plain(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    plain.to_lowercase()
}

fn positions(names: &[String], is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&position| is_wanted(&names[position])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &str) -> Vec<String> {
        of.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn the_column_is_the_only_one_or_named_like_one_of_numbers() {
        for (header, expected) in [
            ("who knows", Ok(0)),
            ("name,Phone Number", Ok(1)),
            ("id,number", Ok(1)),
            ("name,Customer phone", Ok(1)),
            ("phone type,phone", Ok(1)),
            ("number,phone", Ok(1)),
            ("name,Tel 1", Ok(1)),
            ("id,E.164", Ok(1)),
            ("contact,Phone type", Err(Doubt::NoneAlike)),
            ("a,b", Err(Doubt::NoneAlike)),
            ("phone,Phone carrier,First name (phonetic)", Ok(0)),
            ("name,phone,mobile", Err(Doubt::SeveralAlike(vec![1, 2]))),
            ("Home Phone,Mobile", Err(Doubt::SeveralAlike(vec![0, 1]))),
            ("phone,Customer phone", Err(Doubt::SeveralAlike(vec![0, 1]))),
        ] {
            assert_eq!(column_of_numbers(&names(header)), expected, "{header}");
        }
    }

    #[test]
    fn a_column_is_named_or_numbered() {
        for (header, wanted, expected) in [
            ("a,b,B", "b", Ok(1)),
            ("a,b,B", "B", Ok(2)),
            ("a,b", "A", Ok(0)),
            ("a,b", "2", Ok(1)),
            ("2,b", "2", Ok(0)),
            ("a,b", "3", Err(Doubt::NoSuch)),
            ("a,b", "0", Err(Doubt::NoSuch)),
            ("a,b", "", Err(Doubt::NoSuch)),
            ("a,a", "a", Err(Doubt::Ambiguous)),
        ] {
            assert_eq!(column_named(&names(header), wanted), expected, "{header} {wanted}");
        }
    }

    #[test]
    fn what_divides_the_first_row_into_most_cells_is_the_delimiter() {
        for (text, delimiter, cells) in [
            ("name;phone\r\n\"A, B\";305\r\n", b';', 2),
            ("name\tphone\nA;B\t305\n", b'\t', 2),
            ("id|cell_phone", b'|', 2),
            ("305", b',', 1),
            ("", b',', 0),
        ] {
            let (found, row) = first_row(text.as_bytes());
            assert_eq!((found, row.len()), (delimiter, cells), "{text:?}");
        }
    }

    #[test]
    fn a_first_line_may_name_the_delimiter_as_excel_does() {
        for (text, expected) in [
            ("sep=;\r\na;b", Some((b';', 7))),
            ("SEP=,\na,b", Some((b',', 6))),
            ("sep=\t\ra", Some((b'\t', 6))),
            ("sep=|", Some((b'|', 5))),
            ("sep=;;\n", None),
            ("sep=\n", None),
            ("sep=\"\n", None),
            ("sep=a\n", None),
            ("sep", None),
            ("separator\n", None),
        ] {
            assert_eq!(named_delimiter(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn the_column_of_countries_is_named_like_the_parameter() {
        for (header, expected) in [
            ("phone,defaultCountry", Ok(Some(1))),
            ("Default Country,phone", Ok(Some(0))),
            ("default_country", Ok(Some(0))),
            ("phone,country", Ok(None)),
            ("default_country,defaultCountry", Err(Doubt::SeveralAlike(vec![0, 1]))),
        ] {
            assert_eq!(column_of_countries(&names(header)), expected, "{header}");
        }
    }

    #[test]
    fn a_number_is_told_from_a_name_that_has_digits() {
        for number in [
            "3052345678",
            "(305) 234-5678 ext. 42",
            "tel:+1-305-234-5678",
            "٣٠٥٢٣٤٥٦٧٨",
            "Phone: 305-234-5678",
            "305 234 5678 home",
        ] {
            assert!(holds_number(number), "{number}");
        }
        for name in ["Phone (as of 2024-01-05)", "phone 1", "x", ""] {
            assert!(!holds_number(name), "{name}");
        }
    }

    #[test]
    fn a_row_with_a_number_has_no_names_unless_it_has_the_wanted_one() {
        let row = names("name,phone,2024-01-05");
        assert!(are_names(&row, Some(" Phone")));
        assert!(!are_names(&row, Some("2")));
        assert!(!are_names(&row, None));
        assert!(are_names(&names("name,phone"), None));
    }
}
