//! Import progress on a terminal: one line with the phase and its counts.

use std::{cell::RefCell, fmt::Write, time::Duration};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use ingest::Progress;

/// Redraw interval, which keeps the spinner moving during phases without updates.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// Runs `work` with a progress line on stderr, hidden unless stderr is a terminal.
pub async fn with_progress<T>(work: impl AsyncFnOnce(&dyn Fn(Progress)) -> T) -> T {
    let line = ProgressLine::new(ProgressBar::no_length());
    if !line.bar.is_hidden() {
        line.begin("Opening the database", PLAIN);
        line.bar.enable_steady_tick(REDRAW_INTERVAL);
    }
    let result = work(&|step| line.show(step)).await;
    line.bar.finish_and_clear();
    result
}

// Line templates. Wide parts shrink, so that no line is wider than the terminal.
const PLAIN: &str = "{spinner} {wide_msg}";
const DOWNLOAD_SPINNER: &str = "{spinner} {wide_msg} {bytes}, {bytes_per_sec}";
const DOWNLOAD_PROGRESS: &str = "{spinner} {wide_msg} {bytes} of {total_bytes}, {bytes_per_sec}";
const READING: &str = "{spinner} {wide_msg} {human_pos} rows";
const WRITING: &str = "{spinner} {msg} {wide_bar} {human_pos} of {human_len} items{left}";

struct ProgressLine {
    bar: ProgressBar,
    /// The phase's message and template.
    phase: RefCell<(String, &'static str)>,
}

impl ProgressLine {
    fn new(bar: ProgressBar) -> Self {
        Self { bar, phase: RefCell::default() }
    }

    fn show(&self, step: Progress) {
        match step {
            Progress::Fetching { file, bytes, total } => {
                let template = total.map_or(DOWNLOAD_SPINNER, |_| DOWNLOAD_PROGRESS);
                self.begin(format!("Fetching {file}"), template);
                if let Some(total) = total {
                    self.bar.set_length(total);
                }
                self.bar.set_position(bytes);
            }
            Progress::Reading { file, rows } => {
                self.begin(format!("Reading {file}"), READING);
                self.bar.set_position(rows);
            }
            Progress::Comparing => self.begin("Comparing with the current data", PLAIN),
            Progress::Planned { phase, items } => {
                self.begin(phase, WRITING);
                self.bar.set_length(items as u64);
            }
            Progress::Written(items) => self.bar.inc(items as u64),
            Progress::Publishing => self.begin("Publishing", PLAIN),
            Progress::Verifying => self.begin("Comparing items with the current data", PLAIN),
        }
    }

    /// Starts a phase, unless it has already started. Counts and times are per phase.
    fn begin(&self, message: impl Into<String>, template: &'static str) {
        let phase = (message.into(), template);
        if *self.phase.borrow() == phase {
            return;
        }
        self.bar.reset();
        self.bar.unset_length();
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("left", write_time_left));
        }
        self.bar.set_message(phase.0.clone());
        self.phase.replace(phase);
    }
}

/// Writes the remaining time once 1% is done.
fn write_time_left(state: &ProgressState, line: &mut dyn Write) {
    if state.pos() > 0 && state.pos() * 100 >= state.len().unwrap_or_default() {
        // Writing to a string cannot fail.
        _ = write!(line, ", {:#} left", HumanDuration(state.eta()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_starts_its_own_counts() {
        let line = ProgressLine::new(ProgressBar::hidden());
        let file = "NANPA";
        for (step, counts) in [
            (Progress::Fetching { file, bytes: 5, total: None }, (5, None)),
            (Progress::Fetching { file, bytes: 10, total: Some(20) }, (10, Some(20))),
            (Progress::Reading { file, rows: 7 }, (7, None)),
            (Progress::Planned { phase: "Writing", items: 9 }, (0, Some(9))),
            (Progress::Written(4), (4, Some(9))),
            (Progress::Publishing, (0, None)),
        ] {
            line.show(step);
            assert_eq!((line.bar.position(), line.bar.length()), counts, "{step:?}");
            assert!(ProgressStyle::with_template(line.phase.borrow().1).is_ok(), "{step:?}");
        }
    }
}
