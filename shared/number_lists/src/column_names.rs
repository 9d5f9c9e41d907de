//! Recognizes phone number columns by name, and header rows.

/// The likelihood, by its name, that a column has phone numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    None,
    /// A column that may have them, such as `From` or `Fax`. It counts only if no column has a clear name.
    Likely,
    Clear,
}

/// Names of phone number columns as lowercase letters and digits. A name in these lists may also end with the word
/// "number". `contactnumber` must end with it.
const CLEAR_NAMES: &str = "tn tel tels telf telef teléf tfno tlf fono fone cell handy gsm portable e164 \
                           contactnumber kontaktnumber";
/// Words in such names, as in `Home tel` and `GSM-nummer`.
const CLEAR_WORDS: &str = "tel telf telef teléf tlf cell handy gsm";
/// Parts of such names, as in `Customer phone` and `Telefonnummer`.
const CLEAR_SUBSTRINGS: &str = "phone telefo teléfo telèfo mobil mobiel msisdn cellular celular movil móvil telemovel \
                           telemóvel puhelin telepon komórk rufnummer điệnthoại телефон τηλέφων 电话 電話 手机 手機 \
                           携帯 전화 휴대폰 هاتف جوال טלפון फोन โทร";

/// Names for a party or line in call logs, and names such as `number` that do not say what they number.
const LIKELY_NAMES: &str = "number nummer numero número numéro from to src dst caller callee callerid clid cli ani dnis did \
     cnum fax landline festnetz fijo fixe anumber bnumber callednumber calledpartynumber \
     callingnumber callingpartynumber cidnumber destinationnumber dialednumber diallednumber \
     sourcenumber";
const LIKELY_WORDS: &str = "fax telefax faks";
const LIKELY_SUBSTRINGS: &str = "callerid whatsapp";

/// Parts that rule a name out, since they describe a number or mean something else: `Phone type`, `Immobilien`.
const EXCLUDED_SUBSTRINGS: &str = "type tipo phonetic automobil immobil mobilit";
/// Endings that rule a name out, as in `Phone carrier`.
const EXCLUDED_ENDINGS: &str =
    "carrier code consent country ext extension label notes provider status valid verified";
/// Last words that rule a name out, as in `Phone ID`.
const EXCLUDED_LAST_WORDS: &str = "brand calls city comment comments count date format id language model name names plan reason \
     region score state time timezone zone";

/// Endings that mean "number".
const NUMBER_ENDINGS: [&str; 6] = ["number", "numbers", "nummer", "numero", "número", "numéro"];
/// Last words that mean "number", like `#`.
const NUMBER_WORDS: [&str; 4] = ["no", "num", "nbr", "nr"];

impl NameMatch {
    /// Matches a name in any style, with or without a trailing digit, such as `Phone 1` or `callerID`.
    pub fn new(name: &str) -> Self {
        let mut words = words(name);
        let whole = words.concat();
        if let Some(last) = words.last_mut() {
            *last = without_digits(last).to_owned();
        }
        words.retain(|word| !word.is_empty());
        let bare = without_digits(&whole);
        let stem = without_number_word(&words, bare);
        let numbered = stem.as_ref().map(|stem| format!("{stem}number"));
        let variants = [Some(&*whole), Some(bare), stem.as_deref(), numbered.as_deref()];
        let is_named = |names| variants.iter().flatten().any(|name| has_word(names, name));
        let has_part = |parts: &str| parts.split(' ').any(|part| whole.contains(part));
        let has_any_word = |list| words.iter().any(|word| has_word(list, word));
        let is_other = has_part(EXCLUDED_SUBSTRINGS)
            || EXCLUDED_ENDINGS.split(' ').any(|end| bare.ends_with(end))
            || words.last().is_some_and(|last| has_word(EXCLUDED_LAST_WORDS, last));
        if is_named(CLEAR_NAMES) {
            Self::Clear
        } else if is_named(LIKELY_NAMES) {
            Self::Likely
        } else if is_other {
            Self::None
        } else if has_part(CLEAR_SUBSTRINGS) || has_any_word(CLEAR_WORDS) {
            Self::Clear
        } else if has_part(LIKELY_SUBSTRINGS) || has_any_word(LIKELY_WORDS) {
            Self::Likely
        } else {
            Self::None
        }
    }
}

