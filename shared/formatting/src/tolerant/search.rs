//! Generates texts to find one that breaks a promise of the tolerant reader.

use proptest::{prelude::*, sample::select};
use rlibphonenumber::Region;

use crate::{DefaultCountry, PhoneNumber, reading::Reading};

/// Countries with short and long numbers, of a single length or many.
const COUNTRIES: [&str; 14] =
    ["US", "US", "US", "GB", "DE", "AT", "FR", "DK", "NO", "IT", "IN", "AU", "BR", "AC"];

fn is_valid_by_google(text: &str, country: DefaultCountry) -> bool {
    Reading::parse(text, country.region()).is_some_and(|reading| reading.is_valid())
}

/// Dates and times in many notations.
fn dates_and_times() -> impl Strategy<Value = String> {
    const NOTATIONS: &str = "\
        %Y-%M-%D %h:%m:%s|%Y-%M-%DT%h:%m:%sZ|%Y-%M-%DT%h:%m:%s+01:00|%Y-%M-%D|\
        %Y%M%DT%h%m%sZ|%h:%m|%h:%m:%s|%h:%m:%s.123456|%h:%m-%s:%m|%M/%D/%Y %h:%m:%s AM|\
        %M/%D/%Y, %h:%m PM|Nov %D, %Y, %h:%m AM|November %D, %Y|%D/%M/%Y, %h:%m:%s|\
        %D.%M.%Y, %h:%m:%s|%D.%M.%Y - %D.%M.%Y|%D. November %Y %h:%m Uhr|%D.%M.%Y um %h.%m Uhr|\
        Freitag, %D.%M.%Y|%D/%M/%Y (lun)|%D novembre %Y à %hh%m|%D/%M/%Y à %h %h %m|\
        %D de noviembre de %Y|%D de nov. de %Y, %h:%m|%D novembre %Y alle ore %h.%m|\
        %D november %Y kl. %h:%m|%D.%M.%Y klo %h.%m.%s|%Y/%M/%D %h:%m:%s|%Y年%M月%D日 %h時%m分%s秒|\
        %Y. %M. %D. 오전 %h:%m:%s|%Y년 %M월 %D일|%Y/%M/%D 上午%h:%m:%s|%D ноября %Y г., %h:%m|\
        %D‏/%M‏/%Y، %h:%m:%s ص|Fri, %D Nov %Y %h:%m:%s +0000|Fri Nov %D %h:%m:%s %Y|\
        %D-Nov-%Y %h%m%s|%D. %M. %Y|%Y-%M-%D (Fri)|due %D/%M/%Y %h:%m|\
        [%D/Nov/%Y:%h:%m:%s +0100]|%Y-%M-%D, %Y-%M-%D|%h:%m Uhr|%D.%M.%Y %h.%m";
    let parts = (1900..2100u32, 1..=12u32, 1..=31u32, 0..24u32, 0..60u32, 0..60u32);
    let notation = select(NOTATIONS.split('|').collect::<Vec<_>>());
    (notation, parts, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        |(notation, (year, month, day, hour, minute, second), is_padded, is_arabic)| {
            let width = if is_padded { 2 } else { 1 };
            let text = notation
                .replace("%Y", &year.to_string())
                .replace("%M", &format!("{month:0width$}"))
                .replace("%D", &format!("{day:0width$}"))
                .replace("%h", &format!("{hour:0width$}"))
                .replace("%m", &format!("{minute:02}"))
                .replace("%s", &format!("{second:02}"));
            if is_arabic { in_arabic_digits(&text) } else { text }
        },
    )
}

fn in_arabic_digits(text: &str) -> String {
    let arabic = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(0x660 + digit));
    text.chars().map(|c| arabic(c).unwrap_or(c)).collect()
}

/// Texts that match these regular expressions.
fn notations(patterns: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(patterns).prop_flat_map(|pattern| pattern.prop_map(|text: String| text))
}

