//! `/v1/carriers` and `/v1/carrier`.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::support::{
    lists::all_records,
    service::{fields, shared_service},
};

#[tokio::test]
async fn the_list_has_every_field_of_the_summary_in_every_row() {
    let body = shared_service().ok("/v1/carriers?limit=100").await;
    assert_eq!(fields(&body), ["carriers", "pagination"]);
    assert_eq!(body["pagination"], json!({ "limit": 100, "offset": 0, "total": 165 }));
    for carrier in body["carriers"].as_array().unwrap() {
        assert_eq!(
            fields(carrier),
            ["ocn", "company_name", "common_name", "carrier_type", "state", "country"]
        );
    }
}

#[tokio::test]
async fn filters_narrow_the_list_and_ignore_case() {
    let service = shared_service();
    for (filter, field, value) in [
        ("country=ca", "country", "CA"),
        ("state=oh", "state", "OH"),
        ("type=wireless", "carrier_type", "WIRELESS"),
    ] {
        let body = service.ok(&format!("/v1/carriers?{filter}&limit=100")).await;
        let carriers = body["carriers"].as_array().unwrap();
        assert!(!carriers.is_empty() && carriers.len() < 165, "{filter}");
        assert!(carriers.iter().all(|carrier| carrier[field] == value), "{filter}");
        assert_eq!(body["pagination"]["total"], carriers.len(), "{filter}");
    }
    let body = service.ok("/v1/carriers?country=US&state=ON").await;
    assert_eq!(body["carriers"], json!([]));
}

#[tokio::test]
async fn words_find_carriers_by_their_names_and_ocn() {
    let service = shared_service();
    let found = async |query: &str| {
        let body = service.ok(&format!("/v1/carriers?{query}&limit=100")).await;
        let carriers = body["carriers"].as_array().unwrap();
        assert_eq!(body["pagination"]["total"], carriers.len(), "{query}");
        let ocns = carriers.iter().map(|carrier| carrier["ocn"].as_str().unwrap().to_owned());
        ocns.collect::<Vec<_>>()
    };
    for words in ["cooperative+lakeshore", "co-op+lake", "CO+OP+lak%C3%A9", "telephone+0098"] {
        assert_eq!(found(&format!("q={words}")).await, ["0098"], "{words}");
    }
    assert_eq!(found("q=amplewireless").await, [""; 0]);
    let mut found_by_all = found("q=sample&country=CA&state=ON").await;
    found_by_all.sort();
    assert_eq!(found_by_all, found("country=CA&state=ON").await);
    let message = "q must contain a letter or digit, got '&'";
    service.assert_error("/v1/carriers?q=%26", 400, "invalid_request", message).await;
}

#[tokio::test]
async fn carriers_found_by_words_are_ranked_by_likeness_and_exchanges_on_every_page() {
    let service = shared_service();
    let mut ranks = Vec::new();
    for carrier in all_records(service, "/v1/carriers?q=sample+te", "carriers", 7).await {
        let begins = |name: &Value| {
            name.as_str().is_some_and(|name| name.to_lowercase().starts_with("sample te"))
        };
        let is_other = !begins(&carrier["company_name"]) && !begins(&carrier["common_name"]);
        let ocn = carrier["ocn"].as_str().unwrap().to_owned();
        let detail = service.ok(&format!("/v1/carrier/{ocn}")).await;
        ranks.push((is_other, Reverse(detail["exchanges"]["total"].as_u64().unwrap()), ocn));
    }
    let others = ranks.iter().filter(|(is_other, ..)| *is_other).count();
    assert!((1..ranks.len()).contains(&others), "{ranks:?}");
    assert!(ranks.is_sorted(), "{ranks:?}");
}

#[tokio::test]
async fn the_sample_has_every_carrier_type() {
    for carrier_type in ["ILEC", "CLEC", "WIRELESS", "CAP", "IXC", "PCS"] {
        let body = shared_service().ok(&format!("/v1/carriers?type={carrier_type}")).await;
        assert_ne!(body["pagination"]["total"], 0, "{carrier_type}");
    }
}

