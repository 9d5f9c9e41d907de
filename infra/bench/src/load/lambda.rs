//! Functions as Lambda runs them: one invocation at a time, or, on managed instances, several.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::body::Bytes;
use tokio::task::JoinSet;

use super::{Answers, Measured, Options, Requests, log, measure_load, numbers};
use crate::{
    Error,
    database::DataFolder,
    function::{Function, FunctionSpec},
    programs::Programs,
    requests::{self, EXCHANGE, EXCHANGES, is_ok},
};

pub const NAME: &str = "Lambda function";

/// Measures some functions, each in a new process for each load.
pub async fn measure(
    options: &Options,
    programs: &Programs,
    folder: &DataFolder,
    measured: &mut Measured,
) -> Result<(), Error> {
    let database = folder.start()?;
    let others = requests::of_every_kind(folder.data).into_iter();
    let others = others.filter(|request| [EXCHANGES, EXCHANGE].contains(&request.name));
    let others = others.map(|request| Requests { name: request.name, requests: vec![request] });
    for requests in [numbers()].into_iter().chain(others) {
        for &concurrency in &options.concurrency {
            let spec = FunctionSpec {
                program: programs.function(requests.requests[0].function),
                dynamodb: database.endpoint.clone(),
                concurrency: (concurrency > 1).then_some(concurrency),
            };
            let log = log(requests.requests[0].function);
            let function = Arc::new(Function::start(&spec, &log).await?);
            check(&function, &requests).await?;
            let events = requests.requests.iter().map(requests::Request::event_bytes);
            let events: Arc<Vec<Bytes>> = Arc::new(events.collect());
            let load = async |duration| {
                if concurrency > 1 {
                    invoke_concurrently(&function, &events, concurrency, duration).await
                } else {
                    invoke_one_by_one(&function, &events, duration).await
                }
            };
            let what = (NAME, requests.name, concurrency);
            measured.loads.push(measure_load(options, what, function.process(), load).await?);
            if concurrency > 1 && function.most_at_once() == 1 {
                let name = requests.name;
                let note = format!("{NAME}, {name}: it took one at a time, not {concurrency}.");
                measured.left_out.push(note);
            }
        }
    }
    Ok(())
}

async fn check(function: &Function, requests: &Requests) -> Result<(), Error> {
    for request in &requests.requests {
        let answer = function.invoke(&request.event_bytes()).await?;
        request.check(&answer.body)?;
        function.idle().await?;
    }
    Ok(())
}

async fn invoke_one_by_one(
    function: &Function,
    events: &[Bytes],
    duration: Duration,
) -> Result<Answers, Error> {
    let end = Instant::now() + duration;
    let mut answers = Answers::none();
    for event in events.iter().cycle() {
        if Instant::now() >= end {
            break;
        }
        let answer = function.invoke(event).await?;
        answers.record(answer.time, is_ok(&answer.body));
        function.idle().await?;
    }
    Ok(answers)
}

/// Keeps so many invocations under way.
async fn invoke_concurrently(
    function: &Arc<Function>,
    events: &Arc<Vec<Bytes>>,
    concurrency: usize,
    duration: Duration,
) -> Result<Answers, Error> {
    let end = Instant::now() + duration;
    let mut running = JoinSet::new();
    for first in 0..concurrency {
        let (function, events) = (Arc::clone(function), Arc::clone(events));
        running.spawn(async move {
            let mut answers = Answers::none();
            for event in events.iter().cycle().skip(first % events.len()) {
                if Instant::now() >= end {
                    break;
                }
                let answer = function.invoke(event).await?;
                answers.record(answer.time, is_ok(&answer.body));
            }
            Ok::<_, Error>(answers)
        });
    }
    let mut answers = Answers::none();
    while let Some(of_task) = running.join_next().await {
        answers.add(&of_task??);
    }
    Ok(answers)
}
