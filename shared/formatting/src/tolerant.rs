//! Finds the number in text that Google's rules cannot read: "punctuation and spacing are ignored"
//! (spec 4.4, rule 1), whatever they are, and so are words and further numbers.

/// The fewest digits of a part of a text that is a number by itself. Fewer are rather a part of a
/// number.
const FEWEST_DIGITS_OF_PART: usize = 7;

/// The characters that are kept in each of three attempts, since they may announce an extension: a
/// hash sign does so more often than a comma or semicolon, which also separate groups of digits.
const EXTENSION_SIGNS: [&[char]; 3] = [&['#', '＃'], &['#', '＃', ',', ';'], &[]];

/// What separates the entries of a list, from the strongest separators to the weakest.
const LIST_SIGNS: [&[char]; 4] = [
    &[';', '|', '；', '｜'],
    &['/', '\\', '&', '／', '＆'],
    &[',', '，', '、', '،'],
    &['•', '·', ':', '_', '\t'],
];

/// Divides a text; one part if there is nothing to divide at.
type Division = fn(&str) -> Vec<&str>;

/// Divisions at what often stands between two numbers and seldom within one. A part is divided by
/// the first of these, its parts by the next, and so on.
const DIVISIONS: [Division; 9] = [
    before_plus_signs,
    |text| text.split(is_line_break).collect(),
    |text| text.split(LIST_SIGNS[0]).collect(),
    |text| text.split(LIST_SIGNS[1]).collect(),
    |text| text.split(LIST_SIGNS[2]).collect(),
    |text| text.split(LIST_SIGNS[3]).collect(),
    |text| text.split(is_letter).collect(),
    |text| text.split("  ").collect(),
    at_middle_space,
];

/// What the rules may be able to read instead of `text`, likeliest first: the whole text without
/// its separators, and each part that may be a number.
pub(super) fn candidates(text: &str) -> Vec<String> {
    if let Some((number, context)) = text.split_once(";phone-context=") {
        let number = number.split_once("tel:").map_or(number, |(_, number)| number);
        return vec![format!("tel:{};phone-context={context}", with_spaces(number, &[]))];
    }
    if is_in_scientific_notation(text) {
        return Vec::new();
    }
    candidates_of_part(&without_uri_parameters(text), &DIVISIONS)
}

fn candidates_of_part(part: &str, divisions: &[Division]) -> Vec<String> {
    let whole = [before_word(part), Some(part)].into_iter().flatten();
    let of_whole = whole.flat_map(|whole| EXTENSION_SIGNS.map(|signs| with_spaces(whole, signs)));
    let of_parts = candidates_of_divided(part, divisions);
    let mut candidates: Vec<String> = if is_list(part) {
        of_parts.into_iter().chain(of_whole).collect()
    } else {
        of_whole.chain(of_parts).collect()
    };
    candidates.dedup();
    candidates
}

/// Whether the text is rather a list of numbers than one: it has several lines or entries that may be
/// numbers, and each begins like the first, as numbers of one place do, or with a plus sign or a zero.
fn is_list(part: &str) -> bool {
    let is_list_sign = |c: char| LIST_SIGNS.iter().any(|signs| signs.contains(&c));
    let entries = part.split(|c| is_line_break(c) || is_list_sign(c));
    let numbers = entries.filter(|entry| digits(entry) >= FEWEST_DIGITS_OF_PART);
    let mut beginnings =
        numbers.filter_map(|number| number.chars().find(|&c| c.is_numeric() || is_plus(c)));
    let (Some(first), Some(second)) = (beginnings.next(), beginnings.next()) else { return false };
    let begins_number = |c: char| c == first || c == '0' || is_plus(c);
    begins_number(second) && beginnings.all(begins_number)
}

fn candidates_of_divided(part: &str, divisions: &[Division]) -> Vec<String> {
    let Some((divide, finer)) = divisions.split_first() else { return Vec::new() };
    let parts = divide(part);
    if parts.len() < 2 || parts.iter().any(|part| is_cut_country_code(part)) {
        return candidates_of_divided(part, finer);
    }
    let numbers = parts.into_iter().filter(|part| digits(part) >= FEWEST_DIGITS_OF_PART);
    numbers.flat_map(|part| candidates_of_part(part, finer)).collect()
}

