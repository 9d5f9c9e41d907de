//! The figures as a picture.

use super::{Figures, Measured};
use crate::bar_chart::{Bar, BarChart};

/// A cold start of each function: the start of the process, and the first answer.
pub fn picture(measured: &Measured) -> String {
    let bar = |figures: &Figures, is_baseline| Bar {
        label: figures.name.to_owned(),
        parts: vec![figures.init, figures.first],
        is_baseline,
    };
    let baselines = [&measured.hello, &measured.hello_dynamodb].map(|figures| bar(figures, true));
    let functions = measured.functions.iter().map(|figures| bar(figures, false));
    let chart = BarChart {
        title: "Cold start: from no process to the first answer".to_owned(),
        description: measured.description.clone(),
        unit: "ms",
        parts: vec!["start of the process".to_owned(), "first answer".to_owned()],
        bars: baselines.into_iter().chain(functions).collect(),
    };
    chart.svg()
}
