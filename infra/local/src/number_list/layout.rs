//! How a list of numbers is laid out: a number in each line, or a column of a CSV.

use format::columns::{
    Doubt, are_names, column_named, column_of_countries, column_of_numbers, first_row,
    first_row_divided_by, has_digits_of_number, is_named_like_numbers, named_delimiter, numbered,
};

use super::decoding::text_of;

/// How a list is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// What separates the cells; `None` if each line is a number.
    pub delimiter: Option<u8>,
    pub line_ends: LineEnds,
    /// True if a line such as `sep=;` stands before the rows, as Excel reads and writes it.
    pub has_separator_line: bool,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// The names of the columns, each of them once.
    pub columns: Vec<String>,
    /// The positions of the columns of numbers, at least one.
    pub numbers: Vec<usize>,
    /// The position of the column of countries.
    pub country: Option<usize>,
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    Lf,
    CrLf,
    /// As Excel writes them for the Macintosh.
    Cr,
}

impl LineEnds {
    /// Within quotes any end may stand; an escaped quote is two of them. CR alone ends lines if LF ends none.
    fn of(head: &[u8]) -> Self {
        let mut is_quoted = false;
        let mut is_unquoted = |byte: u8| {
            is_quoted ^= byte == b'"';
            !is_quoted
        };
        let ends: Vec<usize> = (0..head.len())
            .filter(|&at| is_unquoted(head[at]) && matches!(head[at], b'\n' | b'\r'))
            .collect();
        match ends.iter().find(|&&end| head[end] == b'\n') {
            Some(&end) if head[..end].ends_with(b"\r") => Self::CrLf,
            None if !ends.is_empty() => Self::Cr,
            _ => Self::Lf,
        }
    }
}

/// What the command line says of the layout.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    /// Whether it is a CSV, if that is known.
    pub is_csv: Option<bool>,
    pub has_no_header: bool,
    pub columns: Vec<String>,
    pub country_column: Option<String>,
}

/// Why the column of numbers is not known.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum LayoutError {
    #[error("no column looks like phone numbers; choose one with --column: {0}")]
    NoColumnOfNumbers(String),
    #[error("columns {0} look like phone numbers; choose with --column")]
    SeveralColumnsOfNumbers(String),
    #[error("columns {0} look like countries; choose with --country-column")]
    SeveralColumnsOfCountries(String),
    #[error(
        "the first row holds a number and no names; pass --no-header and --column with a number from \
         1 to {0}"
    )]
    NoHeader(usize),
    #[error("there is no column '{name}'; the columns are {columns}")]
    UnknownColumn { name: String, columns: String },
    #[error("several columns are named '{name}'; pass its number, from 1 to {count}")]
    AmbiguousColumn { name: String, count: usize },
    #[error("the list already has a column '{0}', which the output adds; choose another --prefix")]
    AddedColumn(String),
    #[error("a list without columns has no column '{0}'; pass --from csv if it has")]
    NoColumns(String),
}

impl Layout {
    /// The layout of a list that begins with `head`.
    pub fn of(head: &[u8], request: &Request) -> Result<Self, LayoutError> {
        let line_ends = LineEnds::of(head);
        let separator = named_delimiter(head).filter(|_| request.is_csv != Some(false));
        let (delimiter, row) = match separator {
            Some((delimiter, begin)) => {
                (delimiter, first_row_divided_by(delimiter, &head[begin..]))
            }
            None => first_row(head),
        };
        let cells: Vec<String> = row.iter().map(|cell| text_of(cell).trim().to_owned()).collect();
        if cells.is_empty() {
            return Ok(Self::of_lines(line_ends));
        }
        let wanted: Vec<&String> = request.columns.iter().chain(&request.country_column).collect();
        let is_csv = request.is_csv.unwrap_or_else(|| {
            separator.is_some() || !wanted.is_empty() || looks_like_header(&cells)
        });
        if !is_csv {
            return match wanted.first() {
                Some(name) => Err(LayoutError::NoColumns((*name).clone())),
                None => Ok(Self::of_lines(line_ends)),
            };
        }
        let has_header = !request.has_no_header;
        let has_names = are_names(&cells, None)
            || wanted.iter().any(|name| are_names(&cells, Some(name.as_str())));
        if has_header && !has_names {
            return Err(LayoutError::NoHeader(cells.len()));
        }
        let names = if has_header { cells } else { numbered(cells.len()) };
        Ok(Self {
            delimiter: Some(delimiter),
            line_ends,
            has_separator_line: separator.is_some(),
            has_header,
            columns: unique(&names),
            numbers: numbers(&names, &request.columns)?,
            country: country(&names, request.country_column.as_deref())?,
        })
    }

