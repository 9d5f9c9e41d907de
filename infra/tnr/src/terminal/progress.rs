//! Shows a long command's progress on stderr: a bar on a terminal, or stage names elsewhere.

use std::{
    io::Read,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle, style::TemplateError};

use super::{escape::escape_controls, show_note};

/// The redraw interval, which animates the spinner during stages without updates.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Only the elapsed time, no counts.
    Time,
    Bytes,
    /// A plural noun, such as `rows`.
    Count(&'static str),
}

/// The progress of a command. Dropping it clears the bar.
pub struct Progress {
    bar: ProgressBar,
    prints_stages: bool,
    stage: Mutex<Option<(String, Unit)>>,
}

impl Progress {
    /// Outside a terminal, prints a line when a stage starts.
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        Self { prints_stages: bar.is_hidden(), bar, stage: Mutex::default() }
    }

    /// For a command that writes data. Hidden if the data goes to a terminal, or stderr is not one.
    pub fn beside_output(is_terminal: bool) -> Self {
        let bar = if is_terminal { ProgressBar::hidden() } else { ProgressBar::no_length() };
        Self { bar, prints_stages: false, stage: Mutex::default() }
    }

    /// Starts a stage with its own counts and time. If it is the current stage, only updates the total.
    pub fn start(&self, name: impl Into<String>, unit: Unit, total: Option<u64>) {
        let stage = Some((escape_controls(&name.into()), unit));
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = *current != stage;
        if is_new {
            // Before anything draws the bar.
            if let Ok(style) = style(unit, total.is_some()) {
                self.bar.set_style(style);
            }
            self.bar.reset();
        }
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        if let (true, Some((name, _))) = (is_new, &stage) {
            if self.prints_stages {
                show_note(name);
            } else if !self.bar.is_hidden() {
                self.bar.set_message(name.clone());
                self.bar.enable_steady_tick(REDRAW_INTERVAL);
            }
        }
        *current = stage;
    }

    pub fn set(&self, position: u64) {
        self.bar.set_position(position);
    }

    pub fn add(&self, count: u64) {
        self.bar.inc(count);
    }

    pub fn wrap_read<R: Read>(&self, reader: R) -> impl Read + use<R> {
        self.bar.wrap_read(reader)
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Wide parts shrink, so that lines fit the terminal.
fn style(unit: Unit, has_total: bool) -> Result<ProgressStyle, TemplateError> {
    let counts = match (unit, has_total) {
        (Unit::Time, _) => "{elapsed}".to_owned(),
        (Unit::Bytes, false) => "{bytes}".to_owned(),
        (Unit::Bytes, true) => "{bytes} of {total_bytes}, {eta} left".to_owned(),
        (Unit::Count(things), false) => format!("{{human_pos}} {things}"),
        (Unit::Count(things), true) => {
            format!("{{human_pos}} of {{human_len}} {things}, {{eta}} left")
        }
    };
    let name = if has_total { "{msg} {wide_bar}" } else { "{wide_msg}" };
    ProgressStyle::with_template(&format!("{{spinner}} {name} {counts}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_bars_have_valid_templates() {
        for unit in [Unit::Time, Unit::Bytes, Unit::Count("rows")] {
            assert!([false, true].into_iter().all(|has_total| style(unit, has_total).is_ok()));
        }
    }
}
