//! The CSV columns that hold phone numbers and countries.

use super::column_names::{NameMatch, holds_number};

/// The maximum number of columns to list in a message.
const MAX_LISTED: usize = 20;
/// The length beyond which a message truncates a name.
const MAX_QUOTED: usize = 40;

#[derive(Debug, Clone, Copy)]
pub struct ColumnOptions<'a> {
    /// True if the first row is a header row.
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
    /// The positions of the number columns: at least one, no duplicates.
    pub numbers: Vec<usize>,
    /// The position of the country column.
    pub country: Option<usize>,
}

/// The error if the number columns cannot be determined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ColumnError {
    /// Names the option that helps.
    pub message: String,
    /// The positions to choose from, if several columns look like phone numbers.
    pub choices: Vec<String>,
}

impl From<String> for ColumnError {
    fn from(message: String) -> Self {
        Self { message, choices: Vec::new() }
    }
}

impl Columns {
    /// Finds the columns in a CSV's first row.
    pub fn find(first_row: Vec<String>, options: &ColumnOptions<'_>) -> Result<Self, ColumnError> {
        let mut requested = options.numbers.iter().map(String::as_str).chain(options.country);
        let has_names = requested.any(|name| first_row.iter().any(|cell| names_match(cell, name)))
            || !first_row.iter().any(|cell| holds_number(cell));
        if options.has_header && !has_names {
            let advice = options.no_header_advice;
            let problem = "the first row contains a number instead of column names";
            return Err(format!("{problem}; {advice}").into());
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

    /// The position of the only column with this name; `None` if there are several.
    pub fn named(&self, name: &str) -> Option<usize> {
        position(&self.names, name).ok()
    }
}

/// The position of the number column: the only column, or the only one whose name suggests phone numbers.
fn number_column(names: &[String], option: &str) -> Result<usize, ColumnError> {
    let matches: Vec<NameMatch> = names.iter().map(|name| NameMatch::new(name)).collect();
    let best = matches.iter().max().copied().unwrap_or(NameMatch::None);
    let is_best = |&it: &usize| best > NameMatch::None && matches[it] == best;
    let best: Vec<usize> = (0..names.len()).filter(is_best).collect();
    match best[..] {
        _ if names.len() == 1 => Ok(0),
        [only] => Ok(only),
        [] => {
            let problem = "no column looks like phone numbers; choose one with";
            Err(format!("{problem} {option}: {}", list_names(names)).into())
        }
        _ => Err(ColumnError {
            message: ambiguous(&best, names, "phone numbers", option),
            choices: best.iter().take(MAX_LISTED).map(|it| (it + 1).to_string()).collect(),
        }),
    }
}

fn country_column(names: &[String], option: &str) -> Result<Option<usize>, String> {
    let matches = positions(names, |name| normalize_name(name) == "defaultcountry");
    match matches[..] {
        [] | [_] => Ok(matches.first().copied()),
        _ => Err(ambiguous(&matches, names, "countries", option)),
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

/// The error for several columns, as in `columns 2 'Home Phone' and 3 'Mobile' both look like phone numbers; ...`.
fn ambiguous(positions: &[usize], names: &[String], kind: &str, option: &str) -> String {
    let listed = positions.iter().take(MAX_LISTED);
    let mut listed: Vec<String> =
        listed.map(|&position| format!("{} {}", position + 1, quote(&names[position]))).collect();
    let last = listed.pop().unwrap_or_default();
    let word = if positions.len() == 2 { "both" } else { "all" };
    let listed = listed.join(", ");
    format!("columns {listed} and {last} {word} look like {kind}; choose one with {option}")
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

/// Reduces a name to lowercase letters and digits.
fn normalize_name(name: &str) -> String {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    letters.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &str) -> Vec<String> {
        row.split(',').map(str::to_owned).collect()
    }

    fn find(row: &str, numbers: &[&str], country: Option<&str>) -> Result<Columns, String> {
        let numbers: Vec<String> = numbers.iter().copied().map(str::to_owned).collect();
        Columns::find(cells(row), &options(&numbers, country)).map_err(|error| error.to_string())
    }

    fn options<'a>(numbers: &'a [String], country: Option<&'a str>) -> ColumnOptions<'a> {
        let option_names = ["--column", "--country-column"];
        let no_header_advice = "pass --no-header";
        ColumnOptions { has_header: true, numbers, country, option_names, no_header_advice }
    }

    #[test]
    fn number_column_is_requested_single_or_recognized_by_name() {
        let rows = include_str!("columns.txt").lines();
        for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let [header, wanted, expected] = row.split('|').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            // An empty field means no column, so an empty name must be quoted.
            let wanted = wanted.trim();
            let wanted = if wanted.is_empty() { &[][..] } else { &[wanted.trim_matches('"')] };
            let found = find(header.trim_end(), wanted, None).map(|it| it.numbers[0].to_string());
            assert_eq!(found.unwrap_or_else(|error| error), expected.trim(), "{row}");
        }
        let long = "é".repeat(1000);
        let message = "no column looks like phone numbers; choose one with --column: ";
        let named = format!("{message}'{}…', 'b'", "é".repeat(MAX_QUOTED));
        assert_eq!(find(&format!("{long},b"), &[], None), Err(named));
        let many = vec!["a"; MAX_LISTED + 2].join(",");
        assert!(find(&many, &[], None).unwrap_err().ends_with(", 'a', 2 more"));
        assert_eq!(find("a,b", &["b", "a", "2"], None).unwrap().numbers, [1, 0]);
    }

    #[test]
    fn ambiguous_columns_are_suggested_by_position() {
        let choices =
            |row: &str| Columns::find(cells(row), &options(&[], None)).unwrap_err().choices;
        assert_eq!(choices("phone,mobile,name,phone"), ["1", "2", "4"]);
        assert_eq!(choices(&vec!["phone"; 30].join(",")).len(), MAX_LISTED);
        assert!(choices("a,b").is_empty());
    }

    #[test]
    fn country_column_is_requested_or_named_like_the_parameter() {
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
}
