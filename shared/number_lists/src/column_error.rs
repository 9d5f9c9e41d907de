//! Errors in the choice of columns.

/// The number of columns to list in a message.
pub(crate) const MAX_LISTED: usize = 20;
/// The length at which a message truncates a name.
pub(crate) const MAX_QUOTED: usize = 40;

/// An error in the choice of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnError {
    /// The first row holds a number instead of names.
    NoHeader,
    /// No column is named like phone numbers.
    NoNumbers {
        names: Vec<String>,
    },
    /// Several columns are named like phone numbers.
    SeveralNumbers(Vec<(usize, String)>),
    /// Several columns are named like the country column.
    SeveralCountries(Vec<(usize, String)>),
    Unknown {
        wanted: String,
        names: Vec<String>,
    },
    Ambiguous {
        wanted: String,
        columns: usize,
    },
}

impl ColumnError {
    /// The error and how to fix it. `numbers` and `countries` are the options that select these columns, and
    /// `no_header` is the advice if there is no header row.
    pub fn message(&self, numbers: &str, countries: &str, no_header: &str) -> String {
        match self {
            Self::NoHeader => format!("the first row holds a number and no names; {no_header}"),
            Self::NoNumbers { names } => {
                let names = listed(names);
                format!("no column looks like phone numbers; choose one with {numbers}: {names}")
            }
            Self::SeveralNumbers(alike) => {
                format!("columns {} look like phone numbers; choose with {numbers}", both(alike))
            }
            Self::SeveralCountries(alike) => {
                format!("columns {} look like countries; choose with {countries}", both(alike))
            }
            Self::Unknown { wanted, names } => {
                format!("there is no column {}; the columns are {}", quoted(wanted), listed(names))
            }
            Self::Ambiguous { wanted, columns } => {
                let wanted = quoted(wanted);
                format!("several columns are named {wanted}; pass its number, from 1 to {columns}")
            }
        }
    }
}

/// Lists columns with their numbers and names, as in `2 'Home Phone' and 3 'Mobile' both`.
fn both(columns: &[(usize, String)]) -> String {
    let shown = columns.iter().take(MAX_LISTED);
    let mut shown: Vec<String> =
        shown.map(|(position, name)| format!("{} {}", position + 1, quoted(name))).collect();
    let last = shown.pop().unwrap_or_default();
    let word = if columns.len() == 2 { "both" } else { "all" };
    format!("{} and {last} {word}", shown.join(", "))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_LISTED).map(|name| quoted(name));
    let more = names.len().saturating_sub(MAX_LISTED);
    let rest = (more > 0).then(|| format!("{more} more"));
    shown.chain(rest).collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    match name.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("'{}…'", &name[..end]),
        None => format!("'{name}'"),
    }
}