    fn of_lines(line_ends: LineEnds) -> Self {
        Self {
            delimiter: None,
            line_ends,
            has_separator_line: false,
            has_header: false,
            columns: vec!["tn".to_owned()],
            numbers: vec![0],
            country: None,
        }
    }

    /// The names of the columns of numbers, if the list has columns.
    pub fn names_of_numbers(&self) -> Vec<String> {
        let numbers = self.delimiter.map(|_| self.numbers.iter());
        numbers.into_iter().flatten().map(|&number| self.columns[number].clone()).collect()
    }
}

/// The positions of the columns of numbers, of which none counts twice.
fn numbers(names: &[String], wanted: &[String]) -> Result<Vec<usize>, LayoutError> {
    if wanted.is_empty() {
        let number = column_of_numbers(names).map_err(|doubt| match doubt {
            Doubt::SeveralAlike(alike) => LayoutError::SeveralColumnsOfNumbers(both(&alike, names)),
            _ => LayoutError::NoColumnOfNumbers(listed(names)),
        })?;
        return Ok(vec![number]);
    }
    let mut numbers = Vec::new();
    for name in wanted {
        let number = named(names, name)?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Ok(numbers)
}

fn country(names: &[String], wanted: Option<&str>) -> Result<Option<usize>, LayoutError> {
    match wanted {
        Some(name) => named(names, name).map(Some),
        None => column_of_countries(names).map_err(|doubt| match doubt {
            Doubt::SeveralAlike(alike) => {
                LayoutError::SeveralColumnsOfCountries(both(&alike, names))
            }
            _ => LayoutError::NoColumnOfNumbers(listed(names)),
        }),
    }
}

/// The position of the column that was asked for.
fn named(names: &[String], wanted: &str) -> Result<usize, LayoutError> {
    let name = wanted.to_owned();
    column_named(names, wanted).map_err(|doubt| match doubt {
        Doubt::Ambiguous => LayoutError::AmbiguousColumn { name, count: names.len() },
        _ => LayoutError::UnknownColumn { name, columns: listed(names) },
    })
}

/// Columns with their numbers and names, as in `2 'Home Phone' and 3 'Mobile' both`.
fn both(positions: &[usize], names: &[String]) -> String {
    let quoted: Vec<String> =
        positions.iter().map(|&it| format!("{} '{}'", it + 1, names[it])).collect();
    match quoted.as_slice() {
        [first, second] => format!("{first} and {second} both"),
        [rest @ .., last] => format!("{} and {last} all", rest.join(", ")),
        [] => String::new(),
    }
}

/// Whether the first row names columns, of which one has numbers, or holds several cells and no number.
fn looks_like_header(cells: &[String]) -> bool {
    cells.iter().any(|cell| is_named_like_numbers(cell))
        || (cells.len() > 1 && !cells.iter().any(|cell| has_digits_of_number(cell)))
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 30;
    let quoted = names.iter().take(MOST).map(|name| format!("'{name}'"));
    let more = names.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| format!("{more} more"));
    quoted.chain(rest).collect::<Vec<_>>().join(", ")
}