const MONEY: [&str; 22] = [
    r"[$€£¥₹] ?[1-9][0-9]{0,2}(,[0-9]{3}){1,3}(\.[0-9]{2})?",
    r"-?[$€£][1-9][0-9]{0,9}\.[0-9]{2}",
    r"[$][0-9]{10} (cash|total|paid)",
    r"[1-9][0-9]{0,2}(\.[0-9]{3}){1,3},[0-9]{2}( €| kr| zł|€)?",
    r"[1-9][0-9]{0,2}( [0-9]{3}){1,3},[0-9]{2} (€|kr|Kč|zł|₽|руб\.)",
    r"CHF [1-9][0-9]{0,2}('[0-9]{3}){1,3}\.[0-9]{2}",
    r"[1-9][0-9]{0,2}(’[0-9]{3}){1,3}",
    r"₹ ?[1-9][0-9](,[0-9]{2}){1,3},[0-9]{3}(\.[0-9]{2})?",
    r"[1-9][0-9]?(,[0-9]{2}){1,3},[0-9]{3}",
    r"R\$ [1-9][0-9]{0,2}(\.[0-9]{3}){1,3},[0-9]{2}",
    r"[1-9][0-9]{0,2}(,[0-9]{3}){1,3}円",
    r"(USD|EUR|GBP|JPY) [1-9][0-9]{5,9}\.[0-9]{2}",
    r"[1-9][0-9]{5,9}(\.[0-9]{2})? (USD|EUR|GBP|SEK|INR)",
    r"[2-9][0-9]{9} (dollars|euros|kr)",
    r"[1-9][0-9]{0,2}(,[0-9]{3}){2,3}",
    r"\([1-9][0-9]{0,2}(,[0-9]{3}){2,3}\.[0-9]{2}\)",
    r"[1-9][0-9]{5,9},[0-9]{1,2}",
    r"[1-9][0-9]{5,9},[0-9]{2} (EUR|€|brutto|total)",
    r"[1-9][0-9]{5,8}\.[0-9]{1,2} (total|net)",
    r"[1-9][0-9]{0,2}(,[0-9]{3}){2,3} (total|items|users)",
    r"[1-9][0-9]{6,9}¢",
    r"\$[1-9][0-9]{2},[0-9]{3} - \$[1-9][0-9]{2},[0-9]{3}",
];

const ADDRESSES: [&str; 12] = [
    r"([1-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9])(\.([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9])){3}:[1-9][0-9]{1,4}",
    r"([1-9]|[1-9][0-9]|1[0-9]{2})(\.([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9])){3}/(8|16|24|32)",
    r"([1-9]|1[0-9]{2})(\.([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9])){3} (host|gateway)",
    r"https?://([1-9]|1[0-9]{2})(\.([1-9]?[0-9]|1[0-9]{2})){3}:[1-9][0-9]{3}/index",
    r"2001:db8(:[0-9a-f]{1,4}){6}",
    r"\[2001:db8::[0-9a-f]{1,4}\]:[1-9][0-9]{3}",
    r"[0-9a-f]{2}(:[0-9a-f]{2}){5}",
    r"[0-9]{2}(:[0-9]{2}){5}",
    r"[0-9A-F]{2}(-[0-9A-F]{2}){5}",
    r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"\{?[0-9A-F]{8}(-[0-9]{4}){3}-[0-9A-F]{12}\}?",
];

