//! A program that a benchmark starts, and how much memory it uses.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::Error;

/// A running program. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts a program whose output is written to a file.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self, Error> {
        let log = create(log)?;
        spawn(command.stdout(log.try_clone()?).stderr(log)).map(Self)
    }

    /// Starts a program, and waits for the line with which it says that it is ready. Gives all
    /// lines up to that one.
    pub fn start_until(
        command: &mut Command,
        ready: &str,
        log: &Path,
    ) -> Result<(Self, Announcement), Error> {
        let child = spawn(command.stdout(Stdio::piped()).stderr(create(log)?))?;
        let mut process = Self(child);
        let output = process.0.stdout.take().ok_or("the output of the program is not piped")?;
        let mut announcement = Announcement { lines: Vec::new(), output: BufReader::new(output) };
        while !announcement.lines.last().is_some_and(|line| line.contains(ready)) {
            let mut line = String::new();
            if announcement.output.read_line(&mut line)? == 0 {
                let program = command.get_program().display();
                return Err(
                    format!("{program} ended before it was ready; see {}", log.display()).into()
                );
            }
            announcement.lines.push(line);
        }
        Ok((process, announcement))
    }

    /// The most memory that the process has used so far, in bytes.
    pub fn peak_memory(&self) -> Result<u64, Error> {
        self.status("VmHWM")
    }

    /// The memory that the process uses, in bytes.
    pub fn memory(&self) -> Result<u64, Error> {
        self.status("VmRSS")
    }

    fn status(&self, field: &str) -> Result<u64, Error> {
        let file = format!("/proc/{}/status", self.0.id());
        let text =
            fs::read_to_string(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
        bytes_of(&text, field).ok_or_else(|| format!("{file} lacks {field}").into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has ended by itself is no longer there to be killed.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// What a program prints until it is ready. The pipe stays open, so that the program can print on.
#[derive(Debug)]
pub struct Announcement {
    lines: Vec<String>,
    output: BufReader<ChildStdout>,
}

impl Announcement {
    /// What follows a name at the beginning of a line.
    pub fn value(&self, name: &str) -> Result<&str, Error> {
        let value = self.lines.iter().find_map(|line| line.trim().strip_prefix(name));
        value.map(str::trim).ok_or_else(|| format!("the program did not print '{name}'").into())
    }
}

fn spawn(command: &mut Command) -> Result<Child, Error> {
    let program = command.get_program().display().to_string();
    command.spawn().map_err(|error| format!("cannot start {program}: {error}").into())
}

fn create(log: &Path) -> Result<File, Error> {
    let failed = |error| format!("cannot write {}: {error}", log.display());
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    Ok(File::create(log).map_err(failed)?)
}

/// A field of the `status` of a process in bytes; the file has it in KiB.
fn bytes_of(status: &str, field: &str) -> Option<u64> {
    let (_, value) =
        status.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| *name == field)?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_status_is_in_bytes() {
        let status = "Name:\tnpa\nVmHWM:\t   29000 kB\nVmRSS:\t   28000 kB\n";
        assert_eq!(bytes_of(status, "VmHWM"), Some(29_696_000));
        assert_eq!(bytes_of(status, "VmPeak"), None);
    }

    #[test]
    fn a_program_that_ends_before_it_is_ready_is_an_error() {
        let folder = std::env::temp_dir().join("bench-process-test");
        let mut command = Command::new("echo");
        let error = Process::start_until(command.arg("hello"), "ready", &folder.join("log"));
        assert!(error.unwrap_err().to_string().starts_with("echo ended before it was ready"));
    }
}
