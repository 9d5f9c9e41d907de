//! The searches that are measured, by name.

use numbering::dataset::Search;

use super::plain_search::Texts;

/// A search, as the code of the service and as the plain one take it.
pub struct NamedSearch {
    pub name: &'static str,
    pub search: Search,
    pub texts: Texts,
    /// How many exchanges are skipped before the page.
    pub offset: usize,
}

/// Selective, heavy and the worst searches.
pub fn all() -> Vec<NamedSearch> {
    let by = |name: &'static str, words: &str, search: Search| NamedSearch {
        name,
        search: Search { words: (!words.is_empty()).then(|| words.parse().unwrap()), ..search },
        texts: Texts { words: (!words.is_empty()).then(|| words.to_owned()), ..Texts::default() },
        offset: 0,
    };
    let none = Search::default;
    let assigned = || Search { status: "assigned".parse().ok(), ..none() };
    vec![
        by("q=boston", "boston", none()),
        by("q=bell canada", "bell canada", none()),
        by("q=t-mobile", "t-mobile", none()),
        by("q=wireless san", "wireless san", none()),
        by("npa=415", "", Search { npa: "415".parse().ok(), ..none() }),
        by("nxx=555", "", Search { nxx: "555".parse().ok(), ..none() }),
        by("ocn=0001", "", Search { ocn: "0001".parse().ok(), ..none() }),
        NamedSearch {
            texts: Texts { company: Some("AT&T".to_owned()), ..Texts::default() },
            ..by("company=AT&T", "", Search { company: "AT&T".parse().ok(), ..none() })
        },
        NamedSearch {
            texts: Texts { rate_center: Some("san jose".to_owned()), ..Texts::default() },
            ..by(
                "rate_center=san jose",
                "",
                Search { rate_center: "san jose".parse().ok(), ..none() },
            )
        },
        by("country=US", "", Search { country: "us".parse().ok(), ..none() }),
        by("state=CA", "", Search { state: "CA".parse().ok(), ..none() }),
        by("status=ASSIGNED", "", assigned()),
        by("type=WIRELESS", "", Search { carrier_type: "wireless".parse().ok(), ..none() }),
        by("q=a", "a", none()),
        NamedSearch { offset: 100_000, ..by("q=a&offset=100000", "a", none()) },
        by("q=a c", "a c", none()),
        by(
            "status=ASSIGNED&type=WIRELESS&q=a",
            "a",
            Search { carrier_type: "wireless".parse().ok(), ..assigned() },
        ),
        by("q=a-b c-d", "a-b c-d", none()),
        by("q=c i l n s (five letters)", "c i l n s", none()),
        by("q=a b c d e f g h i j (ten letters)", "a b c d e f g h i j", none()),
        by(
            "ten letters in compounds",
            "a-b a-c a-d a-e b-c b-d b-e c-d c-e d-e f-g f-h g-h h-i i-j a-b-c d-e-f g-h-i",
            none(),
        ),
    ]
}
