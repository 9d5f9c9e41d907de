//! Progress of a long command on stderr: a bar on a terminal, and lines elsewhere.

use std::{
    fmt,
    io::Read,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use super::{escape::escape_controls, show_note};

/// Redraw interval, which keeps the spinner moving during stages without updates.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Time between lines with counts.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

// Bar templates. Wide parts shrink, so that no line is wider than the terminal.
const WITHOUT_TOTAL: &str = "{spinner} {wide_msg} {counts}";
const WITH_TOTAL: &str = "{spinner} {msg} {wide_bar} {counts}";

/// The unit of a stage's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No counts, only the time so far.
    Time,
    Bytes,
    /// A plural, such as `rows`.
    Count(&'static str),
}

/// The progress of a command. Dropping it clears the bar.
pub struct Progress {
    bar: ProgressBar,
    has_lines: bool,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: String,
    unit: Unit,
    printed_at: Instant,
}

impl Progress {
    /// Without a terminal, prints a line when a stage starts, and its counts every ten seconds while they change.
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        Self { has_lines: bar.is_hidden(), bar, stage: Mutex::default() }
    }

    /// For a command that writes data; hidden without a terminal, and if the data go there.
    pub fn beside_output(is_terminal: bool) -> Self {
        let bar = if is_terminal { ProgressBar::hidden() } else { ProgressBar::no_length() };
        Self { bar, has_lines: false, stage: Mutex::default() }
    }

    /// Starts a stage with its own counts and time. For the current stage, only updates the total.
    pub fn start(&self, name: impl Into<String>, unit: Unit, total: Option<u64>) {
        let name = escape_controls(&name.into());
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new =
            current.as_ref().is_none_or(|stage| (&stage.name, stage.unit) != (&name, unit));
        if is_new {
            // Before anything that draws the bar.
            self.set_style(unit, total);
            self.bar.reset();
        }
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        if !is_new {
            return;
        }
        if self.has_lines {
            show_note(&name);
        } else if !self.bar.is_hidden() {
            self.bar.set_message(name.clone());
            self.bar.enable_steady_tick(REDRAW_INTERVAL);
        }
        *current = Some(Stage { name, unit, printed_at: Instant::now() });
    }

    fn set_style(&self, unit: Unit, total: Option<u64>) {
        let write_counts = move |state: &ProgressState, line: &mut dyn fmt::Write| {
            let counts = counts(unit, state.pos(), state.len(), [state.elapsed(), state.eta()]);
            // Writing to a string cannot fail.
            _ = line.write_str(&counts);
        };
        let template = total.map_or(WITHOUT_TOTAL, |_| WITH_TOTAL);
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("counts", write_counts));
        }
    }

    pub fn set(&self, position: u64) {
        self.bar.set_position(position);
        self.print_if_due();
    }

    pub fn add(&self, count: u64) {
        self.bar.inc(count);
        self.print_if_due();
    }

    fn print_if_due(&self) {
        if !self.has_lines {
            return;
        }
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let due = stage.as_mut().filter(|stage| stage.printed_at.elapsed() >= LINE_INTERVAL);
        if let Some(Stage { name, unit, printed_at }) = due {
            let bar = &self.bar;
            let times = [bar.elapsed(), bar.eta()];
            show_note(&format!("{name}: {}", counts(*unit, bar.position(), bar.length(), times)));
            *printed_at = Instant::now();
        }
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

/// A stage's counts and, from the first tenth on, the time left.
fn counts(unit: Unit, position: u64, total: Option<u64>, [elapsed, left]: [Duration; 2]) -> String {
    let number = |count: u64| match unit {
        Unit::Bytes => HumanBytes(count).to_string(),
        _ => HumanCount(count).to_string(),
    };
    let of_total = total.map_or(String::new(), |total| format!(" of {}", number(total)));
    let things = match unit {
        Unit::Time => return format!("{:#}", HumanDuration(elapsed)),
        Unit::Bytes => String::new(),
        Unit::Count(things) => format!(" {things}"),
    };
    let is_predictable =
        total.is_some_and(|total| position < total && position.saturating_mul(10) >= total);
    let left =
        if is_predictable { format!(", {:#} left", HumanDuration(left)) } else { String::new() };
    format!("{}{of_total}{things}{left}", number(position))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Unit = Unit::Count("rows");

    #[test]
    fn time_left_is_shown_from_the_first_tenth_on() {
        let times = [75, 80].map(Duration::from_secs);
        for (unit, position, total, expected) in [
            (Unit::Time, 0, None, "75s"),
            (ROWS, 1234, None, "1,234 rows"),
            (ROWS, 199, Some(2000), "199 of 2,000 rows"),
            (ROWS, 200, Some(2000), "200 of 2,000 rows, 80s left"),
            (ROWS, 2000, Some(2000), "2,000 of 2,000 rows"),
            (ROWS, 0, Some(0), "0 of 0 rows"),
            (Unit::Bytes, 512, Some(1024), "512 B of 1.00 KiB, 80s left"),
        ] {
            assert_eq!(counts(unit, position, total, times), expected);
        }
    }

    #[test]
    fn bars_have_valid_templates() {
        for template in [WITHOUT_TOTAL, WITH_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
