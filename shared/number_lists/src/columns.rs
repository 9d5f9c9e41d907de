//! The CSV columns that hold phone numbers and countries.

/// Names of phone number columns, reduced to lowercase letters and digits.
const NUMBER_COLUMN_NAMES: [&str; 4] = ["tn", "tel", "cell", "e164"];
/// Parts of other phone number column names, such as `Home phone` and `Telefon`.
const NUMBER_COLUMN_PARTS: [&str; 5] = ["phone", "mobile", "telef", "msisdn", "cellular"];

/// A name that counts only if no other column matches.
const VAGUE_NAME: &str = "number";

/// Parts of column names that only describe numbers, such as `Phone type`.
const OTHER_COLUMN_PARTS: [&str; 2] = ["type", "phonetic"];
/// Endings of such names, as in `Phone carrier`.
const OTHER_COLUMN_ENDINGS: &str =
    "carrier consent country ext extension label notes provider status valid verified";

/// The minimum number of digits in a phone number. Most column names have fewer.
const MIN_DIGITS: usize = 7;
/// A cell with this many digits holds a number even if it also contains words. A date has eight.
const MIN_DIGITS_WITH_WORDS: usize = 10;

/// Letters that may precede an extension, in lowercase. A cell with other letters and few digits is a name.
const EXTENSION_LABELS: [&str; 4] = ["x", "ext", "extn", "extension"];

/// The maximum number of columns to list in a message.
const MAX_LISTED: usize = 20;
/// The length at which a message truncates a name.
const MAX_QUOTED: usize = 40;

#[derive(Debug, Clone, Copy)]
pub struct ColumnOptions<'a> {
    /// True if the first row is a header.
    pub has_header: bool,
    /// The number columns, by name or position starting at 1. Defaults to the only column, or the only one
    /// whose name suggests phone numbers.
    pub numbers: &'a [String],
    /// The country column. Defaults to the one named like the `defaultCountry` parameter, if any.
    pub country: Option<&'a str>,
    /// The names of these two options in error messages.
    pub option_names: [&'a str; 2],
    /// The advice if there is no header row.
    pub no_header_advice: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    pub names: Vec<String>,
    /// The positions of the number columns: at least one, without duplicates.
    pub numbers: Vec<usize>,
    /// The position of the country column.
    pub country: Option<usize>,
}

impl Columns {
    /// Finds the columns in a CSV's first row. The error message mentions the option that resolves an ambiguity.
    pub fn find(first_row: Vec<String>, options: &ColumnOptions<'_>) -> Result<Self, String> {
        let mut requested = options.numbers.iter().map(String::as_str).chain(options.country);
        let has_names = requested.any(|name| first_row.iter().any(|cell| names_match(cell, name)))
            || !first_row.iter().any(|cell| holds_number(cell));
        if options.has_header && !has_names {
            let advice = options.no_header_advice;
            let problem = "the first row contains a number instead of column names";
            return Err(format!("{problem}; {advice}"));
        }
        let names = if options.has_header {
            first_row
        } else {
            (1..=first_row.len()).map(|position| format!("column_{position}")).collect()
        };
        let [number_option, country_option] = options.option_names;
        let country = match options.country {
            Some(name) => Some(position(&names, name)?),
            None => country_column(&names, country_option)?,
        };
        let mut numbers = Vec::new();
        for name in options.numbers {
            let number = position(&names, name)?;
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        if numbers.is_empty() {
            numbers.push(number_column(&names, number_option)?);
        }
        Ok(Self { names, numbers, country })
    }

    /// The position of the only column with this name.
    pub fn named(&self, name: &str) -> Option<usize> {
        position(&self.names, name).ok()
    }
}

/// Returns `true` if a first row has a column whose name suggests phone numbers, or several cells and no number.
pub fn looks_like_header(cells: &[String]) -> bool {
    cells.iter().any(|cell| score(cell) > 0)
        || (cells.len() > 1 && !cells.iter().any(|cell| digits_in(cell) >= MIN_DIGITS))
}

/// The position of the number column: the only column, or the only one whose name suggests phone numbers.
fn number_column(names: &[String], option: &str) -> Result<usize, String> {
    let best = names.iter().map(|name| score(name)).max().unwrap_or_default();
    let matches = positions(names, |name| score(name) == best);
    match matches[..] {
        _ if names.len() == 1 => Ok(0),
        _ if best == 0 => Err(format!(
            "no column looks like phone numbers; choose one with {option}: {}",
            list_names(names)
        )),
        [only] => Ok(only),
        _ => Err(format!(
            "columns {} look like phone numbers; choose one with {option}",
            list_columns(&matches, names)
        )),
    }
}

fn country_column(names: &[String], option: &str) -> Result<Option<usize>, String> {
    let matches = positions(names, |name| plain(name) == "defaultcountry");
    match matches[..] {
        [] | [_] => Ok(matches.first().copied()),
        _ => Err(format!(
            "columns {} look like countries; choose one with {option}",
            list_columns(&matches, names)
        )),
    }
}

/// Finds a column by name, or by position starting at 1. Names take precedence, and match ignoring case if no
/// column matches exactly.
fn position(names: &[String], wanted: &str) -> Result<usize, String> {
    let mut matches = positions(names, |name| name == wanted.trim());
    if matches.is_empty() {
        matches = positions(names, |name| names_match(name, wanted));
    }
    match matches[..] {
        [only] => Ok(only),
        [] => match wanted.trim().parse::<usize>() {
            Ok(position) if (1..=names.len()).contains(&position) => Ok(position - 1),
            _ => Err(format!(
                "there is no column {}; the columns are {}",
                quote(wanted),
                list_names(names)
            )),
        },
        _ => Err(format!(
            "several columns are named {}; choose one by position, from 1 to {}",
            quote(wanted),
            names.len()
        )),
    }
}

/// Lists columns with their positions and names, as in `2 'Home Phone' and 3 'Mobile' both`.
fn list_columns(positions: &[usize], names: &[String]) -> String {
    let listed = positions.iter().take(MAX_LISTED);
    let mut listed: Vec<String> =
        listed.map(|&position| format!("{} {}", position + 1, quote(&names[position]))).collect();
    let last = listed.pop().unwrap_or_default();
    let word = if positions.len() == 2 { "both" } else { "all" };
    format!("{} and {last} {word}", listed.join(", "))
}

fn list_names(names: &[String]) -> String {
    let listed = names.iter().take(MAX_LISTED).map(|name| quote(name));
    let more = names.len().saturating_sub(MAX_LISTED);
    let rest = (more > 0).then(|| format!("{more} more"));
    listed.chain(rest).collect::<Vec<_>>().join(", ")
}

fn quote(name: &str) -> String {
    match name.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("'{}…'", &name[..end]),
        None => format!("'{name}'"),
    }
}

