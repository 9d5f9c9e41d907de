//! Finds a quote that a CSV never closes. The parser closes it at the end of the text, and takes all rows after
//! it for a part of one cell.

/// What is to be read after the text of a CSV: a row of its own, unless a quote is still open.
pub const END_OF_CSV: &[u8] = b"\n\0end of the CSV\0";

/// Whether the cells of a row are [`END_OF_CSV`], so that there are no more rows.
pub fn is_end_of_csv(cells: &[u8]) -> bool {
    cells == &END_OF_CSV[1..]
}

/// Whether the cells of a row have swallowed [`END_OF_CSV`], since a quote is open.
pub fn has_open_quote(cells: &[u8]) -> bool {
    cells.ends_with(END_OF_CSV)
}
