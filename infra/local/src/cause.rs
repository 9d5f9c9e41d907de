//! An error of any library, behind one of the program.

use std::error::Error;

pub type Cause = Box<dyn Error + Send + Sync>;
