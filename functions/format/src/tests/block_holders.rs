//! Tests that formats, lookups, block lists and assignments agree on a block's holder on any day.

use std::iter;

use jiff::{SignedDuration, Timestamp, civil::Date};
use numbering::{
    dataset::Dataset,
    records::{AreaCode, BlockHolder, Carrier, Exchange, Record, Status, TypeBasis},
    time::date_of,
};
use serde_json::{Value, json};
use test_api::{AppWithHistory, TestApi, app_with_history, changed_dataset};

use crate::routes;

/// The OCN and name of an exchange's holder.
type Holder = (Option<&'static str>, Option<&'static str>);

const HOLDERS: [Holder; 3] =
    [(Some("9740"), None), (None, Some("SMALL TOWN TELEPHONE")), (None, None)];

/// A test case: an exchange's status and holder and, if it is pooled, the days on which its blocks 0, 1, ... start.
struct Case {
    nxx: u32,
    status: Status,
    holder: Holder,
    blocks: Vec<Option<Date>>,
}

impl Case {
    fn exchange(&self) -> Exchange {
        let (ocn, name) = self.holder;
        let block = |&effective: &_| BlockHolder { effective, ..BlockHolder::sample("6529") };
        Exchange {
            ocn: ocn.and_then(|ocn| ocn.parse().ok()),
            company_name: name.map(str::to_owned),
            rate_center: Some("SNFC CNTRL".to_owned()),
            state: "CA".parse().ok(),
            status: self.status,
            blocks: (0..).zip(self.blocks.iter().map(block)).collect(),
            ..Exchange::sample(&format!("415-{}", self.nxx))
        }
    }

    /// The expected results: a block's status and OCN in the block list, its carrier's OCN and name, and the verdict.
    /// Implements the rule independently of the code.
    fn expected(&self, digit: usize, day: Date) -> Value {
        let (ocn, name) = self.holder;
        let carrier = ocn.or(name).map(|_| self.holder);
        match (self.blocks.get(digit), self.status) {
            (Some(Some(start)), _) if day < *start => {
                json!(["UNASSIGNED", "6529", null, "NOT_YET_EFFECTIVE"])
            }
            (Some(_), _) => json!(["ASSIGNED", "6529", ["6529", null], "ASSIGNED"]),
            (None, _) if !self.blocks.is_empty() => {
                json!(["UNASSIGNED", null, null, "UNASSIGNED_BLOCK"])
            }
            (None, Status::Assigned) => json!(["ASSIGNED", ocn, carrier, "ASSIGNED"]),
            (None, status) => json!([status, ocn, carrier, "UNASSIGNED_EXCHANGE"]),
        }
    }
}

/// All statuses and holders, without blocks and with blocks that start before, on and after these days.
fn cases(days: &[Date]) -> Vec<Case> {
    let pooled: Vec<Option<Date>> =
        iter::once(None).chain(days.iter().copied().map(Some)).collect();
    let kinds = Status::ALL.into_iter().flat_map(|status| HOLDERS.map(|holder| (status, holder)));
    let kinds = kinds.flat_map(|kind| [(kind, Vec::new()), (kind, pooled.clone())]);
    let case = |(nxx, ((status, holder), blocks))| Case { nxx, status, holder, blocks };
    (300..).zip(kinds).map(case).collect()
}

#[tokio::test]
async fn all_endpoints_agree_on_a_blocks_holder_on_any_day() {
    let now = Timestamp::now();
    let ago = |days: i64| now - SignedDuration::from_hours(24 * days);
    let days: Vec<Date> = [3, 2, 1].into_iter().map(|days| date_of(ago(days))).collect();
    let cases = cases(&days);
    let exchanges: Vec<_> = cases.iter().map(Case::exchange).collect();
    let carriers = ["6529", "9740"].map(Carrier::sample).to_vec();
    let dataset = Dataset::new(carriers, vec![AreaCode::sample("415")], exchanges);
    let AppWithHistory { app, .. } = app_with_history(ago(9), vec![dataset]).await;
    let (numbers, blocks) = (TestApi::on(routes(), app.clone()), TestApi::on(npa::routes(), app));
    for (case, day) in cases.iter().flat_map(|case| days[..2].iter().map(move |day| (case, *day))) {
        let target = format!("/v1/npa/415/nxx/{}/blocks?as_of={day}", case.nxx);
        let listed = blocks.ok(&target).await;
        // Pooled exchanges have blocks 0 to 3. The other blocks have no holder.
        for digit in if case.blocks.is_empty() { 4..5 } else { 0..5 } {
            let row = &listed["blocks"][digit];
            let number = format!("415{}{digit}000?as_of={day}", case.nxx);
            let ocn_and_name = |result: &Value| match &result["carrier"] {
                Value::Null => Value::Null,
                it => json!([it["ocn"], it["name"]]),
            };
            let lookup = numbers.ok(&format!("/v1/lookup/{number}")).await;
            assert!(lookup.as_object().unwrap().contains_key("carrier"), "{number}");
            let format = numbers.ok(&format!("/v1/format/{number}&include=assignment")).await;
            assert!(format.get("carrier").is_none_or(|it| !it.is_null()), "{number}");
            for result in [&lookup, &format] {
                let (carrier, verdict) = (ocn_and_name(result), &format["assignment"]["verdict"]);
                let found = json!([row["status"], row["ocn"], carrier, verdict]);
                assert_eq!(found, case.expected(digit, day), "{number}");
            }
            for result in [lookup, format] {
                assert_eq!(result["location"]["rateCenter"], "SNFC CNTRL", "{number}");
            }
        }
    }
}

#[tokio::test]
async fn past_number_is_described_as_of_the_end_of_the_day() {
    let (now, hours) = (Timestamp::now(), |count| SignedDuration::from_hours(count));
    let (yesterday, start) = (date_of(now - hours(24)), now - hours(24 * 5));
    let pooled = changed_dataset(|record| match record {
        Record::Carrier(it) => it.type_basis = Some(TypeBasis::CompanyName),
        Record::Exchange(it) => {
            it.blocks.values_mut().for_each(|it| it.effective = Some(yesterday));
        }
        Record::AreaCode(_) => (),
    });
    let AppWithHistory { app, .. } = app_with_history(start, vec![pooled]).await;
    let api = TestApi::on(routes(), app);
    let day_before = yesterday.yesterday().unwrap();
    for (day, verdict, line) in
        [(yesterday, "ASSIGNED", json!("WIRELESS")), (day_before, "NOT_YET_EFFECTIVE", Value::Null)]
    {
        let target = format!("/v1/format/4152001234?include=all&as_of={day}");
        let result = api.ok(&target).await;
        assert_eq!(result["assignment"]["verdict"], verdict, "{day}");
        assert_eq!(result["line"]["type"], line, "{day}");
        assert_eq!(result.get("carrier").is_some(), verdict == "ASSIGNED", "{day}");
        // In California, a UTC day ends in the afternoon. London follows UTC, but its results do not depend on data.
        let local_day = |result: &Value| {
            let local_time = result["timeZones"][0]["localTime"].as_str().unwrap().to_owned();
            local_time[..10].parse::<Date>().unwrap()
        };
        assert_eq!(local_day(&result), day, "{day}");
        let target = format!("/v1/format/%2B442079460958?include=all&as_of={day}");
        let local_day = local_day(&api.ok(&target).await);
        assert!([day, day.tomorrow().unwrap()].contains(&local_day), "{day}: {local_day}");
    }
}
