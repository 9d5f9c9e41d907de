//! What the functions are to reach, as ratios to the baselines of the same run where the machine
//! decides.

use super::{Figures, Measured};
use crate::requests::{
    CARRIERS, EXCHANGE, EXCHANGES, FORMAT, HEALTH, SEARCH_FILTERS, SEARCH_WORDS,
};

/// A goal and what was measured.
#[derive(Debug)]
pub struct Goal {
    pub text: &'static str,
    pub measured: f64,
    pub at_most: f64,
    pub unit: &'static str,
}

/// The goals of a cold start.
pub fn goals(measured: &Measured) -> Vec<Goal> {
    let (a, b) = (&measured.hello, &measured.hello_dynamodb);
    let worst = |names: &[&str], value: fn(&Figures) -> f64| {
        let wanted = |figures: &&Figures| names.is_empty() || names.contains(&figures.name);
        measured.functions.iter().filter(wanted).map(value).fold(0.0, f64::max)
    };
    let goal = |text, measured, at_most, unit| Goal { text, measured, at_most, unit };
    let lists = [EXCHANGES, CARRIERS];
    let from_snapshot = [EXCHANGES, CARRIERS, SEARCH_WORDS, SEARCH_FILTERS];
    vec![
        goal(
            "init of a function with lists",
            worst(&from_snapshot, |f| f.init) / b.init,
            2.5,
            "x (b)",
        ),
        goal("init of `status`", worst(&[HEALTH], |f| f.init) / b.init, 1.3, "x (b)"),
        goal("first answer of `format`", worst(&[FORMAT], |f| f.first), 3.0, "ms"),
        goal("warm list", worst(&lists, |f| f.warm) / a.warm, 1.3, "x (a)"),
        goal("warm `format`", worst(&[FORMAT], |f| f.warm) / a.warm, 1.5, "x (a)"),
        goal("warm lookup of an exchange", worst(&[EXCHANGE], |f| f.warm) / b.warm, 1.2, "x (b)"),
        goal("warm search of two words", worst(&[SEARCH_WORDS], |f| f.warm) / a.warm, 2.0, "x (a)"),
        goal("memory of any function", worst(&[], |f| f.memory), 24.0, "MiB"),
        goal("binary of any function", worst(&[], |f| f.size), 15.0, "MB"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(name: &'static str, milliseconds: f64, memory: f64) -> Figures {
        let [init, first, warm] = [milliseconds; 3];
        Figures { name, init, first, warm, memory, size: 20.0 }
    }

    #[test]
    fn a_goal_is_measured_by_the_worst_function() {
        let measured = Measured {
            description: String::new(),
            hello: figures("(a)", 1.0, 5.0),
            hello_dynamodb: figures("(b)", 2.0, 10.0),
            functions: vec![figures(EXCHANGES, 4.0, 25.0), figures(CARRIERS, 6.0, 20.0)],
        };
        let goals = goals(&measured);
        assert_eq!((goals[0].measured, goals[0].at_most), (3.0, 2.5));
        assert_eq!(goals[3].measured, 6.0);
        assert_eq!(goals[7].measured, 25.0);
    }
}
