//! Markdown tables, so that what a benchmark prints can be pasted into a document.

use std::fmt;

/// A table whose first column holds names and whose other columns hold figures.
#[derive(Debug, Clone)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading for each column.
    pub fn new<const COLUMNS: usize>(headings: [&str; COLUMNS]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// Adds a row, with a cell for each column.
    pub fn add<const COLUMNS: usize>(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells.to_vec());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = 0..self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        columns.map(|column| width(column).unwrap_or_default()).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    write!(formatter, "| {cell:<width$} |")?;
                } else {
                    write!(formatter, " {cell:>width$} |")?;
                }
            }
            writeln!(formatter)?;
            if number == 0 {
                let figures =
                    widths[1..].iter().map(|&width| format!("{}:|", "-".repeat(width + 1)));
                let rule: String = figures.collect();
                writeln!(formatter, "|{}|{rule}", "-".repeat(widths[0] + 2))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_figures_are_on_the_right() {
        let mut table = Table::new(["", "init, ms"]);
        table.add(["hello".to_owned(), "2.2".to_owned()]);
        assert_eq!(
            table.to_string(),
            "|       | init, ms |\n\
             |-------|---------:|\n\
             | hello |      2.2 |\n"
        );
    }
}