/// The words of a name in lowercase. A capital letter after a lowercase one also starts a word.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lowercase = false;
    for character in name.replace('#', " nr ").chars() {
        if !character.is_alphanumeric() || (was_lowercase && character.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
        was_lowercase = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Removes the word "number" from the end of a name; `None` if nothing else is left.
fn without_number_word(words: &[String], bare: &str) -> Option<String> {
    let (last, others) = words.split_last()?;
    let stem = if NUMBER_WORDS.contains(&&**last) {
        others.concat()
    } else {
        NUMBER_ENDINGS.iter().find_map(|end| bare.strip_suffix(end))?.to_owned()
    };
    Some(stem).filter(|stem| !stem.is_empty())
}

fn without_digits(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Returns `true` if `word` is in a list separated by spaces.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The minimum number of digits in a phone number. Most column names have fewer.
const MIN_DIGITS: usize = 7;
/// A cell with this many digits holds a number even if it also contains words. A date has at most eight.
const MIN_DIGITS_WITH_WORDS: usize = 10;

/// Letters that may precede an extension, in lowercase. A cell with few digits and other letters is a name.
const EXTENSION_LABELS: [&str; 4] = ["x", "ext", "extn", "extension"];

/// Returns `true` if a first row has a column whose name suggests phone numbers, or several cells without a number.
pub fn looks_like_header(cells: &[String]) -> bool {
    let is_name = |cell: &String| NameMatch::new(cell) > NameMatch::None && !holds_number(cell);
    cells.iter().any(is_name)
        || (cells.len() > 1 && !cells.iter().any(|cell| count_digits(cell) >= MIN_DIGITS))
}

/// Returns `true` if the cell holds a number rather than a column name. If it has few digits, the only letters
/// allowed are extension labels and the RFC 3966 scheme.
pub fn holds_number(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let letters: String = cell.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = if cell.starts_with("tel:") { &letters[3..] } else { &letters };
    let is_plain = letters.is_empty() || EXTENSION_LABELS.contains(&letters);
    count_digits(&cell) >= if is_plain { MIN_DIGITS } else { MIN_DIGITS_WITH_WORDS }
}

fn count_digits(cell: &str) -> usize {
    cell.chars().filter(|c| c.is_numeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognized_in_any_notation_and_language() {
        for group in include_str!("column_names.txt").split("\n\n").skip(1) {
            let (kind, names) = group.trim_end().split_once('\n').unwrap();
            for name in names.split([',', '\n']).map(str::trim) {
                assert_eq!(format!("{:?}", NameMatch::new(name)), kind, "{name}");
            }
        }
        assert_eq!(NameMatch::new(""), NameMatch::None);
    }

    #[test]
    fn header_row_names_phone_numbers_or_has_several_cells_without_numbers() {
        for (row, expected) in [
            ("phone", true),
            ("name", false),
            ("name,city", true),
            ("name,3052345678", false),
            ("phone,3052345678", true),
            ("From", true),
            ("tel:+1-305-234-5678", false),
            ("Cell: 305 234 5678", false),
            ("WhatsApp +44 20 7946 0958", false),
        ] {
            let cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            assert_eq!(looks_like_header(&cells), expected, "{row}");
        }
    }

    #[test]
    fn cells_with_numbers_are_distinguished_from_names_with_digits() {
        let numbers = "3052345678; (305) 234-5678 ext. 42; tel:+1-305-234-5678; ٣٠٥٢٣٤٥٦٧٨; \
                       Phone: 305-234-5678; 305 234 5678 home";
        assert!(numbers.split("; ").all(holds_number));
        assert!(!["Phone (as of 2024-01-05)", "phone 1", "x", ""].into_iter().any(holds_number));
    }
}