const CODES: [&str; 26] = [
    r"[0-9a-f]{32}",
    r"[0-9a-f]{40}",
    r"[0-9a-f]{64}",
    r"[0-9a-f]{7,12}",
    r"0x[0-9a-f]{8,16}",
    r"[A-Za-z0-9+/]{22,43}={0,2}",
    r"sha256:[0-9a-f]{64}",
    r"[a-f]{2,6}[0-9]{10}",
    r"[0-9]{10}[a-f]{2,6}",
    r"v?[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,5}(-(alpha|beta|rc)\.?[0-9]{0,2})?",
    r"[1-9][0-9]?\.[0-9]\.[0-9]{4,5}\.[0-9]{1,4}(-beta|-rc1)?",
    r"[1-9]\.[0-9]{3}\.[0-9]{3}\.[0-9]{4}-(beta|snapshot|dev)",
    r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}\+build\.[0-9]{3,6}",
    r"-?[1-8]?[0-9]\.[0-9]{4,7}, ?-?1?[0-7]?[0-9]\.[0-9]{4,7}",
    r"[1-8]?[0-9]\.[0-9]{4,6}° ?[NS],? 1?[0-7]?[0-9]\.[0-9]{4,6}° ?[EW]",
    "[1-8]?[0-9]°[0-5][0-9]'[0-5][0-9]\"[NS] [1-8]?[0-9]°[0-5][0-9]'[0-5][0-9]\"[EW]",
    r"geo:-?[1-8][0-9]\.[0-9]{4,6},-?[1-9][0-9]\.[0-9]{4,6}",
    r"lat -?[1-8][0-9]\.[0-9]{4,6} lon -?[1-9][0-9]\.[0-9]{4,6}",
    r"(DE|AT|GB|FR|ES|IT|NO|NL|CH)[0-9]{2}( [0-9]{4}){3,5}( [0-9]{1,3})?",
    r"(GB|NL|FR)[0-9]{2} ?[A-Z]{4}( ?[0-9]{4}){2,4}( [0-9]{2})?",
    r"(DE|AT|ES|NO)[0-9]{13,22}",
    r"[3-6][0-9]{3}([ -][0-9]{4}){3}( visa| exp 12/27)?",
    r"3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}( amex)?",
    r"[3-6][0-9]{15}(, 12/27, 123)?",
    r"ISBN 97[89]-[0-9]-[0-9]{2}-[0-9]{6}-[0-9]",
    r"[1-9][0-9]{2,3}x[1-9][0-9]{2,3}(x[0-9]{2})?",
];

