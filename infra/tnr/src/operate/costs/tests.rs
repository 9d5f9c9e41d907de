use super::*;

#[test]
fn units_beyond_a_tier_cost_the_next_price() {
    const GB: f64 = 1_073_741_824.0;
    for (name, count, dollars) in [
        ("api_requests", 1e6, 1.0),
        ("api_requests", 301e6, 300.9),
        ("data_out", 100.0 * GB, 0.0),
        ("data_out", 101.0 * GB, 0.09),
        ("data_out", 10_341.0 * GB, 10_240.0 * 0.09 + 0.085),
    ] {
        assert!((cost(name, count) - dollars).abs() < 1e-6, "{name} {count}");
    }
}

/// Asserts the cost of these lines on a bill, to the cent.
fn assert_costs(usage: &Usage, start: &str, dollars: f64) {
    let sum: f64 =
        bill(usage).iter().filter(|(what, _)| what.starts_with(start)).map(|(_, it)| it).sum();
    assert!((sum - dollars).abs() < 0.01, "{start}: {sum}, not {dollars}");
}

#[test]
fn log_tiers_apply_to_all_logs() {
    // 828 and 317 bytes for each of 10 billion requests are 10,663.64 GB, and the probe's lines 0.13 GB. The first
    // 10,240 GB cost 0.50 each and the others 0.25, so all but the probe's cost 10,663.64 x 5,225.94 / 10,663.77.
    assert_costs(&Usage::month(1e10, 0.01), "Logs", 5225.88);
}

#[test]
fn shares_add_up_to_100_percent() {
    assert_eq!(REQUESTS.iter().map(|kind| kind.share).sum::<f64>(), 100.0);
}

#[test]
fn snapshot_chunks_are_rounded_up_to_4_kb() {
    assert_eq!(snapshot_read_units(4097.0), 1.0);
    assert_eq!(snapshot_read_units(390_001.0), 48.0 + 0.5);
}

#[test]
fn cost_page_has_each_kind_of_monitoring() {
    let page = include_str!("../../../../../docs/COSTS.md");
    for monitoring in Monitoring::value_variants() {
        let [metrics, alarms, alarm_metrics, dashboards] = monitoring.counts();
        let counts =
            [("metrics", metrics), ("alarm_metrics", alarm_metrics), ("dashboards", dashboards)];
        let dollars: f64 = counts.into_iter().map(|(price, count)| cost(price, count)).sum();
        let row = format!(
            "| `{monitoring:?}` | {metrics} | {alarms} on {alarm_metrics} metrics | {dashboards} | {dollars:.2} |"
        );
        assert!(page.contains(&row), "{row}");
    }
}

/// Each table on the page, keyed by the text before it.
#[test]
fn cost_page_has_the_computed_bills() {
    let page = include_str!("../../../../../docs/COSTS.md");
    let months = [1e6, 1e7, 1e8].map(|requests| Usage::month(requests, 0.01));
    for (start, usages) in [
        ("| 100 million |\n|---|---:|---:|---:|\n", &months[..]),
        ("## The worst day", &[Usage::worst_day(0.01)]),
        ("## A flood without a key", &[Usage::flood(0.01)]),
    ] {
        let bills: Vec<_> = usages.iter().map(bill).collect();
        let row = |(index, (what, _)): (usize, &(String, f64))| {
            let cells = bills.iter().map(|bill| format!(" {:.2} |", bill[index].1));
            format!("| {what} |{}\n", cells.collect::<String>())
        };
        let rows: Vec<String> = bills[0].iter().enumerate().map(row).collect();
        // Only monthly bills include fixed costs.
        let is_last = |row: &String| row.starts_with("| Total for requests");
        let last = rows.iter().position(is_last).filter(|_| usages.len() == 1);
        let expected = rows[..last.map_or(rows.len(), |last| last + 1)].concat();
        let (_, rest) = page.split_once(start).unwrap();
        assert!(rest.replace("**", "").contains(&expected), "{start} needs\n{expected}");
    }
}
