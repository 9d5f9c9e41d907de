//! The choice of traces to record.

use std::str::FromStr;

use crate::TraceContext;

/// A sampler of the [OpenTelemetry SDKs].
///
/// [OpenTelemetry SDKs]: https://opentelemetry.io/docs/languages/sdk-configuration/general/#otel_traces_sampler
#[derive(Debug, Clone, Copy)]
pub struct Sampler {
    /// `true` to follow the caller's choice, if any.
    is_parent_based: bool,
    /// The part of the other traces to record, from 0 to 1.
    ratio: f64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { is_parent_based: true, ratio: 1.0 }
    }
}

impl Sampler {
    /// The sampler with this name. The argument is a ratio, 1 by default. `None` if either is invalid.
    pub fn from_name(name: &str, argument: Option<&str>) -> Option<Self> {
        let root = name.strip_prefix("parentbased_");
        let ratio = match root.unwrap_or(name) {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => argument.map_or(Ok(1.0), f64::from_str).ok()?,
            _ => return None,
        };
        let is_valid = (0.0..=1.0).contains(&ratio);
        is_valid.then_some(Self { is_parent_based: root.is_some(), ratio })
    }

    /// Returns `true` if the trace should be recorded. Services with the same ratio choose the same traces.
    pub(crate) fn samples(self, caller: Option<TraceContext>, trace_id: u128) -> bool {
        match caller {
            Some(caller) if self.is_parent_based => caller.is_sampled(),
            _ => self.ratio >= 1.0 || (trace_id as u64 as f64) < self.ratio * 2f64.powi(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_follow_the_caller_or_the_ratio() {
        let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let (caller, half) = (TraceContext::parse(unsampled), (u64::MAX / 2).into());
        for (name, argument, caller, trace_id, expected) in [
            ("always_on", None, caller, u128::MAX, Some(true)),
            ("always_off", None, None, 0, Some(false)),
            ("parentbased_always_on", None, caller, 0, Some(false)),
            ("traceidratio", Some("0.6"), caller, half, Some(true)),
            ("parentbased_traceidratio", Some("0.4"), None, half, Some(false)),
            ("traceidratio", Some("2"), None, 0, None),
            ("xray", None, None, 0, None),
        ] {
            let sampler = Sampler::from_name(name, argument);
            let found = sampler.map(|sampler| sampler.samples(caller, trace_id));
            assert_eq!(found, expected, "{name} {argument:?}");
        }
    }
}
