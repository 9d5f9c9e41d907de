//! Route tests with a small dataset.

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp, civil::Date};
use numbering::{
    records::{NpaNxx, Record},
    time::{date_of, this_second},
};
use serde_json::{Value, json};
use test_api::{TestApi, app_with_history, changed_dataset, header};

use super::routes;

#[tokio::test]
async fn an_area_code_lists_its_exchanges_with_their_assigned_holders() {
    let page = TestApi::new(routes()).ok("/v1/npa/415?offset=3&limit=2").await;
    let expected = json!({
        "npa": "415", "state": "CA", "country": "US", "total_exchanges": 5,
        "exchanges": [
            { "nxx": "203", "ocn": null, "company_name": null, "rate_center": null, "status": "UNASSIGNED" },
            {
                "nxx": "204", "ocn": null, "company_name": "SMALL TOWN TELEPHONE",
                "rate_center": "MILL VALLEY", "status": "ASSIGNED"
            }
        ],
        "pagination": { "limit": 2, "offset": 3, "total": 5 }
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn a_non_geographic_area_code_has_no_state() {
    assert_eq!(TestApi::new(routes()).ok("/v1/npa/700").await["state"], Value::Null);
}

#[tokio::test]
async fn an_exchange_is_the_same_by_path_query_and_version() {
    let api = TestApi::new(routes());
    let exchange = api.ok("/v1/npa/416/nxx/234").await;
    assert_eq!(exchange["exchanges"][0]["company_name"], "ROGERS COMMUNICATIONS CANADA INC.");
    assert_eq!(exchange["pagination"]["total"], 1);
    let page = api.get("/v1/npa/416?limit=1", &[]).await;
    let (_, version) = header(&page.headers, "link").split_once("version=").unwrap();
    let version = version.split(['&', '>']).next().unwrap();
    for target in [
        "/v1/npa?npa=416&nxx=234".to_owned(),
        "/v1/npa/416?nxx=234".to_owned(),
        format!("/v1/npa/416?nxx=234&version={version}"),
    ] {
        assert_eq!(api.ok(&target).await, exchange, "{target}");
    }
    let past_end = api.ok("/v1/npa/416/nxx/234?offset=9007199254740991").await;
    assert_eq!(past_end["exchanges"].as_array().unwrap().len(), 0);
    assert_eq!(past_end["pagination"]["offset"], 9_007_199_254_740_991_u64);
    assert_eq!(past_end["pagination"]["total"], 1);
}

#[tokio::test]
async fn csv_lists_are_attachments_with_the_same_rows_as_json() {
    let api = TestApi::new(routes());
    for target in ["/v1/npa/415?limit=2&offset=3", "/v1/npa?npa=416&nxx=234", "/v1/npa/700/nxx/200"]
    {
        api.assert_csv_agrees_with_json(target, "exchanges").await;
    }
    let file = api.get("/v1/npa/415?format=CSV&limit=1", &[("accept", "application/json")]).await;
    let disposition = header(&file.headers, "content-disposition");
    assert_eq!(disposition, "attachment; filename=\"npa-415.csv\"");
    assert!(header(&file.headers, "link").contains("format=CSV"));
    // Errors are JSON.
    let missing = api.get("/v1/npa/999", &[("accept", "text/csv")]).await;
    assert_eq!(header(&missing.headers, "content-type"), "application/json");
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/npa",
        "/v1/npa?npa=abc",
        "/v1/npa?npa=",
        "/v1/npa/4%FF5",
        "/v1/npa/4155/nxx/234",
        "/v1/npa/415/nxx/23",
        "/v1/npa/415?nxx=23",
        "/v1/npa/876",
        "/v1/npa/415?nxx=111",
        "/v1/npa?npa=415&nxx=111",
        "/v1/npa/415?limit=0",
        "/v1/npa/415?version=x",
        "/v1/npa/415?format=xml",
        "/v1/npa/415/nxx/234?limit=ten",
        "/v1/npa?npa=415&offset=-1",
        "/v1/npa?npa=416&nxx=234&version=x",
        "/v1/npa/416?nxx=234&version=19700101T000000Z-0123456789abcdef",
        "/v1/npa/415/nxx",
        "/v1/npa/415/nxx/",
        "/v1/area-codes?country=USA",
        "/v1/area-codes?country=U1",
    ]);
    assert_snapshot!(errors.await);
}

/// The codes in a list.
async fn listed(query: &str) -> String {
    let list = TestApi::new(routes()).ok(&format!("/v1/area-codes?{query}")).await;
    let codes = list["area_codes"].as_array().unwrap();
    codes.iter().map(|code| code["npa"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn area_codes_are_filtered_by_place_service_and_date() {
    for (query, expected) in [
        ("", "415 416 465 628 700 800 876"),
        ("state=ca", "415 628"),
        ("country=us", "415 465 628 700"),
        ("country=JM", "876"),
        ("country=FR", ""),
        ("service=toll_free", "800"),
        ("status=planned", "465"),
        ("status=IN_SERVICE&state=NY", ""),
        ("overlay_of=415", "628"),
        ("overlay_of=416", ""),
        ("in_service_on=1950-01-01&state=CA", "415"),
        ("in_service_on=2015-03-21&state=CA", "415 628"),
        ("in_service_on=2999-01-01&state=NY", "465"),
        ("limit=2&offset=1", "416 465"),
    ] {
        assert_eq!(listed(query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn area_codes_have_their_place_in_the_plan_and_their_largest_holders() {
    let api = TestApi::new(routes());
    let mut text = String::new();
    for npa in ["415", "416", "628", "465", "800", "876"] {
        text += &format!("{:#}\n", api.ok(&format!("/v1/area-codes/{npa}")).await);
    }
    assert_snapshot!(text);
    let csv = api.get("/v1/area-codes?overlay_of=415&format=csv", &[]).await;
    let csv = String::from_utf8(csv.body.to_vec()).unwrap();
    let header =
        "npa,state,states,country,service,status,in_service_on,parent,overlay,total_exchanges";
    let row = "628,CA,CA,US,GEOGRAPHIC,IN_SERVICE,2015-03-21,415,415 628,0";
    assert_eq!(csv, format!("{header}\r\n{row}\r\n"));
}

#[tokio::test]
async fn exchanges_have_ten_blocks_whether_pooled_or_not() {
    let api = TestApi::new(routes());
    let blocks = async |exchange: &str| {
        let list = api.ok(&format!("/v1/npa/415/nxx/{exchange}/blocks")).await;
        let blocks = list["blocks"].as_array().unwrap().iter().map(|block| {
            let field = |name: &str| block[name].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", field("status"), field("ocn"), field("rate_center"))
        });
        (list["is_pooled"].as_bool().unwrap(), blocks.collect::<Vec<_>>())
    };
    let (is_pooled, pooled) = blocks("200").await;
    assert!(is_pooled);
    assert_eq!(pooled[0], "UNASSIGNED - SNFC CNTRL");
    assert_eq!(pooled[1], "ASSIGNED 6529 SNFC CNTRL");
    assert_eq!(pooled[2], "UNASSIGNED 6529 SAUSALITO", "not effective yet");
    let (is_pooled, whole) = blocks("201").await;
    assert_eq!((is_pooled, whole.len()), (false, 10));
    assert_eq!(whole[9], "ASSIGNED 6529 SAUSALITO");
    let whole = api.ok("/v1/npa/415/nxx/200/blocks").await;
    let held = &whole["blocks"][1];
    assert_eq!(
        (&held["company_name"], &held["carrier_type"]),
        (&json!("T-MOBILE USA, INC."), &json!("PCS"))
    );
    let free = &whole["blocks"][0];
    assert_eq!((&free["company_name"], &free["carrier_type"]), (&Value::Null, &Value::Null));
    api.assert_csv_agrees_with_json("/v1/npa/415/nxx/200/blocks", "blocks").await;
}

/// A route with a history: a block of 415-200 and area code 465 start on `date`, the day of the second version, which also
/// moves exchange 415-201.
async fn api_with_start_on(date: Date, first_version: Timestamp) -> TestApi {
    let version = |rate_center: &str| {
        changed_dataset(|records| {
            for record in records {
                match record {
                    Record::AreaCode(area_code) => {
                        let plan = &mut area_code.plan;
                        plan.in_service_on =
                            plan.in_service_on.filter(|_| plan.is_in_service).or(Some(date));
                    }
                    Record::Exchange(exchange) if exchange.npa_nxx() == npa_nxx("415-200") => {
                        exchange.blocks.get_mut(&2).unwrap().effective = Some(date);
                    }
                    Record::Exchange(exchange) if exchange.npa_nxx() == npa_nxx("415-201") => {
                        exchange.rate_center = Some(rate_center.to_owned());
                    }
                    _ => (),
                }
            }
        })
    };
    let versions = vec![version("NOVATO"), version("SAN RAFAEL")];
    TestApi::on(routes(), app_with_history(first_version, versions).await.app)
}

fn npa_nxx(code: &str) -> NpaNxx {
    code.parse().unwrap()
}

#[tokio::test]
async fn the_past_is_judged_on_its_own_day() {
    let first_version = this_second() - SignedDuration::from_hours(24 * 4);
    let [before, on] =
        [0, 1].map(|day| date_of(first_version + SignedDuration::from_hours(24 * day)));
    let api = api_with_start_on(on, first_version).await;
    for (as_of, block, area_code, held_blocks) in
        [(before, "UNASSIGNED", "PLANNED", 1), (on, "ASSIGNED", "IN_SERVICE", 2)]
    {
        let blocks = api.ok(&format!("/v1/npa/415/nxx/200/blocks?as_of={as_of}")).await;
        assert_eq!(blocks["blocks"][2]["status"], block, "{as_of}");
        let plan = api.ok(&format!("/v1/area-codes/465?as_of={as_of}")).await;
        assert_eq!(plan["status"], area_code, "{as_of}");
        let holders = api.ok(&format!("/v1/area-codes/415?as_of={as_of}")).await["holders"].clone();
        let holders = holders.as_array().unwrap();
        let holder = holders.iter().find(|holder| holder["ocn"] == "6529").unwrap();
        assert_eq!(holder["blocks"], held_blocks, "{as_of}");
    }
}

#[tokio::test]
async fn an_exchange_is_listed_as_it_was() {
    let first_version = this_second() - SignedDuration::from_hours(24 * 4);
    let [before, on] =
        [0, 1].map(|day| date_of(first_version + SignedDuration::from_hours(24 * day)));
    let api = api_with_start_on(on, first_version).await;
    for (as_of, rate_center) in [(before, "NOVATO"), (on, "SAN RAFAEL")] {
        for target in ["/v1/npa/415/nxx/201?", "/v1/npa/415?offset=1&limit=1&"] {
            let page = api.ok(&format!("{target}as_of={as_of}")).await;
            let [exchange] = page["exchanges"].as_array().unwrap().as_slice() else {
                panic!("{page}")
            };
            assert_eq!(exchange["rate_center"], rate_center, "{target}{as_of}");
        }
    }
}
