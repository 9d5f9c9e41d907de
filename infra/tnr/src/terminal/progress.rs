//! Progress of a long command on stderr: a bar on a terminal, and lines elsewhere.

use std::{
    fmt::{self, Write as _},
    io::{self, Read, Write},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressState, ProgressStyle};
use jiff::SignedDuration;

use super::escape::escape_controls;

/// Redraw interval, which keeps the spinner moving during stages without updates.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Time between lines.
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

/// The lines to print without a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// A line when a stage starts, and one every ten seconds.
    ByStage,
    /// A line every ten seconds, so that a short command prints nothing.
    Periodic,
}

/// The progress of a command. Dropping it clears the bar.
pub struct Progress {
    bar: ProgressBar,
    stage: Mutex<Option<Stage>>,
    /// Prints lines; `None` on a terminal.
    printer: Option<(Sender<Stage>, JoinHandle<()>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stage {
    name: String,
    unit: Unit,
}

impl Progress {
    pub fn new(lines: Lines) -> Self {
        let bar = ProgressBar::no_length();
        if bar.is_hidden() {
            return Self::with_lines(lines, LINE_INTERVAL, io::stderr());
        }
        Self { bar, stage: Mutex::default(), printer: None }
    }

    /// For a command that writes data; hidden if it does so to the terminal.
    pub fn beside_output(is_terminal: bool) -> Self {
        if is_terminal { Self::hidden() } else { Self::new(Lines::Periodic) }
    }

    /// Shows nothing.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), stage: Mutex::default(), printer: None }
    }

    fn with_lines(lines: Lines, interval: Duration, output: impl Write + Send + 'static) -> Self {
        let bar = ProgressBar::hidden();
        let (sender, stages) = mpsc::channel();
        let counted = bar.clone();
        let printer =
            thread::spawn(move || print_lines(&stages, &counted, lines, interval, output));
        Self { bar, stage: Mutex::default(), printer: Some((sender, printer)) }
    }

    /// Starts a stage with its own counts and time. For the current stage, only updates the total.
    pub fn start(&self, name: impl Into<String>, unit: Unit, total: Option<u64>) {
        let stage = Stage { name: escape_controls(&name.into()), unit };
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = current.as_ref() != Some(&stage);
        if is_new {
            // Before anything that draws the bar.
            self.set_style(stage.unit, total);
            self.bar.reset();
        }
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        if is_new {
            self.show(&stage);
            *current = Some(stage);
        }
    }

    fn set_style(&self, unit: Unit, total: Option<u64>) {
        let write_counts = move |state: &ProgressState, line: &mut dyn fmt::Write| {
            // Writing to a string cannot fail.
            _ = line.write_str(&counts(unit, state.pos(), state.len(), state.elapsed()));
        };
        let template = total.map_or(WITHOUT_TOTAL, |_| WITH_TOTAL);
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("counts", write_counts));
        }
    }

    fn show(&self, stage: &Stage) {
        if let Some((sender, _)) = &self.printer {
            // Fails only if stderr was closed.
            _ = sender.send(stage.clone());
        } else if !self.bar.is_hidden() {
            self.bar.set_message(stage.name.clone());
            self.bar.enable_steady_tick(REDRAW_INTERVAL);
        }
    }

    pub fn set(&self, position: u64) {
        self.bar.set_position(position);
    }

    pub fn add(&self, count: u64) {
        self.bar.inc(count);
    }

    /// Counts the bytes that are read.
    pub fn wrap_read<R: Read>(&self, reader: R) -> impl Read + use<R> {
        self.bar.wrap_read(reader)
    }

    /// Clears the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
        if let Some((sender, printer)) = self.printer.take() {
            drop(sender);
            // A panic there has printed its own message.
            _ = printer.join();
        }
    }
}