/// The names, with numbers after those that would stand twice or are empty.
pub(super) fn unique(names: &[String]) -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    let mut unique = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let wanted =
            if name.is_empty() { format!("column_{}", position + 1) } else { name.clone() };
        let mut name = wanted.clone();
        let mut count = 1;
        while !known.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}_{count}");
        }
        unique.push(name);
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(head: &str, request: Request) -> Result<Layout, LayoutError> {
        Layout::of(head.as_bytes(), &request)
    }

    fn guessed(head: &str) -> Layout {
        layout(head, Request::default()).unwrap()
    }

    fn with_column(name: &str) -> Request {
        Request { columns: vec![name.to_owned()], ..Request::default() }
    }

    #[test]
    fn a_list_is_told_by_its_first_row() {
        for head in [
            "",
            "+13052345678\n",
            "(305) 234-5678, ext. 42\n305",
            "305-234-5678;305-234-5679",
            "numbers\n",
            "305 234 5678 | home",
        ] {
            assert_eq!(guessed(head).delimiter, None, "{head:?}");
        }
        for (head, delimiter, number) in [
            ("name,phone\nAda,1", b',', 1),
            ("Name;Telefon\r\n", b';', 1),
            ("phone\n305", b',', 0),
            ("\"na\nme\",\"Phone, home\"\n", b',', 1),
        ] {
            let layout = guessed(head);
            assert_eq!(
                (layout.delimiter, layout.numbers),
                (Some(delimiter), vec![number]),
                "{head:?}"
            );
        }
        assert_eq!(guessed("Name;Telefon\r\n").line_ends, LineEnds::CrLf);
        assert_eq!(guessed("phone\r305\r").line_ends, LineEnds::Cr);
        let quoted = "name,phone,note\rAda,305,\"a\nb\"\r";
        assert_eq!(guessed(quoted).line_ends, LineEnds::Cr);
        assert_eq!(guessed("\"a \"\"\n\",phone\r\n").line_ends, LineEnds::CrLf);
        assert_eq!(guessed("305\r\r\n306\r\r\n").line_ends, LineEnds::CrLf);
    }

    #[test]
    fn what_is_not_certain_is_refused_with_the_columns() {
        let message = |head| layout(head, Request::default()).unwrap_err().to_string();
        assert_eq!(
            message("name,contact\n"),
            "no column looks like phone numbers; choose one with --column: 'name', 'contact'"
        );
        assert_eq!(
            message("name,Home Phone,Mobile\n"),
            "columns 2 'Home Phone' and 3 'Mobile' both look like phone numbers; choose with --column"
        );
        assert!(
            message("tel,phone,mobile\n")
                .starts_with("columns 1 'tel', 2 'phone' and 3 'mobile' all")
        );
        let csv = Request { is_csv: Some(true), ..Request::default() };
        let refused = layout("Ada,+13052345678\n", csv).unwrap_err();
        assert_eq!(refused, LayoutError::NoHeader(2));
        let text = Request { is_csv: Some(false), ..with_column("a") };
        assert_eq!(layout("a,b", text).unwrap_err(), LayoutError::NoColumns("a".to_owned()));
    }

    #[test]
    fn a_column_is_named_or_numbered() {
        assert_eq!(layout("a,b", with_column("A")).unwrap().numbers, [0]);
        let both =
            Request { columns: ["b", "a", "2"].map(str::to_owned).into(), ..Request::default() };
        assert_eq!(layout("a,b", both).unwrap().numbers, [1, 0]);
        assert_eq!(
            layout("a,b", with_column("c")).unwrap_err().to_string(),
            "there is no column 'c'; the columns are 'a', 'b'"
        );
        assert_eq!(
            layout("a,a", with_column("a")).unwrap_err().to_string(),
            "several columns are named 'a'; pass its number, from 1 to 2"
        );
        let bare = Request { has_no_header: true, ..with_column("2") };
        let layout = layout("Ada,+13052345678", bare).unwrap();
        assert_eq!((layout.numbers, layout.has_header), (vec![1], false));
        assert_eq!(layout.columns, ["column_1", "column_2"]);
    }

    #[test]
    fn a_row_of_numbers_is_no_header_wherever_they_stand_and_a_name_may_have_digits() {
        let head = "Ada,3052345678\nBob,3052345679\n";
        assert_eq!(layout(head, with_column("2")).unwrap_err(), LayoutError::NoHeader(2));
        assert_eq!(layout(head, with_column("1")).unwrap_err(), LayoutError::NoHeader(2));
        assert_eq!(guessed("name,Phone (as of 2024-01-05)\nAda,305").numbers, [1]);
    }

    #[test]
    fn excels_first_line_names_the_delimiter() {
        let layout = guessed("sep=;\r\nName;Telefon, privat\r\n");
        assert_eq!((layout.delimiter, layout.has_separator_line), (Some(b';'), true));
        assert_eq!((layout.columns.len(), layout.numbers), (2, vec![1]));
    }

    #[test]
    fn no_two_columns_have_one_name() {
        assert_eq!(guessed("phone,a,a,,a_2").columns, ["phone", "a", "a_2", "column_4", "a_2_2"]);
    }
}
