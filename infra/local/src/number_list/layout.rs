//! How a list of numbers is laid out: a number in each line, or a column of a CSV.

use super::decoding::text_of;

/// What may separate the cells of a CSV. Of two that divide the first row alike, the first one counts.
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

/// A number has at least as many digits, and the name of a column fewer.
const FEWEST_DIGITS: usize = 7;

/// How a list is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// What separates the cells; `None` if each line is a number.
    pub delimiter: Option<u8>,
    pub line_ends: LineEnds,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// The names of the columns, each of them once.
    pub columns: Vec<String>,
    /// The position of the column of numbers.
    pub number: usize,
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
    fn of(head: &[u8]) -> Self {
        match head.iter().position(|&byte| byte == b'\n') {
            Some(end) if head[..end].ends_with(b"\r") => Self::CrLf,
            None if head.contains(&b'\r') => Self::Cr,
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
    pub column: Option<String>,
    pub country_column: Option<String>,
}

/// Why the column of numbers is not known.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum LayoutError {
    #[error("no column is named like one of phone numbers; pass --column with one of {0}")]
    NoColumnOfNumbers(String),
    #[error("the columns {0} are named like ones of phone numbers; pass --column with one of them")]
    SeveralColumnsOfNumbers(String),
    #[error(
        "the first row holds a number and no names; pass --no-header and --column with a number from \
         1 to {0}"
    )]
    NoHeader(usize),
    #[error("there is no column '{name}'; the columns are {columns}")]
    UnknownColumn { name: String, columns: String },
    #[error("several columns are named '{name}'; pass its number, from 1 to {count}")]
    AmbiguousColumn { name: String, count: usize },
    #[error("the column '{0}' is one that the output adds; rename it or leave it out")]
    AddedColumn(String),
    #[error("a list without columns has no column '{0}'; pass --from csv if it has")]
    NoColumns(String),
}

impl Layout {
    /// The layout of a list that begins with `head`.
    ///
    /// # Errors
    /// Returns an error if it is a CSV and it is not certain which column has the numbers.
    pub fn of(head: &[u8], request: &Request) -> Result<Self, LayoutError> {
        let line_ends = LineEnds::of(head);
        let (delimiter, cells) = first_row(head);
        if cells.is_empty() {
            return Ok(Self::of_lines(line_ends));
        }
        let named = request.column.as_ref().or(request.country_column.as_ref());
        let is_csv = request.is_csv.unwrap_or_else(|| named.is_some() || looks_like_header(&cells));
        if !is_csv {
            return match named {
                Some(name) => Err(LayoutError::NoColumns(name.clone())),
                None => Ok(Self::of_lines(line_ends)),
            };
        }
        let has_header = !request.has_no_header;
        let column = |name| position_of(name, &cells, has_header);
        let country = request.country_column.as_deref().map(column).transpose()?;
        let number = match &request.column {
            Some(name) => column(name)?,
            None => column_of_numbers(&cells, has_header)?,
        };
        let taken = [Some(number), country].into_iter().flatten();
        if has_header && taken.into_iter().any(|column| holds_number(&cells[column])) {
            return Err(LayoutError::NoHeader(cells.len()));
        }
        let columns = if has_header { unique(&cells) } else { numbered(cells.len()) };
        Ok(Self { delimiter: Some(delimiter), line_ends, has_header, columns, number, country })
    }

    fn of_lines(line_ends: LineEnds) -> Self {
        let columns = vec!["tn".to_owned()];
        Self { delimiter: None, line_ends, has_header: false, columns, number: 0, country: None }
    }
}

/// The cells of the first row, and what separates them.
fn first_row(head: &[u8]) -> (u8, Vec<String>) {
    let divided = DELIMITERS.map(|delimiter| {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).delimiter(delimiter).from_reader(head);
        let mut row = csv::ByteRecord::new();
        // Reading from memory cannot fail, and an empty list has no row.
        _ = reader.read_byte_record(&mut row);
        (delimiter, row)
    });
    let [first, rest @ ..] = divided;
    let (delimiter, row) =
        rest.into_iter().fold(first, |best, it| if it.1.len() > best.1.len() { it } else { best });
    (delimiter, row.iter().map(|cell| text_of(cell).trim().to_owned()).collect())
}

/// Whether the first row names columns, of which one has numbers, or holds several cells and no number.
fn looks_like_header(cells: &[String]) -> bool {
    cells.iter().any(|cell| likeness(cell) > 0)
        || (cells.len() > 1 && !cells.iter().any(|cell| holds_number(cell)))
}

fn holds_number(cell: &str) -> bool {
    cell.chars().filter(|c| c.is_numeric()).count() >= FEWEST_DIGITS
}

/// How much the name of a column is like one of numbers: 2 if it is such a name, 1 if it contains one.
fn likeness(name: &str) -> u8 {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let plain = plain.to_lowercase();
    if NAMES_OF_NUMBERS.contains(&plain.as_str()) {
        2
    } else {
        PARTS_OF_NAMES.iter().any(|part| plain.contains(part)).into()
    }
}