/// The text with a space for each separator, and without invisible characters.
fn with_spaces(text: &str, extension_signs: &[char]) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    let is_kept =
        |c: char| is_letter(c) || c.is_numeric() || is_plus(c) || extension_signs.contains(&c);
    visible.map(|c| if is_kept(c) { c } else { ' ' }).collect()
}

/// The text without the parameters of a `tel:` URI, except for the extension.
fn without_uri_parameters(text: &str) -> String {
    let (number, parameters) = text.split_once(';').unwrap_or((text, ""));
    let parameters = parameters.split(';').filter(|parameter| !parameter.is_empty());
    let kept = parameters.map(|parameter| match parameter.split_once('=') {
        Some(("ext", extension)) => format!(" ext {extension}"),
        Some((name, _)) if name.starts_with(is_letter) => String::new(),
        _ => format!(";{parameter}"),
    });
    std::iter::once(number.to_owned()).chain(kept).collect()
}

/// What stands before a word that follows a number. By itself it is likelier than with the letters
/// of the word as digits of the keypad, by which `+49 30 123456, home` is a number, too.
fn before_word(part: &str) -> Option<&str> {
    let letters = part.match_indices(is_letter);
    let words = letters.map(|(start, _)| part.split_at(start)).filter(|(before, word)| {
        !before.ends_with(is_letter) && !begins_with_extension_label(word)
    });
    words.map(|(before, _)| before).find(|before| digits(before) >= FEWEST_DIGITS_OF_PART)
}

/// Whether Google's rules read an extension after the first word of the text.
fn begins_with_extension_label(text: &str) -> bool {
    let word = text.split(|c| !is_letter(c)).next().unwrap_or_default().to_lowercase();
    let labels = ["x", "xt", "xtn", "ext", "extn", "extension", "extensión", "int", "anexo", "доб"];
    labels.contains(&word.as_str())
}

/// Whether a spreadsheet has written the number like `5.55E+09`, which has lost its last digits.
pub(super) fn is_in_scientific_notation(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    text.to_ascii_uppercase()
        .split("E+")
        .collect::<Vec<_>>()
        .windows(2)
        .any(|parts| parts[0].ends_with(is_digit) && parts[1].starts_with(is_digit))
}

fn digits(part: &str) -> usize {
    part.chars().filter(|c| c.is_numeric()).count()
}

/// Whether the part is the beginning of an international number, without which the rest would be
/// read in the default country.
fn is_cut_country_code(part: &str) -> bool {
    part.contains(is_plus) && (1..FEWEST_DIGITS_OF_PART).contains(&digits(part))
}

/// Divides before each plus sign that follows a digit, since a plus sign begins a number.
fn before_plus_signs(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut has_digit) = (0, false);
    for (position, c) in text.char_indices() {
        if is_plus(c) && has_digit {
            parts.push(&text[start..position]);
            (start, has_digit) = (position, false);
        }
        has_digit |= c.is_numeric();
    }
    parts.push(&text[start..]);
    parts
}

/// Divides at the space nearest the middle if there are as many digits before it as after it, since
/// two numbers that nothing else divides are mostly of one country.
fn at_middle_space(text: &str) -> Vec<&str> {
    let text = text.trim();
    let distance = |&(position, _): &(usize, &str)| (2 * position).abs_diff(text.len());
    let space = text.match_indices(char::is_whitespace).min_by_key(distance);
    let halves =
        space.map(|(position, space)| (&text[..position], &text[position + space.len()..]));
    match halves {
        Some((first, second)) if digits(first) == digits(second) => vec![first, second],
        _ => vec![text],
    }
}

pub(super) fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋')
}

