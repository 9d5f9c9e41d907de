//! `/v1/search`.

use serde_json::json;

use crate::support::service::{fields, shared_service};

#[tokio::test]
async fn a_result_has_every_field() {
    let body = shared_service().ok("/v1/search?npa=416&nxx=234").await;
    assert_eq!(fields(&body), ["results", "pagination"]);
    assert_eq!(
        body["results"],
        json!([{
            "npa": "416", "nxx": "234", "ocn": "6015",
            "company_name": "Sample Telephone Company of Ontario", "carrier_type": "ILEC",
            "rate_center": "Toronto", "state": "ON", "country": "CA", "status": "ASSIGNED"
        }])
    );
}

#[tokio::test]
async fn results_are_ordered_by_npa_and_nxx() {
    let body = shared_service().ok("/v1/search?q=sample&limit=100").await;
    let results = body["results"].as_array().unwrap();
    assert!(results.is_sorted_by_key(|found| {
        (found["npa"].as_str().unwrap(), found["nxx"].as_str().unwrap())
    }));
}

#[tokio::test]
async fn every_filter_holds_for_every_result() {
    let service = shared_service();
    for (filter, field, value) in [
        ("npa=416", "npa", "416"),
        ("nxx=234", "nxx", "234"),
        ("ocn=908k", "ocn", "908K"),
        ("company=SAMPLE%20WIRELESS,%20llc", "company_name", "SAMPLE WIRELESS, LLC"),
        ("rate_center=toronto", "rate_center", "Toronto"),
        ("state=vt", "state", "VT"),
        ("country=ca", "country", "CA"),
        ("type=pcs", "carrier_type", "PCS"),
        ("status=unassigned", "status", "UNASSIGNED"),
    ] {
        let body = service.ok(&format!("/v1/search?{filter}&limit=100")).await;
        let results = body["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{filter}");
        assert!(results.iter().all(|found| found[field] == value), "{filter}: {body}");
    }
}

#[tokio::test]
async fn each_word_begins_a_word_of_company_common_name_or_rate_center() {
    let service = shared_service();
    let total = async |query: &str| {
        service.ok(&format!("/v1/search?{query}&limit=1")).await["pagination"]["total"].clone()
    };
    assert_eq!(total("q=WIRE+samp").await, total("q=sample+wireless").await);
    assert_ne!(total("q=tor&npa=416").await, json!(0));
    assert_eq!(total("q=oronto&npa=416").await, json!(0));
}

#[tokio::test]
async fn accents_and_punctuation_of_words_and_whole_names_do_not_matter() {
    let service = shared_service();
    let total = async |query: &str| {
        service.ok(&format!("/v1/search?{query}&limit=1")).await["pagination"]["total"].clone()
    };
    for (plain, others) in [
        ("q=trois-rivieres", ["q=Trois-Rivi%C3%A8res", "q=TROIS+RIVIE%CC%80RES"]),
        ("q=val-d'or", ["q=valdor", "q=Val+d%E2%80%99Or"]),
        ("rate_center=St-Jerome", ["rate_center=St-J%C3%A9r%C3%B4me", "rate_center=st.+jerome"]),
        (
            "company=SAMPLE+WIRELESS,+LLC",
            ["company=s%C3%A4mple+wireless+llc", "company=Sample+Wireless+L.L.C."],
        ),
    ] {
        assert_ne!(total(plain).await, json!(0), "{plain}");
        for other in others {
            assert_eq!(total(other).await, total(plain).await, "{other}");
        }
    }
}

#[tokio::test]
async fn wrong_filters_are_refused_by_name() {
    let service = shared_service();
    let required = "at least one of q, npa, nxx, ocn, company, rate_center, state, country, type \
                    and status is required. Usage: /v1/search?q=<WORDS>";
    service.assert_error("/v1/search", 400, "invalid_request", required).await;
    service.assert_error("/v1/search?limit=5", 400, "invalid_request", required).await;
    for (query, message) in [
        ("q=%26-", "q must contain a letter or digit, got '&-'"),
        ("company=-", "company must contain a letter or digit, got '-'"),
        ("npa=1", "npa must be exactly 3 digits, got '1'"),
        ("ocn=1", "ocn must be exactly 4 alphanumeric characters, got '1'"),
        ("status=FREE", "status must be one of ASSIGNED, UNASSIGNED, RESERVED, got 'FREE'"),
    ] {
        service.assert_error(&format!("/v1/search?{query}"), 400, "invalid_request", message).await;
    }
}

#[tokio::test]
async fn a_query_of_thousands_of_words_is_refused() {
    let words = (0..2000).map(|n| n.to_string()).collect::<Vec<_>>().join("+");
    let (status, body) = shared_service().answer(&format!("/v1/search?q={words}")).await;
    assert_eq!(status, 400);
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with("q must have at most 10 different words, got '0 1 2"), "{message}");
}