fn column_of_numbers(cells: &[String], has_header: bool) -> Result<usize, LayoutError> {
    if cells.len() == 1 && !(has_header && holds_number(&cells[0])) {
        return Ok(0);
    }
    if !has_header {
        return Err(LayoutError::NoColumnOfNumbers(format!("1 to {}", cells.len())));
    }
    if cells.iter().any(|cell| holds_number(cell)) {
        return Err(LayoutError::NoHeader(cells.len()));
    }
    let most = cells.iter().map(|cell| likeness(cell)).max().unwrap_or_default();
    let alike: Vec<usize> =
        (0..cells.len()).filter(|&column| likeness(&cells[column]) == most).collect();
    match alike[..] {
        [column] if most > 0 => Ok(column),
        _ if most == 0 => Err(LayoutError::NoColumnOfNumbers(listed(cells))),
        _ => {
            let names: Vec<_> = alike.iter().map(|&column| cells[column].clone()).collect();
            Err(LayoutError::SeveralColumnsOfNumbers(listed(&names)))
        }
    }
}

/// The position of a column by its name or number. A name is preferred, and may have another case if no
/// column has it as it is.
fn position_of(name: &str, cells: &[String], has_header: bool) -> Result<usize, LayoutError> {
    let positions = |is_named: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..cells.len()).filter(|&column| has_header && is_named(&cells[column])).collect()
    };
    let exact = positions(&|cell| cell == name.trim());
    let named = if exact.is_empty() {
        positions(&|cell| cell.to_lowercase() == name.trim().to_lowercase())
    } else {
        exact
    };
    match named[..] {
        [column] => Ok(column),
        [] => match name.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
            Some(column) if column < cells.len() => Ok(column),
            _ => Err(LayoutError::UnknownColumn {
                name: name.to_owned(),
                columns: if has_header { listed(cells) } else { format!("1 to {}", cells.len()) },
            }),
        },
        _ => Err(LayoutError::AmbiguousColumn { name: name.to_owned(), count: cells.len() }),
    }
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 30;
    let quoted = names.iter().take(MOST).map(|name| format!("'{name}'"));
    let more = names.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| format!("{more} more"));
    quoted.chain(rest).collect::<Vec<_>>().join(", ")
}

/// The names, with numbers after those that would stand twice or are empty.
fn unique(names: &[String]) -> Vec<String> {
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

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("column_{number}")).collect()
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
        Request { column: Some(name.to_owned()), ..Request::default() }
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
            ("a\tMobile Phone\tb", b'\t', 1),
            ("phone type,phone", b',', 1),
            ("\"na\nme\",\"Phone, home\"\n", b',', 1),
            ("id|cell_phone", b'|', 1),
        ] {
            let layout = guessed(head);
            assert_eq!((layout.delimiter, layout.number), (Some(delimiter), number), "{head:?}");
        }
        assert_eq!(guessed("Name;Telefon\r\n").line_ends, LineEnds::CrLf);
        assert_eq!(guessed("phone\r305\r").line_ends, LineEnds::Cr);
    }

    #[test]
    fn what_is_not_certain_is_refused_with_the_columns() {
        let message = |head| layout(head, Request::default()).unwrap_err().to_string();
        assert_eq!(
            message("name,contact\n"),
            "no column is named like one of phone numbers; pass --column with one of 'name', 'contact'"
        );
        assert!(message("phone,mobile\n").starts_with("the columns 'phone', 'mobile' are named"));
        let csv = Request { is_csv: Some(true), ..Request::default() };
        let refused = layout("Ada,+13052345678\n", csv).unwrap_err();
        assert_eq!(refused, LayoutError::NoHeader(2));
        let text = Request { is_csv: Some(false), ..with_column("a") };
        assert_eq!(layout("a,b", text).unwrap_err(), LayoutError::NoColumns("a".to_owned()));
    }

    #[test]
    fn a_column_is_named_or_numbered() {
        let number = |head, name| layout(head, with_column(name)).map(|layout| layout.number);
        assert_eq!(number("a,b,B", "b"), Ok(1));
        assert_eq!(number("a,b,B", "B"), Ok(2));
        assert_eq!(number("a,b", "A"), Ok(0));
        assert_eq!(number("a,b", "2"), Ok(1));
        assert_eq!(number("2,b", "2"), Ok(0));
        for name in ["3", "0", "c", "", "-1"] {
            assert!(
                matches!(number("a,b", name), Err(LayoutError::UnknownColumn { .. })),
                "{name}"
            );
        }
        assert!(matches!(number("a,a", "a"), Err(LayoutError::AmbiguousColumn { .. })));
        let bare = Request { has_no_header: true, ..with_column("2") };
        let layout = layout("Ada,+13052345678", bare).unwrap();
        assert_eq!((layout.number, layout.has_header), (1, false));
        assert_eq!(layout.columns, ["column_1", "column_2"]);
    }

    #[test]
    fn a_column_whose_name_would_be_a_number_needs_a_header_or_to_be_told_that_there_is_none() {
        let head = "Ada,3052345678\nBob,3052345679\n";
        assert_eq!(layout(head, with_column("2")).unwrap_err(), LayoutError::NoHeader(2));
        let countries = Request { country_column: Some("2".to_owned()), ..with_column("1") };
        assert_eq!(layout(head, countries).unwrap_err(), LayoutError::NoHeader(2));
    }

    #[test]
    fn no_two_columns_have_one_name() {
        assert_eq!(guessed("phone,a,a,,a_2").columns, ["phone", "a", "a_2", "column_4", "a_2_2"]);
    }
}
