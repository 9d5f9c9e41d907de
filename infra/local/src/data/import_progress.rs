//! Import progress on a terminal: one line with the phase and its sizes.

use std::{cell::RefCell, fmt::Write, time::Duration};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use ingest::Progress;

/// Redraw interval, which keeps the spinner moving while a phase reports nothing.
const TICK: Duration = Duration::from_millis(200);

/// Runs `work` with a progress line on stderr, hidden unless stderr is a terminal.
pub async fn with_progress<T>(work: impl AsyncFnOnce(&dyn Fn(Progress)) -> T) -> T {
    let line = ProgressLine::new(ProgressBar::no_length());
    if !line.bar.is_hidden() {
        line.begin("Opening the database", PLAIN);
        line.bar.enable_steady_tick(TICK);
    }
    let done = work(&|step| line.show(step)).await;
    line.bar.finish_and_clear();
    done
}

// Line templates. A wide part is cut to the remaining room, so no line is wider than the terminal.
const PLAIN: &str = "{spinner} {wide_msg}";
const FETCHING: &str = "{spinner} {wide_msg} {bytes}, {bytes_per_sec}";
const FETCHING_OF_KNOWN_SIZE: &str =
    "{spinner} {wide_msg} {bytes} of {total_bytes}, {bytes_per_sec}";
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
                let look = total.map_or(FETCHING, |_| FETCHING_OF_KNOWN_SIZE);
                self.begin(format!("Fetching {file}"), look);
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
            Progress::Planned(items) => {
                self.begin("Writing", WRITING);
                self.bar.set_length(items as u64);
            }
            Progress::Written(items) => self.bar.inc(items as u64),
            Progress::Publishing => self.begin("Publishing", PLAIN),
            Progress::Verifying => self.begin("Comparing items with the current data", PLAIN),
        }
    }

    /// Starts a phase unless it already has. Sizes and times are per phase.
    fn begin(&self, message: impl Into<String>, look: &'static str) {
        let phase = (message.into(), look);
        if *self.phase.borrow() == phase {
            return;
        }
        self.bar.reset();
        self.bar.unset_length();
        if let Ok(style) = ProgressStyle::with_template(look) {
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
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// An 80-column terminal that records its output.
    #[derive(Debug, Clone, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.write_str("\n")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The line after each step, on an 80-column terminal.
    fn lines(steps: &[Progress]) -> Vec<String> {
        let bar = ProgressBar::no_length();
        let line = ProgressLine::new(bar);
        let shown = |step: &Progress| {
            line.show(*step);
            let terminal = Terminal::default();
            line.bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
            line.bar.force_draw();
            let text = terminal.0.lock().unwrap().clone();
            text.trim().to_owned()
        };
        steps.iter().map(shown).collect()
    }

    #[test]
    fn each_phase_shows_its_name_and_sizes_within_80_columns() {
        let file = "the NANPA report of utilized codes";
        let lines = lines(&[
            Progress::Fetching { file, bytes: 0, total: None },
            Progress::Fetching { file, bytes: 1_048_576, total: Some(2_698_200) },
            Progress::Reading { file, rows: 123_456 },
            Progress::Comparing,
            Progress::Planned(249_991),
            Progress::Written(100_000),
            Progress::Publishing,
        ]);
        for (line, parts) in lines.iter().zip([
            &["Fetching the NANPA", " 0 B, "][..],
            &["Fetching the NANPA", " 1.00 MiB of 2.57 MiB, "],
            &["Reading the NANPA", " 123,456 rows"],
            &["Comparing with"],
            &["Writing ", " 0 of 249,991 items"],
            &["Writing ", " 100,000 of 249,991 items, ", " left"],
            &["Publishing"],
        ]) {
            assert!(line.chars().count() <= 80, "{line}");
            for part in parts {
                assert!(line.contains(part), "'{part}' in '{line}'");
            }
        }
        assert!(!lines[4].contains("left"), "nothing tells the time yet: {}", lines[4]);
    }
}
