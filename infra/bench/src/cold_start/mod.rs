//! How long functions take to start and to answer, beside the least that a function can be.

mod goals;
mod picture;
mod report;

use std::{fs, path::PathBuf, time::Duration};

use clap::Parser;

use crate::{
    Error,
    database::{Data, DataFolder},
    function::{Function, FunctionSpec},
    options::ProgramArgs,
    programs::{HELLO, HELLO_DYNAMODB, Programs, baseline, build_baselines, log},
    requests::{self, Request},
};

pub use picture::picture;
pub use report::report;

/// Measures how long the functions take to start and to answer.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench cold_start --")]
pub struct Options {
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// How often each function is started
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Requests between the first one and those that are measured as warm
    #[arg(long, default_value_t = 20)]
    warm_up: u32,
    /// Requests that are measured as warm
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    warm: u32,
    /// Draw the figures into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// A function with the request that it is measured with.
#[derive(Debug)]
struct Subject {
    program: PathBuf,
    request: Request,
}

/// What was measured of one function: medians of all rounds, and the size of its binary.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub name: &'static str,
    /// From the start of the process until it asks for its first event, in milliseconds.
    pub init: f64,
    /// The first answer, in milliseconds.
    pub first: f64,
    /// An answer after many others, in milliseconds.
    pub warm: f64,
    /// The most memory that the process used, in MiB.
    pub memory: f64,
    /// The binary, in MB.
    pub size: f64,
}

/// One start of a function.
#[derive(Debug)]
struct Sample {
    init: Duration,
    first: Duration,
    warm: Duration,
    memory: u64,
}

/// The figures of a run: those of the baselines, and those of the functions.
#[derive(Debug)]
pub struct Measured {
    /// What was measured, in sentences.
    pub description: String,
    pub hello: Figures,
    pub hello_dynamodb: Figures,
    pub functions: Vec<Figures>,
}

/// Builds and measures everything. The functions take turns, so that whatever else the machine does
/// meets all of them.
pub async fn measure(options: &Options) -> Result<Measured, Error> {
    let programs = Programs::build(&options.programs)?;
    build_baselines()?;
    let folder = DataFolder::prepare(&options.programs, &programs)?;
    let database = folder.start()?;
    let subjects = subjects(&programs, folder.data);
    let mut samples: Vec<Vec<Sample>> = subjects.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.rounds {
        eprint!("\rround {round} of {}", options.rounds);
        for (subject, samples) in subjects.iter().zip(&mut samples) {
            samples.push(start_once(subject, &database.endpoint, options).await?);
        }
    }
    eprintln!();
    let figures = subjects.iter().zip(&samples).map(|(subject, samples)| figures(subject, samples));
    let mut figures = figures.collect::<Result<Vec<Figures>, Error>>()?.into_iter();
    let [Some(hello), Some(hello_dynamodb)] = [figures.next(), figures.next()] else {
        return Err("the baselines were not measured".into());
    };
    let Options { rounds, warm_up, warm, .. } = options;
    let description = format!(
        "{}\nMedians of {rounds} starts of each function in turn; warm answers are medians of {warm} \
         after {warm_up} others.",
        folder.description()?,
    );
    Ok(Measured { description, hello, hello_dynamodb, functions: figures.collect() })
}

/// The two baselines, and then the functions.
fn subjects(programs: &Programs, data: Data) -> Vec<Subject> {
    let baselines = [
        ("(a) hello", HELLO, "/message"),
        ("(b) hello and one GetItem", HELLO_DYNAMODB, "/attributes"),
    ];
    let baselines = baselines.map(|(name, function, answer)| {
        let (route, target) = ("/v1/npa/{npa}", "/v1/npa/415".to_owned());
        let request = Request { name, function, route, target, answer };
        Subject { program: baseline(function), request }
    });
    let functions = requests::of_every_kind(data).into_iter().map(|request| {
        let program = programs.function(request.function);
        Subject { program, request }
    });
    baselines.into_iter().chain(functions).collect()
}

async fn start_once(subject: &Subject, dynamodb: &str, options: &Options) -> Result<Sample, Error> {
    let Subject { program, request } = subject;
    let event = request.event_bytes();
    let spec =
        FunctionSpec { program: program.clone(), dynamodb: dynamodb.to_owned(), concurrency: None };
    let function = Function::start(&spec, &log(request.function)).await?;
    let answer = async || {
        let answer = function.invoke(&event).await?;
        request.check(&answer.body)?;
        function.idle().await?;
        Ok::<_, Error>(answer.time)
    };
    let first = answer().await?;
    for _ in 0..options.warm_up {
        answer().await?;
    }
    let mut warm = Vec::new();
    for _ in 0..options.warm {
        warm.push(answer().await?);
    }
    let memory = function.process().peak_memory()?;
    Ok(Sample { init: function.init(), first, warm: median(warm), memory })
}

fn figures(subject: &Subject, samples: &[Sample]) -> Result<Figures, Error> {
    let milliseconds = |time: fn(&Sample) -> Duration| {
        median(samples.iter().map(time).collect()).as_secs_f64() * 1000.0
    };
    let memory = median(samples.iter().map(|sample| sample.memory).collect());
    let size = fs::metadata(&subject.program)?.len();
    Ok(Figures {
        name: subject.request.name,
        init: milliseconds(|sample| sample.init),
        first: milliseconds(|sample| sample.first),
        warm: milliseconds(|sample| sample.warm),
        memory: memory as f64 / 1024.0 / 1024.0,
        size: size as f64 / 1e6,
    })
}

/// The one in the middle; of an even number the upper of the two.
fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_move_the_median() {
        assert_eq!(median(vec![3, 1, 2, 1000, 2]), 2);
        assert_eq!(median(vec![7]), 7);
    }
}