fn names_match(name: &str, wanted: &str) -> bool {
    name.to_lowercase() == wanted.trim().to_lowercase()
}

fn positions(names: &[String], is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&position| is_wanted(&names[position])).collect()
}

/// Returns `true` if the cell holds a number rather than a column name. If it has few digits, the only letters
/// allowed are extension labels and the RFC 3966 scheme.
fn holds_number(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let letters: String = cell.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = if cell.starts_with("tel:") { &letters[3..] } else { &letters };
    let is_plain = letters.is_empty() || EXTENSION_LABELS.contains(&letters);
    digits_in(&cell) >= if is_plain { MIN_DIGITS } else { MIN_DIGITS_WITH_WORDS }
}

fn digits_in(cell: &str) -> usize {
    cell.chars().filter(|c| c.is_numeric()).count()
}

/// Scores a column name: 2 if it suggests phone numbers, with or without a trailing digit as in `Phone 1`; 1 if it
/// is vague; 0 otherwise.
fn score(name: &str) -> u8 {
    let plain = plain(name);
    let bare = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_known = NUMBER_COLUMN_NAMES.iter().any(|known| *known == plain || *known == bare);
    let is_other = OTHER_COLUMN_PARTS.iter().any(|part| plain.contains(part))
        || OTHER_COLUMN_ENDINGS.split(' ').any(|end| bare.ends_with(end));
    if is_known || (!is_other && NUMBER_COLUMN_PARTS.iter().any(|part| plain.contains(part))) {
        2
    } else {
        (bare == VAGUE_NAME).into()
    }
}

