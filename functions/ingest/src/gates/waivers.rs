//! The options that let an import pass its gates.

use serde::Serialize;

use super::Percent;

/// What an operator allows one import to do. The default allows nothing beyond the gates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Waivers {
    /// The most records of one kind that may differ from an older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_change: Option<u32>,
    /// The most exchanges that one state, carrier or area code may lose or have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loss: Option<u32>,
    /// The most rows that may look wrong by themselves, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_suspect: Option<Percent>,
    /// Whether files may be older than the current data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_older: bool,
}

impl Waivers {
    /// The options of the command line that set waivers. Only the last takes no value.
    pub const OPTIONS: [&str; 4] =
        ["--max-change", "--max-loss", "--max-suspect", Self::ALLOW_OLDER];
    const ALLOW_OLDER: &str = "--allow-older";

    /// These waivers as words of a command line.
    pub fn arguments(&self) -> Vec<String> {
        let Self { max_change, max_loss, max_suspect, allow_older } = self;
        let values = [
            max_change.map(|count| count.to_string()),
            max_loss.map(|count| count.to_string()),
            max_suspect.map(|percent| percent.to_string()),
        ];
        let mut arguments = Vec::new();
        for (option, value) in Self::OPTIONS.into_iter().zip(values) {
            arguments.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
        }
        arguments.extend(allow_older.then(|| Self::ALLOW_OLDER.to_owned()));
        arguments
    }

    /// Whether they allow everything that `needed` allows.
    pub(crate) fn cover(&self, needed: &Self) -> bool {
        self.max_change >= needed.max_change
            && self.max_loss >= needed.max_loss
            && self.max_suspect >= needed.max_suspect
            && self.allow_older >= needed.allow_older
    }

    /// The waivers that cover both.
    pub(crate) fn with(self, other: Self) -> Self {
        let is_larger = other.max_suspect > self.max_suspect;
        Self {
            max_change: self.max_change.max(other.max_change),
            max_loss: self.max_loss.max(other.max_loss),
            max_suspect: if is_larger { other.max_suspect } else { self.max_suspect },
            allow_older: self.allow_older || other.allow_older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waivers_cover_what_they_are_as_large_as() {
        let loss = Waivers { max_loss: Some(670), ..Waivers::default() };
        let suspect = Waivers { max_suspect: Some("1.3".parse().unwrap()), ..Waivers::default() };
        let both = loss.with(suspect);
        assert!(both.cover(&loss) && both.cover(&suspect) && both.cover(&Waivers::default()));
        assert!(!loss.cover(&both) && !Waivers::default().cover(&loss));
        assert!(!loss.cover(&Waivers { max_loss: Some(671), ..loss }));
        assert!(!both.cover(&Waivers { allow_older: true, ..both }));
    }

    #[test]
    fn waivers_are_words_of_a_command_line() {
        let all = Waivers {
            max_change: Some(4893),
            max_loss: Some(12),
            max_suspect: Some("1.3".parse().unwrap()),
            allow_older: true,
        };
        let expected = "--max-change 4893 --max-loss 12 --max-suspect 1.3 --allow-older";
        assert_eq!(all.arguments().join(" "), expected);
        assert_eq!(Waivers::default().arguments(), Vec::<String>::new());
    }
}