/// Whether the character is a letter to its reader. Unicode also counts two Japanese dashes and some
/// invisible characters as letters.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_invisible(c) && !matches!(c, '\u{30fc}' | '\u{ff70}')
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the character is drawn as nothing: `Default_Ignorable_Code_Point` of Unicode 17, and
/// interlinear annotations. Some of these are letters.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::super::{DefaultCountry, PhoneNumber, number::read_with_prefixes};
    use super::*;

    /// Separators that Google's rules refuse between the digits of a number.
    const REFUSED_SEPARATORS: [&str; 47] = [
        "\t", "\r\n", "\n", "\r", "\u{202f}", "\u{2009}", "\u{2002}", "\u{2003}", "\u{2004}",
        "\u{2005}", "\u{2006}", "\u{2007}", "\u{2008}", "\u{200a}", "\u{205f}", "\u{1680}",
        "\u{2028}", "\u{2029}", "_", ",", ":", ";", "·", "•", "|", "'", "’", "\"", "=", "\\", "&",
        "\u{2043}", "\u{fe58}", "\u{fe63}", "\u{5be}", "\u{301c}", "\u{200c}", "\u{200d}",
        "\u{200e}", "\u{200f}", "\u{feff}", "\u{2066}", "\u{2068}", "\u{2069}", "\u{202a}",
        "\u{202c}", "\u{3164}",
    ];

    /// Every character of the categories Pd (dashes) and Zs, Zl and Zp (spaces).
    const DASHES_AND_SPACES: &str = "-\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\
        \u{2015}\u{2e17}\u{2e1a}\u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\
        \u{fe32}\u{fe58}\u{fe63}\u{ff0d}\u{10d6e}\u{10ead}\u{20}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\
        \u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{202f}\u{205f}\u{3000}\
        \u{2028}\u{2029}";

    fn parsed(text: &str) -> Option<PhoneNumber> {
        PhoneNumber::parse(text, DefaultCountry::default())
    }

    fn e164(text: &str) -> String {
        parsed(text).map_or_else(String::new, |number| number.formats.e164)
    }

    fn e164_and_extension(text: &str) -> (String, String) {
        (e164(text), parsed(text).and_then(|number| number.extension).unwrap_or_default())
    }

    #[test]
    fn a_number_is_read_between_separators_that_googles_rules_refuse() {
        for separator in REFUSED_SEPARATORS {
            for groups in [&["+1", "305", "234", "5678"][..], &["305", "234", "5678"]] {
                let text = groups.join(separator);
                assert_eq!(e164(&text), "+13052345678", "{text:?}");
            }
        }
    }

    #[test]
    fn a_number_is_read_between_any_dashes_spaces_and_invisible_characters() {
        let invisible = ('\0'..=char::MAX).filter(|&c| is_invisible(c)).take(500);
        for c in DASHES_AND_SPACES.chars().chain(invisible) {
            let text = format!("+1{c}305{c}{c}234{c}56{c}78{c}");
            assert_eq!(e164(&text), "+13052345678", "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn extensions_and_vanity_letters_and_names_are_read_between_refused_separators() {
        let with_extension = ("+13052345678".to_owned(), "5".to_owned());
        for text in [
            "305_234_5678 ext. 5",
            "305_234_5678x5",
            "305_234_5678 #5",
            "305_234_5678,,5",
            "305_234_5678;5",
            "tel:+1_305_234_5678;ext=5",
            "305·234·5678 Extension: 5, Jane",
        ] {
            assert_eq!(e164_and_extension(text), with_extension, "{text}");
        }
        for (text, expected) in [
            ("1_800_FLOWERS", "+18003569377"),
            ("1_800_233_FORD", "+18002333673"),
            ("tel:20_7946_0958;phone-context=+44", "+442079460958"),
            ("Jane Doe: 305_234_5678", "+13052345678"),
            ("305_234_5678 home", "+13052345678"),
            ("+49 30_123456, home", "+4930123456"),
            ("011_44_20_7946_0958", "+442079460958"),
            ("sip:+13052345678@example.com", "+13052345678"),
        ] {
            assert_eq!(e164(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_of_two_numbers_in_a_text_is_read() {
        for text in [
            "305-234-5678 / 212-234-5678",
            "305-234-5678 or 212-234-5678",
            "305-234-5678; 212-234-5678",
            "305-234-5678\n212-234-5678",
            "305, 234, 5678 | 212, 234, 5678",
            "(305) 234-5678 (212) 234-5678",
            "3052345678 2122345678",
            "3052345678\t2122345678",
            "305 234 5678  212 234 5678",
            "305-234-5678 +442079460958",
            "home: 305-234-5678 cell: 212-234-5678 work: 646-234-5678",
        ] {
            assert_eq!(e164(text), "+13052345678", "{text:?}");
        }
        assert_eq!(e164("+44 20 7946 0958 / 305-234-5678"), "+442079460958");
        assert_eq!(e164("n/a; 305-234-5678"), "+13052345678");
    }

    /// In countries whose numbers have many lengths, two of them on two lines could be one.
    #[test]
    fn a_list_of_numbers_is_not_joined_to_one() {
        for (text, country, expected) in [
            ("01 58801; 01 58802", "AT", "+43158801"),
            ("0761 2030\n0761 2010", "DE", "+497612030"),
            ("+49 761 2030 | +49 761 2010", "US", "+497612030"),
            ("+49 761 2030\n0761 2010", "DE", "+497612030"),
            ("01 58801, 01 58802", "AT", "+43158801"),
            ("0761 2030\t0761 2010", "DE", "+497612030"),
            ("0761 2030 & 0761 2010", "DE", "+497612030"),
            ("01 58801 • 01 58802", "AT", "+43158801"),
        ] {
            let number = PhoneNumber::parse(text, country.parse().unwrap());
            assert_eq!(number.unwrap().formats.e164, expected, "{text:?}");
        }
        // Each line alone would be too short.
        assert_eq!(e164("305-234\n5678"), "+13052345678");
        assert_eq!(e164("+44|20|7946 0958"), "+442079460958");
    }

    #[test]
    fn no_part_of_a_number_is_taken_for_another_number() {
        for text in ["hello", "", "_", "5.55E+09", "3.05234567E+09", "+", "C++", "#:b"] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
        for text in ["+44, 6123456789", "3052345678 234567812345", "+999_3052345678"] {
            assert!(!parsed(text).is_some_and(|number| number.valid), "{text:?}");
        }
    }

    /// Each number of the list in E.164 and as it is written in its country.
    fn numbers() -> Vec<(String, PhoneNumber)> {
        let list = include_str!("../tests/agreement/one_of_each_region.txt").lines();
        let valid = list.filter_map(parsed).filter(|number| number.valid);
        valid
            .flat_map(|number| {
                [&number.formats.e164, &number.formats.national]
                    .map(|text| (text.clone(), number.clone()))
            })
            .collect()
    }

    fn separators() -> impl Strategy<Value = String> {
        let any = any::<char>().prop_filter("no separator", |&c| {
            is_invisible(c) || !(is_letter(c) || c.is_numeric() || is_plus(c) || "#＃".contains(c))
        });
        let known = select(&REFUSED_SEPARATORS[..]).prop_map(str::to_owned);
        let dash = select(DASHES_AND_SPACES.chars().collect::<Vec<_>>()).prop_map(String::from);
        prop_oneof![Just(String::new()), known, dash, any.prop_map(String::from)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn separators_between_digits_never_change_a_number(
            (text, number) in select(numbers()),
            separators in prop::collection::vec(separators(), 24),
        ) {
            let country = number.country.as_deref().unwrap_or("US").parse::<DefaultCountry>().unwrap();
            let separated: String = text
                .chars()
                .zip(separators.iter().cycle())
                .flat_map(|(c, separator)| [c.to_string(), separator.clone()])
                .collect();
            let plain = PhoneNumber::parse(&text, country).map(|number| number.formats.e164);
            prop_assume!(plain.as_ref() == Some(&number.formats.e164));
            // What Google's rules can read, they may read as a number with an extension.
            if read_with_prefixes(&separated, country.region()).is_none() {
                let read = PhoneNumber::parse(&separated, country);
                prop_assert_eq!(read.map(|number| number.formats.e164), plain, "{:?}", separated);
            }
        }

        #[test]
        fn any_text_has_few_candidates(text in any::<String>(), digits in "[0-9+;/, e\t_=-]{0,250}") {
            for text in [text, digits] {
                // Six for each part, which has at least seven digits.
                prop_assert!(candidates(&text).len() <= 6 * (DIVISIONS.len() + 1) * (text.len() / 7 + 1));
            }
        }
    }
}
