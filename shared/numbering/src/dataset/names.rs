//! The folded names of a dataset, and which of them meet a condition.

use std::sync::OnceLock;

use super::{Dataset, Holder, Words, folding::Folded};
use crate::records::{Carrier, Ocn};

/// The names of a dataset, folded when the first search needs them.
///
/// They follow from the dataset, so they are no part of its snapshot, and datasets are equal with and
/// without them.
#[derive(Debug, Default)]
pub(super) struct FoldedNames(OnceLock<Names>);

impl PartialEq for FoldedNames {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Each vector has the order of its vector in the dataset.
#[derive(Debug)]
struct Names {
    /// Company name and common name of each carrier.
    carriers: Vec<[Option<Folded>; 2]>,
    companies: Vec<Folded>,
    rate_centers: Vec<Folded>,
}

/// Which names of the dataset meet one condition, so that each name is read once and not once for
/// each exchange.
pub(super) struct NameMatches {
    carriers: Vec<bool>,
    companies: Vec<bool>,
    rate_centers: Vec<bool>,
}

impl NameMatches {
    pub(super) fn matches_holder(&self, holder: Option<Holder>) -> bool {
        match holder {
            Some(Holder::Carrier(index)) => self.carriers[index as usize],
            Some(Holder::Company(index)) => self.companies[index as usize],
            None => false,
        }
    }

    pub(super) fn matches_rate_center(&self, rate_center: Option<u32>) -> bool {
        rate_center.is_some_and(|index| self.rate_centers[index as usize])
    }
}

impl Dataset {
    /// The carriers that `words` finds, ordered by OCN; without `words`, all. Each word must begin a
    /// word of the company name or common name, or the OCN.
    pub fn carriers_matching<'a>(
        &'a self,
        words: Option<&'a Words>,
    ) -> impl Iterator<Item = &'a Carrier> {
        let is_match = move |index: usize, carrier: &Carrier| {
            words.is_none_or(|words| {
                let names = &self.names().carriers[index];
                words.are_found(|word| {
                    has_name(names, |name| name.has_word_starting_with(word))
                        || is_beginning_of(carrier.ocn, word)
                })
            })
        };
        let numbered = self.carriers.iter().enumerate();
        numbered.filter(move |&(index, carrier)| is_match(index, carrier)).map(|(_, found)| found)
    }

    /// Which names of this dataset meet the condition.
    pub(super) fn match_names(&self, is_match: impl Fn(&Folded) -> bool) -> NameMatches {
        let names = self.names();
        NameMatches {
            carriers: names.carriers.iter().map(|names| has_name(names, &is_match)).collect(),
            companies: names.companies.iter().map(&is_match).collect(),
            rate_centers: names.rate_centers.iter().map(&is_match).collect(),
        }
    }

    fn names(&self) -> &Names {
        let fold_all = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        self.folded_names.0.get_or_init(|| Names {
            carriers: self.carriers.iter().map(fold_names).collect(),
            companies: fold_all(&self.companies),
            rate_centers: fold_all(&self.rate_centers),
        })
    }
}

fn fold_names(carrier: &Carrier) -> [Option<Folded>; 2] {
    [&carrier.company_name, &carrier.common_name].map(|name| name.as_deref().map(Folded::from))
}

fn has_name(names: &[Option<Folded>; 2], is_match: impl Fn(&Folded) -> bool) -> bool {
    names.iter().flatten().any(is_match)
}