fn other_things() -> impl Strategy<Value = String> {
    prop_oneof![dates_and_times(), notations(&MONEY), notations(&ADDRESSES), notations(&CODES)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn lookalikes_are_not_valid_numbers_unless_google_says_so(
        text in other_things(),
        country in select(&COUNTRIES[..]),
    ) {
        let country: DefaultCountry = country.parse().unwrap();
        if let Some(number) = PhoneNumber::parse(&text, country).filter(|number| number.valid) {
            prop_assert!(is_valid_by_google(&text, country), "{text:?} is {}", number.formats.e164);
        }
    }

    #[test]
    fn digits_in_a_note_do_not_complete_a_number(
        number in "[2-9][0-9]{2}[-. ][2-9][0-9]{2}[-. ][0-9]{2,3}",
        note in "( ?[;|:(\n]|, ) ?[0-9]{1,2}(st|nd|h| rooms| Main St| am)[)]?",
    ) {
        let (text, country) = (format!("{number}{note}"), DefaultCountry::default());
        let number = PhoneNumber::parse(&text, country).filter(|number| number.valid);
        prop_assert!(number.is_none() || is_valid_by_google(&text, country), "{:?}", text);
    }

    #[test]
    fn every_digit_in_a_text_is_in_the_result(
        text in "[(]?[2-9][0-9]{2}[)]?[-. _,:;|/]{1,2}[2-9][0-9]{2}[-. _]?[0-9]{4}([ ,;/|_(]{1,2}[a-z]{0,6}[ .:]{0,2}([2-9][0-9]{0,9})?[)]?){0,2}",
    ) {
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse(&text, country).filter(|number| number.valid);
        if let Some(number) = number.filter(|_| !is_valid_by_google(&text, country)) {
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let digits_of_text = digits(&text);
            // A third number is not reported.
            prop_assume!(digits_of_text.len() < 28);
            let extension = number.extension.unwrap_or_default();
            let other = number.other.as_deref().map_or("", |other| &other["+1".len()..]);
            let other = digits(other);
            let answered = number.national_number.len() + extension.len() + other.len();
            // The second number may include its country code.
            let code = usize::from(!other.is_empty() && digits_of_text.contains(&format!("1{other}")));
            prop_assert!([answered, answered + code].contains(&digits_of_text.len()), "{text:?}");
        }
    }
}

/// Words that people write next to numbers.
const NOTES: &str = "\
    cell|Cell|CELL|home|Home|work|mobile|Mobile|fax|Fax|office|main|direct|desk|front desk|\
    reception|switchboard|emergency|after hours|day|evening|nights|weekends only|no texts|\
    text only|text first|do not call|call first|ask for Bob|Bob|Jane Doe|O'Brien|Dr. Lee|\
    Mom|Dad|wife|husband|assistant|billing|sales|support|accounts payable|warehouse|store|\
    shop|school|voicemail|pager|landline|WhatsApp|Signal|Telegram|iPhone|old|new|old number|\
    new number|wrong number|disconnected|verified|unverified|preferred|primary|secondary|\
    alternate|backup|temp|unlisted|private|personal|business|toll free|local|long distance|\
    int|international|US|NY|Miami|HQ|PST|urgent|VIP|bitte|privat|dienstlich|Büro|mobil|\
    Handy|maison|bureau|portable|casa|oficina|móvil|trabajo|celular|携帯|会社|дом|раб|مكتب";

/// Numbers from ten countries as people write them.
const WRITTEN_NUMBERS: [(&str, &str, &str); 10] = [
    ("US", "212-736-4412", "+12127364412"),
    ("CA", "(416) 226-1234", "+14162261234"),
    ("GB", "020 7946 0958", "+442079460958"),
    ("FR", "01 42 68 53 00", "+33142685300"),
    ("ES", "912 345 678", "+34912345678"),
    ("AU", "(02) 9374 4000", "+61293744000"),
    ("IN", "098765 43210", "+919876543210"),
    ("JP", "03-1234-5678", "+81312345678"),
    ("MX", "55 1234 5678", "+525512345678"),
    ("PL", "22 123 45 67", "+48221234567"),
];

#[test]
fn notes_around_numbers_from_ten_countries_are_ignored() {
    for (country, number, e164) in WRITTEN_NUMBERS {
        for note in NOTES.split('|') {
            for text in [
                format!("{number} ({note})"),
                format!("{number} {note}"),
                format!("{number} - {note}"),
                format!("{number}, {note}"),
                format!("{number}[{note}]"),
                format!("{note}: {number}"),
                format!("{note} {number}"),
                format!("({note}) {number}"),
                format!("{note} {number} {note}"),
            ] {
                let read = PhoneNumber::parse(&text, country.parse().unwrap()).unwrap();
                assert_eq!((read.formats.e164.as_str(), read.other), (e164, None), "{text}");
                assert!(read.valid && read.extension.is_none(), "{text}");
            }
        }
    }
}

/// Countries and their international dialing prefixes.
const INTERNATIONAL_PREFIXES: &str = "\
    AU 0011 0014 0018|NG 009|CO 005 007 009|SG 001 002 008 018|KR 001 002 00700|\
    BR 0014 0015 0021 0031 0041|HK 001 0080|TH 001 007 009|TW 002 009|MY 00|KE 000 006|\
    TZ 000 008|UG 000 005|CL 1230|ID 001 007 008|KH 001 007|IL 012 013 014|RU 810|JP 010|\
    FI 00 990 999|CU 119|US 011|GB 00|MN 001 002";

fn dialed_abroad() -> impl Strategy<Value = (&'static str, String)> {
    let list = include_str!("../../tests/agreement/one_of_each_region.txt");
    let in_e164: Vec<&str> = list.lines().filter(|line| line.starts_with('+')).collect();
    let prefixes = INTERNATIONAL_PREFIXES.split('|').flat_map(|country| {
        let (country, prefixes) = country.split_once(' ').unwrap();
        prefixes.split(' ').map(move |prefix| (country, prefix))
    });
    let prefixes = select(prefixes.collect::<Vec<_>>());
    (prefixes, select(in_e164), "[0-9]{3}", select(&["", " ", "-"][..])).prop_map(
        |((country, prefix), number, ending, separator)| {
            let number = &number[1..number.len() - 3];
            (country, format!("{prefix}{separator}{number}{ending}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn numbers_with_the_countrys_own_prefix_match_googles_reading(
        (country, text) in dialed_abroad(),
    ) {
        let country: DefaultCountry = country.parse().unwrap();
        let googles = Reading::parse(&text, country.region()).filter(Reading::is_valid);
        if let Some(googles) = googles {
            let number = PhoneNumber::parse(&text, country).unwrap();
            prop_assert_eq!(&number.formats.e164, &googles.in_one_word(), "{}", text);
            prop_assert_eq!(number.country, googles.region.filter(|r| *r != Region::World).map(|r| r.to_string()));
        }
    }
}
