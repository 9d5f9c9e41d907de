//! Route tests with a small dataset.

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp, civil::Date};
use numbering::{
    records::Record,
    time::{date_of, this_second},
};
use test_api::{TestApi, app_with_history, changed_dataset, header};

use super::routes;

/// Includes the maximum offset, non-geographic codes without a state, and pooled and other exchanges.
#[tokio::test]
async fn area_codes_exchanges_and_blocks_as_json() {
    let api = TestApi::new(routes());
    let responses = api.responses([
        "/v1/npa/415?offset=3&limit=2",
        "/v1/npa/700?limit=1",
        "/v1/npa/416/nxx/234",
        "/v1/npa/416/nxx/234?offset=9007199254740991",
        "/v1/npa/415?limit=1&include=common_name",
        "/v1/npa/415?nxx=200&include=common_name",
        "/v1/npa/415/nxx/203?include=common_name",
        "/v1/npa/415/nxx/200/blocks",
        "/v1/npa/415/nxx/201/blocks",
    ]);
    assert_snapshot!(responses.await);
}

#[tokio::test]
async fn area_codes_include_plan_details_and_largest_holders() {
    let codes = ["415", "416", "628", "465", "800", "876"];
    let targets = codes.map(|npa| format!("/v1/area-codes/{npa}"));
    let api = TestApi::new(routes());
    let responses = api.responses(targets.each_ref().map(String::as_str));
    assert_snapshot!(responses.await);
}

#[tokio::test]
async fn exchange_is_the_same_by_path_query_and_version() {
    let api = TestApi::new(routes());
    let exchange = api.ok("/v1/npa/416/nxx/234").await;
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
}

#[tokio::test]
async fn csv_lists_have_the_same_rows_as_json() {
    let api = TestApi::new(routes());
    for (target, field) in [
        ("/v1/npa/415?limit=2&offset=3", "exchanges"),
        ("/v1/npa?npa=416&nxx=234&include=common_name", "exchanges"),
        ("/v1/npa/700/nxx/200", "exchanges"),
        ("/v1/npa/415/nxx/200/blocks", "blocks"),
    ] {
        api.assert_csv_agrees_with_json(target, field).await;
    }
    let lists = api.get("/v1/area-codes?overlay_of=415&format=csv", &[]).await;
    let lists = String::from_utf8(lists.body.to_vec()).unwrap();
    let row = "628,CA,CA,US,GEOGRAPHIC,IN_SERVICE,2015-03-21,415,415 628,0\r\n";
    assert!(lists.ends_with(row), "{lists}");
    let empty = api.get("/v1/npa/415/nxx/200?offset=1&format=csv", &[]).await;
    assert_eq!(empty.body, "npa,nxx,ocn,company_name,rate_center,status\r\n");
    assert_eq!(
        empty.headers["content-disposition"],
        "attachment; filename=\"npa-415-nxx-200.csv\""
    );
    // Errors are JSON.
    let missing = api.get("/v1/npa/999", &[("accept", "text/csv")]).await;
    assert_eq!(header(&missing.headers, "content-type"), "application/json");
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    assert_snapshot!(api.rejections(include_str!("rejected.txt").lines()).await);
}

#[tokio::test]
async fn area_codes_are_filtered_by_state_service_and_date() {
    TestApi::new(routes()).assert_lists(include_str!("listed.txt")).await;
}

/// Routes with a history. On `date`, the day of the second version, a block of 415-200 and area code 465 start. The
/// second version also moves exchange 415-201.
async fn api_with_start_on(date: Date, first_version: Timestamp) -> TestApi {
    let version = |rate_center: &str| {
        changed_dataset(|record| match record {
            Record::AreaCode(area_code) if area_code.npa.to_string() == "465" => {
                area_code.plan.in_service_on = Some(date);
            }
            Record::Exchange(exchange) => match exchange.npa_nxx().to_string().as_str() {
                "415-200" => exchange.blocks.get_mut(&2).unwrap().effective = Some(date),
                "415-201" => exchange.rate_center = Some(rate_center.to_owned()),
                _ => (),
            },
            _ => (),
        })
    };
    let versions = vec![version("NOVATO"), version("SAN RAFAEL")];
    TestApi::on(routes(), app_with_history(first_version, versions).await.app)
}

#[tokio::test]
async fn past_responses_use_the_date_and_records_of_that_day() {
    let first_version = this_second() - SignedDuration::from_hours(24 * 4);
    let [before, on] =
        [0, 1].map(|day| date_of(first_version + SignedDuration::from_hours(24 * day)));
    let api = api_with_start_on(on, first_version).await;
    for (as_of, block, area_code, held_blocks, rate_center) in [
        (before, "UNASSIGNED", "PLANNED", 1, "NOVATO"),
        (on, "ASSIGNED", "IN_SERVICE", 2, "SAN RAFAEL"),
    ] {
        let blocks = api.ok(&format!("/v1/npa/415/nxx/200/blocks?as_of={as_of}")).await;
        assert_eq!(blocks["blocks"][2]["status"], block, "{as_of}");
        let plan = api.ok(&format!("/v1/area-codes/465?as_of={as_of}")).await;
        assert_eq!(plan["status"], area_code, "{as_of}");
        let plan = api.ok(&format!("/v1/area-codes/415?as_of={as_of}")).await;
        let mut holders = plan["holders"].as_array().unwrap().iter();
        let holder = holders.find(|holder| holder["ocn"] == "6529").unwrap();
        assert_eq!(holder["blocks"], held_blocks, "{as_of}");
        let page = api.get(&format!("/v1/npa/415?limit=1&as_of={as_of}"), &[]).await;
        let link = test_api::header(&page.headers, "link");
        assert!(link.contains(&format!("as_of={as_of}T")), "pages stay on one version: {link}");
        for target in ["/v1/npa/415/nxx/201?", "/v1/npa/415?offset=1&limit=1&"] {
            let page = api.ok(&format!("{target}include=common_name&as_of={as_of}")).await;
            assert_eq!(page["exchanges"].as_array().unwrap().len(), 1, "{page}");
            assert_eq!(page["exchanges"][0]["rate_center"], rate_center, "{target}{as_of}");
            assert_eq!(page["exchanges"][0]["common_name"], "T-Mobile", "{target}{as_of}");
        }
    }
}
