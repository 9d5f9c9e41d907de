//! Finds the number in text that Google's rules cannot read: "punctuation and spacing are ignored"
//! (spec 4.4, rule 1), whatever they are, and so are words and further numbers.

/// The fewest digits of a part of a text that is a number by itself. Fewer are rather a part of a
/// number.
const FEWEST_DIGITS_OF_PART: usize = 7;

/// The characters that are no separators, since they may announce an extension. Each set is tried
/// in turn: a comma or semicolon separates groups of digits more often than it announces an
/// extension, and a hash sign less often.
const EXTENSION_SIGNS: [&[char]; 3] = [&['#', '＃'], &['#', '＃', ',', ';'], &[]];

/// Divides a text; one part if there is nothing to divide at.
type Division = fn(&str) -> Vec<&str>;

/// What may stand between two numbers, and not often in one. A part is divided by the first of
/// these, its parts by the next, and so on.
const DIVISIONS: [Division; 8] = [
    before_plus_signs,
    |text| text.split(is_line_break).collect(),
    |text| text.split([';', '|', '；', '｜']).collect(),
    |text| text.split(['/', '\\', '&', '／', '＆']).collect(),
    |text| text.split([',', '，', '、', '،']).collect(),
    |text| text.split(char::is_alphabetic).collect(),
    |text| text.split("  ").flat_map(|part| part.split('\t')).collect(),
    at_middle_blank,
];

/// What the rules may be able to read instead of `text`, likeliest first: the whole text without
/// its separators, and then each part that may be a number.
pub(super) fn candidates(text: &str) -> Vec<String> {
    if let Some((number, context)) = text.split_once(";phone-context=") {
        let number = number.split_once("tel:").map_or(number, |(_, number)| number);
        return vec![format!("tel:{};phone-context={context}", with_blanks(number, &[]))];
    }
    if is_in_scientific_notation(text) {
        return Vec::new();
    }
    candidates_of_part(&without_uri_parameters(text), &DIVISIONS)
}

fn candidates_of_part(part: &str, divisions: &[Division]) -> Vec<String> {
    let whole = [before_word(part), Some(part)].into_iter().flatten();
    let mut candidates: Vec<String> = whole
        .flat_map(|whole| EXTENSION_SIGNS.map(|signs| with_blanks(whole, signs)))
        .chain(candidates_of_divided(part, divisions))
        .collect();
    candidates.dedup();
    candidates
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

/// The text with a blank for each separator, and without invisible characters.
fn with_blanks(text: &str, extension_signs: &[char]) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    let is_kept = |c: char| c.is_alphanumeric() || is_plus(c) || extension_signs.contains(&c);
    visible.map(|c| if is_kept(c) { c } else { ' ' }).collect()
}

/// The text without the parameters of a `tel:` URI, except for the extension.
fn without_uri_parameters(text: &str) -> String {
    let (number, parameters) = text.split_once(';').unwrap_or((text, ""));
    let parameters = parameters.split(';').filter(|parameter| !parameter.is_empty());
    let kept = parameters.map(|parameter| match parameter.split_once('=') {
        Some(("ext", extension)) => format!(" ext {extension}"),
        Some(_) => String::new(),
        None => format!(";{parameter}"),
    });
    std::iter::once(number.to_owned()).chain(kept).collect()
}

/// What stands before a word that follows a number. By itself it is likelier than with the letters
/// of the word as digits of the keypad, by which `+49 30 123456, home` is a number, too.
fn before_word(part: &str) -> Option<&str> {
    let letters = part.match_indices(char::is_alphabetic);
    let words = letters.map(|(start, _)| part.split_at(start)).filter(|(before, word)| {
        !before.ends_with(char::is_alphabetic) && !begins_with_extension_label(word)
    });
    words.map(|(before, _)| before).find(|before| digits(before) >= FEWEST_DIGITS_OF_PART)
}

/// Whether Google's rules read an extension after the first word of the text.
fn begins_with_extension_label(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
    let labels = ["x", "xt", "xtn", "ext", "extn", "extension", "extensión", "int", "anexo", "доб"];
    labels.contains(&word.as_str())
}

/// Whether a spreadsheet has written the number like `5.55E+09`, which has lost its last digits.
fn is_in_scientific_notation(text: &str) -> bool {
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

/// Divides at the blank nearest the middle if there are as many digits before it as after it, since
/// two numbers that nothing else divides are mostly of one country.
fn at_middle_blank(text: &str) -> Vec<&str> {
    let text = text.trim();
    let distance = |&(position, _): &(usize, &str)| (2 * position).abs_diff(text.len());
    let blank = text.match_indices(char::is_whitespace).min_by_key(distance);
    let halves =
        blank.map(|(position, blank)| (&text[..position], &text[position + blank.len()..]));
    match halves {
        Some((first, second)) if digits(first) == digits(second) => vec![first, second],
        _ => vec![text],
    }
}

pub(super) fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋')
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
