//! How often two implementations agree, for each field and class of cases.

use std::{collections::BTreeMap, fmt};

use super::corpus::Answer;

const FIELDS: [&str; 9] = [
    "parses",
    "valid",
    "possible",
    "region",
    "national_number",
    "e164",
    "national",
    "rfc3966",
    "type",
];

/// For one class: the number of inputs, and for each field how many agree.
#[derive(Default, Clone, Copy)]
pub struct Counts {
    cases: u32,
    apart: u32,
    agree: [u32; FIELDS.len()],
}

/// The counts of each class, by its name.
#[derive(Default)]
pub struct Table(BTreeMap<String, Counts>);

/// Whether each field agrees. If only one side can parse the input, no field does.
fn agreement(ours: &Option<Answer>, googles: &Option<Answer>) -> [bool; FIELDS.len()] {
    match (ours, googles) {
        (None, None) => [true; FIELDS.len()],
        (Some(ours), Some(googles)) => [
            true,
            ours.valid == googles.valid,
            ours.possible == googles.possible,
            ours.region == googles.region,
            ours.national_number == googles.national_number,
            ours.e164 == googles.e164,
            ours.national == googles.national,
            ours.rfc3966 == googles.rfc3966,
            ours.number_type == googles.number_type,
        ],
        _ => [false; FIELDS.len()],
    }
}

impl Table {
    /// Counts a case. One in which the service differs on purpose is counted apart and not among the
    /// others.
    pub fn count(
        &mut self,
        class: &str,
        ours: &Option<Answer>,
        googles: &Option<Answer>,
        is_apart: bool,
    ) {
        let counts = self.0.entry(class.to_owned()).or_default();
        if is_apart {
            counts.apart += 1;
            return;
        }
        counts.cases += 1;
        for (agree, agrees) in counts.agree.iter_mut().zip(agreement(ours, googles)) {
            *agree += u32::from(agrees);
        }
    }

    /// How often each field agrees over all classes, in percent.
    pub fn shares(&self) -> [f64; FIELDS.len()] {
        let total = self.total();
        total.agree.map(|agree| 100.0 * f64::from(agree) / f64::from(total.cases))
    }

    fn total(&self) -> Counts {
        self.0.values().fold(Counts::default(), |mut total, counts| {
            total.cases += counts.cases;
            total.apart += counts.apart;
            total.agree.iter_mut().zip(counts.agree).for_each(|(total, agree)| *total += agree);
            total
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}{:>8}{:>8}", "class", "cases", "apart")?;
        FIELDS.iter().try_for_each(|field| write!(f, "{field:>16}"))?;
        let total = ("all".to_owned(), self.total());
        for (class, counts) in self.0.iter().chain([(&total.0, &total.1)]) {
            write!(f, "\n{class:<20}{:>8}{:>8}", counts.cases, counts.apart)?;
            for agree in counts.agree {
                let share = 100.0 * f64::from(agree) / f64::from(counts.cases.max(1));
                write!(f, "{:>16}", format!("{agree} {share:.2}%"))?;
            }
        }
        Ok(())
    }
}