fn is_beginning_of(ocn: Ocn, word: &str) -> bool {
    ocn.to_string().to_lowercase().starts_with(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dataset::tests::carrier;

    fn dataset(company_name: &str, common_name: Option<&str>) -> Dataset {
        Dataset::new(vec![carrier("073H", company_name, common_name)], Vec::new(), Vec::new())
    }

    fn is_found(query: &str, dataset: &Dataset) -> bool {
        let words = query.parse().unwrap();
        dataset.carriers_matching(Some(&words)).count() == 1
    }

    #[test]
    fn a_name_is_found_however_accents_and_punctuation_are_written() {
        for (name, queries) in [
            (
                "T-MOBILE USA",
                &["tmobile", "t-mobile", "t mobile", "T‑Mobile", "tmob", "mobile"][..],
            ),
            ("TMobile USA", &["tmobile", "t-mobile", "t.mobile"]),
            ("AT&T CORP.", &["at&t", "att", "at t", "AT & T", "a.t.&t."]),
            ("O'BRIEN COUNTY", &["obrien", "o'brien", "o’brien", "O Brien"]),
            ("St. John's", &["st johns", "St. John's", "st john's", "st john s"]),
            ("ST JOHNS", &["st johns", "St. John's"]),
            ("Montréal", &["montreal", "MONTRÉAL", "Montre\u{301}al"]),
            ("Montreal", &["montréal"]),
            ("Sacre-Coeur", &["sacré cœur", "sacrecoeur", "cœur"]),
            ("TEL-ATHENS-NY", &["athensny", "athens-ny", "tel-athens"]),
        ] {
            let dataset = dataset(name, None);
            for query in queries {
                assert!(is_found(query, &dataset), "{name}: {query}");
            }
        }
        for (name, query) in [("T MOBILE", "tmobile"), ("AT&T", "tt"), ("T-MOBILE", "tmobileusa")] {
            assert!(!is_found(query, &dataset(name, None)), "{name}: {query}");
        }
    }

    #[test]
    fn carriers_match_by_both_names_and_the_beginning_of_their_ocn() {
        let dataset = dataset("NEW CINGULAR", Some("AT&T Mobility"));
        for query in ["cingular", "att mob", "new mobility", "073h", "073", "AT&T 073H"] {
            assert!(is_found(query, &dataset), "{query}");
        }
        for query in ["ingular", "73H", "073H7", "cingular verizon"] {
            assert!(!is_found(query, &dataset), "{query}");
        }
        assert_eq!(dataset.carriers_matching(None).count(), 1);
    }

    #[test]
    fn a_dataset_is_the_same_before_and_after_a_search() {
        let (searched, fresh) = (dataset("BELL", None), dataset("BELL", None));
        assert!(is_found("bell", &searched));
        assert_eq!(searched, fresh);
        assert_eq!(searched.pack().unwrap(), fresh.pack().unwrap());
    }

    /// The words of a text that spaces separate, each as the parts that punctuation joins.
    fn plain_words(text: &str) -> Vec<Vec<String>> {
        let plain = text.to_lowercase().replace('é', "e").replace('œ', "oe");
        let parts_of = |word: &str| {
            let parts = word.split(|c: char| !c.is_ascii_alphanumeric());
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        plain.split_whitespace().map(parts_of).filter(|parts| !parts.is_empty()).collect()
    }

    /// The rule of docs/API-DESIGN.md, word for word.
    fn is_found_by_plain_reading(query: &str, names: &[&str]) -> bool {
        let words: Vec<String> = names
            .iter()
            .flat_map(|name| plain_words(name))
            .flat_map(|parts| (0..parts.len()).map(move |first| parts[first..].concat()))
            .collect();
        let begins_a_word = |letters: &str| words.iter().any(|word| word.starts_with(letters));
        plain_words(query).iter().all(|parts| {
            begins_a_word(&parts.concat()) || parts.iter().all(|part| begins_a_word(part))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn words_are_found_by_the_rule(
            query in "[aBéœ]([abéŒ&'. -]{0,5})",
            company_name in "[abéœÉ&'. -]{0,9}",
            common_name in proptest::option::of("[abe&. -]{0,5}"),
        ) {
            let dataset = dataset(&company_name, common_name.as_deref());
            let names: Vec<&str> =
                [Some(&*company_name), common_name.as_deref()].into_iter().flatten().collect();
            prop_assert_eq!(
                is_found(&query, &dataset),
                is_found_by_plain_reading(&query, &names)
            );
        }
    }
}