/// Prints lines about the stages that it receives, until there are no more.
fn print_lines(
    stages: &Receiver<Stage>,
    bar: &ProgressBar,
    lines: Lines,
    interval: Duration,
    mut output: impl Write,
) {
    let Ok(mut stage) = stages.recv() else { return };
    let mut is_start = true;
    loop {
        let printed = match (is_start, lines) {
            (true, Lines::Periodic) => Ok(()),
            (true, Lines::ByStage) => writeln!(output, "{}", stage.name),
            (false, _) => {
                let counts = counts(stage.unit, bar.position(), bar.length(), bar.elapsed());
                writeln!(output, "{}: {counts}", stage.name)
            }
        };
        if printed.and_then(|()| output.flush()).is_err() {
            return;
        }
        match stages.recv_timeout(interval) {
            Ok(next) => (stage, is_start) = (next, true),
            Err(RecvTimeoutError::Timeout) => is_start = false,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// A stage's counts and, from the first tenth on, the time left at the average speed so far.
fn counts(unit: Unit, position: u64, total: Option<u64>, elapsed: Duration) -> String {
    let number = |count: u64| match unit {
        Unit::Bytes => HumanBytes(count).to_string(),
        _ => HumanCount(count).to_string(),
    };
    let mut text = match (unit, total) {
        (Unit::Time, _) => return in_seconds(elapsed.as_secs()),
        (_, None) => number(position),
        (_, Some(total)) => format!("{} of {}", number(position), number(total)),
    };
    if let Unit::Count(things) = unit {
        text += &format!(" {things}");
    }
    if let Some(total) = total
        && position > 0
        && position < total
        && position.saturating_mul(10) >= total
    {
        let left = elapsed.as_secs_f64() * (total - position) as f64 / position as f64;
        _ = write!(text, ", {} left", in_seconds(left.ceil() as u64));
    }
    text
}

/// A duration such as `1m 50s`.
pub fn in_seconds(seconds: u64) -> String {
    format!("{:#}", SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const ROWS: Unit = Unit::Count("rows");

    #[test]
    fn time_left_is_shown_from_the_first_tenth_on() {
        for (unit, position, total, seconds, expected) in [
            (Unit::Time, 0, None, 75, "1m 15s"),
            (ROWS, 0, None, 5, "0 rows"),
            (ROWS, 1234, None, 5, "1,234 rows"),
            (ROWS, 0, Some(2000), 5, "0 of 2,000 rows"),
            (ROWS, 199, Some(2000), 5, "199 of 2,000 rows"),
            (ROWS, 200, Some(2000), 10, "200 of 2,000 rows, 1m 30s left"),
            (ROWS, 1500, Some(2000), 10, "1,500 of 2,000 rows, 4s left"),
            (ROWS, 1999, Some(2000), 7201, "1,999 of 2,000 rows, 4s left"),
            (ROWS, 2000, Some(2000), 10, "2,000 of 2,000 rows"),
            (ROWS, 10, Some(100), 800, "10 of 100 rows, 2h left"),
            (ROWS, 0, Some(0), 10, "0 of 0 rows"),
            (Unit::Bytes, 512, Some(1024), 3, "512 B of 1.00 KiB, 3s left"),
        ] {
            let elapsed = Duration::from_secs(seconds);
            assert_eq!(counts(unit, position, total, elapsed), expected);
        }
    }

    #[test]
    fn bars_have_valid_templates() {
        for template in [WITHOUT_TOTAL, WITH_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    /// A shared buffer.
    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<u8>>>);

    impl Output {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_stage_is_one_line_without_a_terminal() {
        for (lines, expected) in [
            (Lines::ByStage, "Reading a\\u001b\nWriting\nReading a\\u001b\n"),
            (Lines::Periodic, ""),
        ] {
            let output = Output::default();
            let progress = Progress::with_lines(lines, Duration::MAX, output.clone());
            for rows in 0..3 {
                progress.start("Reading a\u{1b}", ROWS, None);
                progress.set(rows);
            }
            progress.start("Writing", ROWS, Some(9));
            progress.start("Reading a\u{1b}", ROWS, None);
            drop(progress);
            assert_eq!(output.text(), expected, "{lines:?}");
        }
    }

    #[test]
    fn long_stages_are_shown_regularly_without_a_terminal() {
        let output = Output::default();
        let lines = Lines::Periodic;
        let progress = Progress::with_lines(lines, Duration::from_millis(1), output.clone());
        progress.start("Writing", ROWS, None);
        progress.set(8);
        while output.text().matches("Writing: 8 rows\n").count() < 2 {
            thread::yield_now();
        }
        drop(progress);
        assert!(output.text().lines().all(|line| line.starts_with("Writing: ")));
    }
}