#[tokio::test]
async fn values_outside_the_closed_sets_are_refused() {
    let service = shared_service();
    let cases = [
        ("country=MX", "country must be one of US, CA, got 'MX'"),
        ("type=MOBILE", "type must be one of ILEC, CLEC, WIRELESS, CAP, IXC, PCS, got 'MOBILE'"),
        (
            "state=ZZ",
            "state must be the two-letter code of a US state, DC, a US territory or a Canadian \
             province or territory, got 'ZZ'",
        ),
        ("state=NY&state=NJ", "state must be given once, got 'NY' and 'NJ'"),
    ];
    for (query, message) in cases {
        service
            .assert_error(&format!("/v1/carriers?{query}"), 400, "invalid_request", message)
            .await;
    }
}

#[tokio::test]
async fn one_carrier_by_path_and_by_query_is_the_same() {
    let service = shared_service();
    let by_path = service.ok("/v1/carrier/908K").await;
    assert_eq!(
        fields(&by_path),
        ["ocn", "company_name", "common_name", "carrier_type", "state", "country", "exchanges"]
    );
    assert_eq!(by_path["company_name"], "SAMPLE TELEPHONE COMPANY OF NEW YORK");
    assert_eq!(by_path["carrier_type"], "ILEC");
    let by_state = by_path["exchanges"]["by_state"].as_object().unwrap();
    let counted: u64 = by_state.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(by_path["exchanges"]["total"], counted);
    for path in ["/v1/carrier?ocn=908K", "/v1/carrier/908k", "/v1/carrier?ocn=908k"] {
        assert_eq!(service.ok(path).await, by_path, "{path}");
    }
}

#[tokio::test]
async fn a_carrier_agrees_with_the_list_and_with_its_exchanges() {
    let service = shared_service();
    let list = service.ok("/v1/carriers?limit=100").await;
    for summary in list["carriers"].as_array().unwrap() {
        let ocn = summary["ocn"].as_str().unwrap();
        let mut detail = service.ok(&format!("/v1/carrier/{ocn}")).await;
        let exchanges = detail.as_object_mut().unwrap().remove("exchanges").unwrap();
        assert_eq!(&detail, summary);
        let found = service.ok(&format!("/v1/search?ocn={ocn}&limit=1")).await;
        assert_eq!(exchanges["total"], found["pagination"]["total"], "{ocn}");
    }
}

#[tokio::test]
async fn a_carrier_without_a_known_type_has_none() {
    let carrier = shared_service().ok("/v1/carrier/0319").await;
    assert_eq!(carrier["carrier_type"], json!(null));
}

#[tokio::test]
async fn a_carrier_without_exchanges_is_known_from_the_overlay() {
    let carrier = shared_service().ok("/v1/carrier/208A").await;
    assert_eq!(carrier["exchanges"], json!({ "total": 0, "by_state": {} }));
}

#[tokio::test]
async fn wrong_and_unknown_ocns_are_refused_by_name() {
    let service = shared_service();
    let usage = "ocn is required. Usage: /v1/carrier?ocn=<OCN>";
    for path in ["/v1/carrier", "/v1/carrier?ocn="] {
        service.assert_error(path, 400, "invalid_request", usage).await;
    }
    for (given, shown) in
        [("123", "123"), ("12345", "12345"), ("AB-1", "AB-1"), ("%C3%A9123", "é123")]
    {
        let message = format!("ocn must be exactly 4 alphanumeric characters, got '{shown}'");
        for path in [format!("/v1/carrier/{given}"), format!("/v1/carrier?ocn={given}")] {
            service.assert_error(&path, 400, "invalid_request", &message).await;
        }
    }
    service
        .assert_error("/v1/carrier/zzzz", 404, "not_found", "No carrier found with OCN ZZZZ")
        .await;
}
