//! List prices of AWS in us-east-1, in US dollars and without the free tier, except for
//! the first 100 GB of data out in a month. Each names the page of AWS
//! that has the price of today; the pages cannot be read by a test, and AWS changes prices from time to
//! time, mostly downwards.

/// The year that the prices are of.
pub const YEAR: u16 = 2026;
/// The region that the prices are of.
pub const REGION: &str = "us-east-1";

const MILLION: f64 = 1e6;
/// What AWS bills as a GB.
pub const GB: f64 = 1024.0 * 1024.0 * 1024.0;
const NO_END: f64 = f64::INFINITY;

/// The price of something that is counted.
#[derive(Debug, Clone, Copy)]
pub struct Price {
    pub what: &'static str,
    /// How many of them the dollars are for, and the words for that.
    pub per: f64,
    pub unit: &'static str,
    /// The dollars up to a number of units of each month, and beyond the number before.
    pub tiers: &'static [(f64, f64)],
    /// The page that the price is from.
    pub source: &'static str,
}

impl Price {
    /// What so many cost in one month.
    pub fn of(&self, count: f64) -> f64 {
        let mut dollars = 0.0;
        let mut below = 0.0;
        for &(end, price) in self.tiers {
            dollars += price * (count / self.per).clamp(below, end) - price * below;
            below = end;
        }
        dollars
    }
}

const API_GATEWAY_PAGE: &str = "https://aws.amazon.com/api-gateway/pricing/";
const LAMBDA_PAGE: &str = "https://aws.amazon.com/lambda/pricing/";
const DYNAMODB_PAGE: &str = "https://aws.amazon.com/dynamodb/pricing/on-demand/";
const CLOUDWATCH_PAGE: &str = "https://aws.amazon.com/cloudwatch/pricing/";
const TRANSFER_PAGE: &str = "https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer";
const XRAY_PAGE: &str = "https://aws.amazon.com/xray/pricing/";
const CLOUDFRONT_PAGE: &str = "https://aws.amazon.com/cloudfront/pricing/";
const WAF_PAGE: &str = "https://aws.amazon.com/waf/pricing/";

pub const API_REQUESTS: Price = Price {
    what: "API Gateway, requests to an HTTP API",
    per: MILLION,
    unit: "million",
    tiers: &[(300.0, 1.00), (NO_END, 0.90)],
    source: API_GATEWAY_PAGE,
};
pub const LAMBDA_REQUESTS: Price = Price {
    what: "Lambda, requests",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 0.20)],
    source: LAMBDA_PAGE,
};
pub const LAMBDA_TIME: Price = Price {
    what: "Lambda, time on arm64",
    per: MILLION,
    unit: "million GB-seconds",
    tiers: &[(7_500.0, 13.3334), (NO_END, 12.0001)],
    source: LAMBDA_PAGE,
};
pub const READ_UNITS: Price = Price {
    what: "DynamoDB, read units on demand",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 0.125)],
    source: DYNAMODB_PAGE,
};
pub const WRITE_UNITS: Price = Price {
    what: "DynamoDB, write units on demand",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 0.625)],
    source: DYNAMODB_PAGE,
};
pub const STORAGE: Price = Price {
    what: "DynamoDB, storage",
    per: GB,
    unit: "GB and month",
    tiers: &[(NO_END, 0.25)],
    source: DYNAMODB_PAGE,
};
pub const BACKUP: Price = Price {
    what: "DynamoDB, point-in-time recovery",
    per: GB,
    unit: "GB and month",
    tiers: &[(NO_END, 0.20)],
    source: DYNAMODB_PAGE,
};
pub const LOGS: Price = Price {
    what: "CloudWatch, logs taken in",
    per: GB,
    unit: "GB",
    tiers: &[(10_240.0, 0.50), (NO_END, 0.25)],
    source: CLOUDWATCH_PAGE,
};
pub const METRICS: Price = Price {
    what: "CloudWatch, metrics",
    per: 1.0,
    unit: "metric and month",
    tiers: &[(10_000.0, 0.30), (NO_END, 0.10)],
    source: CLOUDWATCH_PAGE,
};
pub const ALARM_METRICS: Price = Price {
    what: "CloudWatch, metrics that alarms read",
    per: 1.0,
    unit: "metric and month",
    tiers: &[(NO_END, 0.10)],
    source: CLOUDWATCH_PAGE,
};
pub const DASHBOARDS: Price = Price {
    what: "CloudWatch, dashboards",
    per: 1.0,
    unit: "dashboard and month",
    tiers: &[(NO_END, 3.00)],
    source: CLOUDWATCH_PAGE,
};
pub const DATA_OUT: Price = Price {
    what: "Data out to the internet, after the first 100 GB",
    per: GB,
    unit: "GB",
    tiers: &[(100.0, 0.0), (10_340.0, 0.09), (51_300.0, 0.085), (NO_END, 0.07)],
    source: TRANSFER_PAGE,
};
pub const TRACES: Price = Price {
    what: "X-Ray, traces recorded",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 5.00)],
    source: XRAY_PAGE,
};
pub const EDGE_REQUESTS: Price = Price {
    what: "CloudFront, HTTPS requests in North America and Europe",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 1.00)],
    source: CLOUDFRONT_PAGE,
};
pub const EDGE_DATA_OUT: Price = Price {
    what: "CloudFront, data out in North America and Europe",
    per: GB,
    unit: "GB",
    tiers: &[(10_240.0, 0.085), (NO_END, 0.08)],
    source: CLOUDFRONT_PAGE,
};
pub const FIREWALLS: Price = Price {
    what: "WAF, web ACLs",
    per: 1.0,
    unit: "ACL and month",
    tiers: &[(NO_END, 5.00)],
    source: WAF_PAGE,
};
pub const FIREWALL_RULES: Price = Price {
    what: "WAF, rules",
    per: 1.0,
    unit: "rule and month",
    tiers: &[(NO_END, 1.00)],
    source: WAF_PAGE,
};
pub const FIREWALL_REQUESTS: Price = Price {
    what: "WAF, requests",
    per: MILLION,
    unit: "million",
    tiers: &[(NO_END, 0.60)],
    source: WAF_PAGE,
};

/// Every price, in the order of the document.
pub const ALL: [Price; 18] = [
    API_REQUESTS,
    LAMBDA_REQUESTS,
    LAMBDA_TIME,
    READ_UNITS,
    WRITE_UNITS,
    STORAGE,
    BACKUP,
    LOGS,
    METRICS,
    ALARM_METRICS,
    DASHBOARDS,
    DATA_OUT,
    TRACES,
    EDGE_REQUESTS,
    EDGE_DATA_OUT,
    FIREWALLS,
    FIREWALL_RULES,
    FIREWALL_REQUESTS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_a_tier_costs_the_price_of_the_next() {
        let is_about = |dollars: f64, expected: f64| (dollars - expected).abs() < 1e-9;
        assert!(is_about(API_REQUESTS.of(1e6), 1.0) && is_about(API_REQUESTS.of(301e6), 300.9));
        assert!(is_about(DATA_OUT.of(100.0 * GB), 0.0) && is_about(DATA_OUT.of(101.0 * GB), 0.09));
        assert!(is_about(READ_UNITS.of(0.0), 0.0));
    }

    #[test]
    fn tiers_end_in_order_and_the_last_has_no_end() {
        for price in ALL {
            assert!(price.tiers.is_sorted_by(|(first, _), (second, _)| first < second));
            assert_eq!(price.tiers.last().unwrap().0, NO_END, "{}", price.what);
        }
    }
}
