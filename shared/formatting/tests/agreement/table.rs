//! Agreement between two implementations, by field and class of cases.

use std::{collections::BTreeMap, fmt};

use super::corpus::{Answer, FIELDS};

/// The columns: whether the input can be parsed, and each field of the result.
const COLUMNS: usize = 1 + FIELDS.len();

/// For one class: the number of inputs, and how many agree in each column.
#[derive(Default, Clone, Copy)]
pub struct Counts {
    cases: u32,
    apart: u32,
    agree: [u32; COLUMNS],
}

/// The counts for each class, by name.
#[derive(Default)]
pub struct Table(BTreeMap<String, Counts>);

/// The columns that agree. If only one side can parse the input, none do.
fn agreement(ours: &Option<Answer>, googles: &Option<Answer>) -> [bool; COLUMNS] {
    match (ours, googles) {
        (None, None) => [true; COLUMNS],
        (Some(ours), Some(googles)) => {
            std::array::from_fn(|column| column == 0 || ours[column - 1] == googles[column - 1])
        }
        _ => [false; COLUMNS],
    }
}

impl Table {
    /// Counts a case. Deliberate differences are counted separately.
    pub fn count(
        &mut self,
        class: &str,
        ours: &Option<Answer>,
        googles: &Option<Answer>,
        is_apart: bool,
    ) {
        let agree = agreement(ours, googles).map(|agrees| u32::from(agrees && !is_apart));
        let is_apart = u32::from(is_apart);
        let counts = self.0.entry(class.to_owned()).or_default();
        counts.add(&Counts { cases: 1 - is_apart, apart: is_apart, agree });
    }

    /// The percentage of inputs that agree, for each column.
    pub fn shares(&self) -> [f64; COLUMNS] {
        let total = self.total();
        total.agree.map(|agree| 100.0 * f64::from(agree) / f64::from(total.cases))
    }

    fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.0.values().for_each(|counts| total.add(counts));
        total
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.apart += other.apart;
        self.agree.iter_mut().zip(other.agree).for_each(|(total, agree)| *total += agree);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}{:>8}{:>8}{:>16}", "class", "cases", "apart", "parses")?;
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
