//! The rows of a report, counted while they are read.

use std::io::{self, Read};

/// Text that tells how many of its lines have been read. A report has a line for each row.
pub(crate) struct RowCounter<R, F> {
    text: R,
    rows: u64,
    read: F,
}

impl<R: Read, F: Fn(u64)> RowCounter<R, F> {
    /// Counts the lines of `text`, and calls `read` with how many there were after each part of it.
    pub fn new(text: R, read: F) -> Self {
        Self { text, rows: 0, read }
    }
}

impl<R: Read, F: Fn(u64)> Read for RowCounter<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        self.rows += buffer[..count].iter().filter(|&&byte| byte == b'\n').count() as u64;
        (self.read)(self.rows);
        Ok(count)
    }
}