/// Reduces a name to lowercase letters and digits.
fn plain(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    plain.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &str) -> Vec<String> {
        row.split(',').map(str::to_owned).collect()
    }

    fn find(row: &str, numbers: &[&str], country: Option<&str>) -> Result<Columns, String> {
        let numbers: Vec<String> = numbers.iter().copied().map(str::to_owned).collect();
        Columns::find(cells(row), &options(&numbers, country))
    }

    fn options<'a>(numbers: &'a [String], country: Option<&'a str>) -> ColumnOptions<'a> {
        let option_names = ["--column", "--country-column"];
        let no_header_advice = "pass --no-header";
        ColumnOptions { has_header: true, numbers, country, option_names, no_header_advice }
    }

    #[test]
    fn the_number_column_is_the_only_one_or_named_like_phone_numbers() {
        let neither = "no column looks like phone numbers; choose one with --column: ";
        let several = |columns| {
            Err(format!("columns {columns} look like phone numbers; choose one with --column"))
        };
        for (header, expected) in [
            ("who knows", Ok(0)),
            ("name,Phone Number", Ok(1)),
            ("id,number", Ok(1)),
            ("name,Customer phone", Ok(1)),
            ("phone type,phone", Ok(1)),
            ("number,phone", Ok(1)),
            ("name,Tel 1", Ok(1)),
            ("id,E.164", Ok(1)),
            ("name,Phone (as of 2024-01-05)", Ok(1)),
            ("phone,Phone carrier,First name (phonetic)", Ok(0)),
            ("contact,Phone type", Err(format!("{neither}'contact', 'Phone type'"))),
            ("name,phone,mobile", several("2 'phone' and 3 'mobile' both")),
            ("phone,Customer phone", several("1 'phone' and 2 'Customer phone' both")),
            ("tel,phone,mobile", several("1 'tel', 2 'phone' and 3 'mobile' all")),
        ] {
            let found = find(header, &[], None).map(|columns| columns.numbers[0]);
            assert_eq!(found, expected, "{header}");
        }
        let long = "é".repeat(1000);
        let named = format!("{neither}'{}…', 'b'", "é".repeat(MAX_QUOTED));
        assert_eq!(find(&format!("{long},b"), &[], None), Err(named));
        let many = vec!["a"; MAX_LISTED + 2].join(",");
        assert!(find(&many, &[], None).unwrap_err().ends_with(", 'a', 2 more"));
    }

    #[test]
    fn a_header_row_looks_like_phone_numbers_or_has_several_cells_without_a_number() {
        for (row, expected) in [
            ("phone", true),
            ("name", false),
            ("name,city", true),
            ("name,3052345678", false),
            ("phone,3052345678", true),
        ] {
            assert_eq!(looks_like_header(&cells(row)), expected, "{row}");
        }
    }

    #[test]
    fn columns_are_selected_by_name_or_position() {
        for (header, wanted, expected) in [
            ("a,b,B", "b", Ok(1)),
            ("a,b,B", "B", Ok(2)),
            ("a,b", "A", Ok(0)),
            ("a,b", "2", Ok(1)),
            ("2,b", "2", Ok(0)),
            ("a,b", "3", Err("there is no column '3'; the columns are 'a', 'b'")),
            ("a,b", "0", Err("there is no column '0'; the columns are 'a', 'b'")),
            ("a,b", "", Err("there is no column ''; the columns are 'a', 'b'")),
            ("a,a", "a", Err("several columns are named 'a'; choose one by position, from 1 to 2")),
        ] {
            let found = find(header, &[wanted], None).map(|columns| columns.numbers[0]);
            assert_eq!(found, expected.map_err(str::to_owned), "{header} {wanted}");
        }
        assert_eq!(find("a,b", &["b", "a", "2"], None).unwrap().numbers, [1, 0]);
        let several = "columns 2 'default_country' and 3 'defaultCountry' both look like countries; \
                       choose one with --country-column";
        let unknown = "there is no column 'country'; the columns are 'phone', 'land'";
        for (header, country, expected) in [
            ("phone,defaultCountry", None, Ok(Some(1))),
            ("Default Country,phone", None, Ok(Some(0))),
            ("default_country", None, Ok(Some(0))),
            ("phone,country", None, Ok(None)),
            ("phone,Land", Some("LAND"), Ok(Some(1))),
            ("phone,default_country,defaultCountry", None, Err(several)),
            ("phone,land", Some("country"), Err(unknown)),
        ] {
            let found = find(header, &[], country).map(|columns| columns.country);
            assert_eq!(found, expected.map_err(str::to_owned), "{header}");
        }
    }

    #[test]
    fn a_row_with_a_number_is_not_a_header_unless_it_has_the_requested_name() {
        let row = "name,phone,2024-01-05";
        assert!(find(row, &[" Phone"], None).is_ok());
        assert!(find(row, &["1"], Some("Name")).is_ok());
        let no_names = "the first row contains a number instead of column names; pass --no-header";
        assert_eq!(find(row, &["2"], None), Err(no_names.to_owned()));
        assert_eq!(find(row, &[], None), Err(no_names.to_owned()));
        let second = ["2".to_owned()];
        let options = ColumnOptions { has_header: false, ..options(&second, None) };
        let columns = Columns::find(cells("Ada,+13052345678"), &options).unwrap();
        assert_eq!((columns.numbers, columns.names), (vec![1], cells("column_1,column_2")));
    }

    #[test]
    fn cells_with_numbers_differ_from_names_with_digits() {
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
}
