//! The layout of a list: one number per line, or CSV columns.

use std::{borrow::Cow, collections::HashSet, io::Read};

use number_lists::{
    ColumnError, ColumnOptions, Columns, Dialect, LineEndings, RowError, Rows, looks_like_header,
};

use super::{
    ListError,
    decoding::decode_cell,
    options::{ListFormat, ListOptions},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// `None` if the list has one number per line.
    pub csv: Option<Dialect>,
    pub line_endings: LineEndings,
    has_header: bool,
    pub has_windows_1252: bool,
    /// Columns with unique names.
    pub columns: Columns,
}

impl Layout {
    pub fn detect(head: &[u8], options: &ListOptions) -> Result<Self, ListError> {
        let (dialect, row) = Dialect::detect(head);
        let cells: Vec<Cow<'_, str>> = row.iter().map(decode_cell).collect();
        // Copies only these cells.
        let has_windows_1252 = cells.iter().any(|cell| matches!(cell, Cow::Owned(_)));
        let cells: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
        let wanted = options.column.iter().chain(&options.country_column).next();
        let is_csv = match options.from {
            _ if cells.is_empty() => false,
            Some(format) => format == ListFormat::Csv,
            None => dialect.has_separator_line || wanted.is_some() || looks_like_header(&cells),
        };
        if let (false, Some(name)) = (is_csv || cells.is_empty(), wanted) {
            return Err(ListError::Layout(format!(
                "the list has one number per line, and no column '{name}'; pass --from csv if it is CSV"
            )));
        }
        let line_endings = dialect.line_endings;
        if !is_csv {
            let columns = Columns { names: vec!["tn".to_owned()], numbers: vec![0], country: None };
            let has_header = false;
            return Ok(Self { csv: None, line_endings, has_header, has_windows_1252, columns });
        }
        let has_header = !options.no_header;
        let no_header =
            format!("pass --no-header and --column with a position from 1 to {}", cells.len());
        let column_options = ColumnOptions {
            has_header,
            numbers: &options.column,
            country: options.country_column.as_deref(),
            option_names: ["--column", "--country-column"],
            no_header_advice: &no_header,
        };
        let mut columns = Columns::find(cells, &column_options)
            .map_err(|error| ListError::Layout(column_error_message(error)))?;
        columns.names = make_unique(&columns.names);
        Ok(Self { csv: Some(dialect), line_endings, has_header, has_windows_1252, columns })
    }

    pub fn rows<R: Read>(&self, text: R) -> Result<Rows<R>, RowError> {
        let Some(dialect) = &self.csv else { return Ok(Rows::from_lines(text, self.line_endings)) };
        let mut rows = Rows::from_csv(text, dialect)?;
        if self.has_header {
            rows.next().transpose()?;
        }
        Ok(rows)
    }

    /// The names of the number columns; empty if the list has no columns.
    pub fn number_columns(&self) -> Vec<String> {
        let Columns { names, numbers, .. } = &self.columns;
        match self.csv {
            Some(_) => numbers.iter().map(|&column| names[column].clone()).collect(),
            None => Vec::new(),
        }
    }
}

fn column_error_message(ColumnError { message, choices }: ColumnError) -> String {
    if choices.is_empty() {
        return message;
    }
    let options = choices.iter().map(|choice| format!(" --column {choice}"));
    format!("{message}; to take all of them, pass{}", options.collect::<String>())
}

/// Makes names unique by numbering empty and duplicate ones.
pub(super) fn make_unique(names: &[String]) -> Vec<String> {
    let mut used = HashSet::new();
    let unique = (1..).zip(names).map(|(position, name)| {
        let name = if name.is_empty() { format!("column_{position}") } else { name.clone() };
        let suffixed = (2..).map(|count| format!("{name}_{count}"));
        let mut candidates = std::iter::once(name.clone()).chain(suffixed);
        candidates.find(|name| used.insert(name.clone())).unwrap_or_default()
    });
    unique.collect()
}
