//! The numbering data as tables for other programs. [`tables`] defines the columns; [`files`] and
//! [`sqlite`] write them.

mod cell;
pub mod command;
mod files;
mod provenance;
mod sqlite;
mod tables;

use std::{fs, io, path::Path};

use serde_json::{Map, Value};

pub use files::{FileForm, write_table};
pub use sqlite::write_database;
pub use tables::Table;

use self::provenance::provenance;
use crate::data::numbering_data::NumberingData;

/// Creates a folder with one file per table, including provenance.
pub fn write_folder(data: &NumberingData, form: FileForm, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    for table in Table::OF_RECORDS {
        let name = format!("{}.{}", table.file_name(), form.extension());
        let file = fs::File::create(folder.join(name))?;
        write_table(data, table, form, &file)?;
        file.sync_all()?;
    }
    let mut values = Map::new();
    for (name, value) in provenance(data) {
        values.insert(name.to_owned(), serde_json::to_value(value)?);
    }
    fs::write(folder.join("provenance.json"), format!("{:#}\n", Value::from(values)))
}
