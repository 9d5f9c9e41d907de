//! The headers that connect spans of several services.

use std::fmt::{self, Display, Formatter};

const SAMPLED: u8 = 0b01;
/// The flags that are propagated: sampled, and random trace id (level 2 of the recommendation).
const KNOWN_FLAGS: u8 = 0b11;
/// The length of a version 00 header. Later versions may be longer.
const LENGTH: usize = 55;

/// A span's position in a trace ([W3C Trace Context](https://www.w3.org/TR/trace-context/)). Displays as `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    pub trace_id: u128,
    pub span_id: u64,
    flags: u8,
}

impl TraceContext {
    /// Parses a `traceparent` header; `None` if it is invalid, or if the trace id has only decimal digits and so may be
    /// a padded phone number. One in three million random ids does.
    pub fn parse(traceparent: &str) -> Option<Self> {
        let (known, rest) = traceparent.split_at_checked(LENGTH)?;
        let mut fields = known.split('-');
        let mut next = |digits| parse_hex(fields.next()?, digits);
        let (version, trace_id) = (next(2)?, next(32)?);
        let (span_id, flags) = (next(16)? as u64, next(2)? as u8 & KNOWN_FLAGS);
        let has_valid_end = rest.is_empty() || version > 0 && rest.starts_with('-');
        let has_letter = known[3..35].contains(|c: char| c.is_ascii_lowercase());
        (version != 0xff && has_letter && span_id != 0 && has_valid_end).then_some(Self {
            trace_id,
            span_id,
            flags,
        })
    }

    /// Parses Lambda's `X-Amzn-Trace-Id`; `None` unless X-Ray samples the trace. Lambda sends an unsampled id even if
    /// X-Ray is off, and a trace with such a parent would never be recorded.
    pub fn parse_xray(header: &str) -> Option<Self> {
        let field = |name: &str| header.split(';').find_map(|field| field.strip_prefix(name));
        field("Sampled=1")?;
        let (time, random) = field("Root=1-")?.split_once('-')?;
        Self::parse(&format!("00-{time}{random}-{}-01", field("Parent=")?))
    }

    /// Starts a trace.
    pub fn random() -> Self {
        Self { trace_id: rand::random(), span_id: random_span_id(), flags: SAMPLED }
    }

    /// A new span in the same trace.
    pub(crate) fn child(self) -> Self {
        Self { span_id: random_span_id(), ..self }
    }

    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The trace id as it appears in OpenTelemetry and logs.
    pub fn trace_id_hex(self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

impl Display for TraceContext {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { trace_id, span_id, flags } = self;
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

/// A span id; zero is invalid.
fn random_span_id() -> u64 {
    rand::random::<u64>().max(1)
}

fn parse_hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_valid = text.len() == digits && text.bytes().all(is_hex);
    is_valid.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn only_valid_traceparents_are_propagated_with_known_flags_and_a_new_span() {
        let changed = |from, to| VALID.replacen(from, to, 1);
        let with_flags = |flags| Some(changed("-01", flags));
        for (header, expected) in [
            (VALID.to_owned(), Some(VALID.to_owned())),
            (changed("-01", "-fe"), with_flags("-02")),
            (changed("00-", "cc-"), Some(VALID.to_owned())),
            (changed("00-", "01-") + "-more", Some(VALID.to_owned())),
            (changed("00-", "01-") + "x", None),
            (VALID.to_owned() + "-", None),
            (changed("00-", "ff-"), None),
            (changed("-01", ""), None),
            (changed("-01", "-0g"), None),
            (changed("-00f", "-+0f"), None),
            (changed("4b", "4B"), None),
            (changed("4b", "é"), None),
            (changed("-00f067aa0ba902b7", "-0000000000000000"), None),
            // These could be a phone number.
            (changed("4bf92f3577b34da6a3ce929d0e0e4736", &format!("{:032}", 3052345678u64)), None),
        ] {
            let parsed = TraceContext::parse(&header).map(|it| it.to_string());
            assert_eq!(parsed, expected, "{header}");
        }
        let parent = TraceContext::parse(VALID).unwrap();
        assert_eq!(TraceContext { span_id: parent.span_id, ..parent.child() }, parent);
        assert_ne!(parent.child(), parent);
    }

    #[test]
    fn only_sampled_xray_ids_are_parents() {
        let sampled = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a";
        let parsed = TraceContext::parse_xray(sampled).unwrap().to_string();
        assert_eq!(parsed, "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01");
        for (from, to) in
            [("Sampled=1", "Sampled=0"), ("Parent", "P"), ("Root=1-5759e988-", "Root=")]
        {
            assert_eq!(TraceContext::parse_xray(&sampled.replace(from, to)), None, "{from}");
        }
    }
}
