//! A format result, and the conditions for each part to be present.

use flags::FlagKind;
use formatting::{DefaultCountry, Formats, NumberType, Verdict};
use numbering::records::{Country, Npa, Nxx};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    block::{Block, CarrierInfo, Location},
    extras::{
        Assignment, CallingHours, LineInfo, NetworkInfo, PlaceInfo, ReasonInfo, TimeZoneInfo,
    },
};

/// A phone number's details. For unparseable text, only `valid`, `possible` and `input` are present.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatResult {
    /// `true` if the number is a valid phone number.
    pub valid: bool,
    /// `true` if the number's length makes it a possible number.
    pub possible: bool,
    /// The parsed number in E.164, after any caller ID code or trunk access digit, as in `*67+13052345678`; the text as
    /// sent if it cannot be parsed.
    #[schema(example = "+13052345678")]
    pub input: String,
    /// Country calling code without the plus sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[1-9][0-9]{0,2}$", example = "1")]
    pub(crate) country_code: Option<String>,
    /// Country calling code with the plus sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = r"^\+[1-9][0-9]{0,2}$", example = "+1")]
    pub(crate) country_calling_code: Option<String>,
    /// ISO 3166-1 alpha-2 code; absent if the number does not belong to a country. US territories have their own
    /// codes, such as `PR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DefaultCountry>, nullable = false)]
    pub(crate) country: Option<String>,
    /// National number without the country code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9]{1,17}$", example = "3052345678")]
    pub(crate) national_number: Option<String>,
    /// Area code: the first 3 digits. Ten-digit North American numbers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) npa: Option<Npa>,
    /// Exchange code: the middle 3 digits. Ten-digit North American numbers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) nxx: Option<Nxx>,
    /// Subscriber number: the last 4 digits. Ten-digit North American numbers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9]{4}$", example = "5678")]
    pub(crate) nxxx: Option<String>,
    /// The extension's digits, if the number has an extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9]{1,20}$", example = "42")]
    pub(crate) extension: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) formats: Option<Formats>,
    /// Absent if no pattern in Google's rules matches.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) number_type: Option<NumberType>,
    /// Human-readable type.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Landline or Mobile")]
    pub(crate) type_description: Option<&'static str>,
    /// Absent if the number does not belong to a country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) location: Option<Location>,
    /// The carrier that the number's block is assigned to; absent if nobody holds the block. The number may have been
    /// ported since; open data does not show porting.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) carrier: Option<CarrierInfo>,
    /// Present only for valid numbers that belong to a country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) flags: Option<Flags>,
    /// `true` if the number is not tied to a place, such as a toll-free number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) is_non_geographic: Option<bool>,
    /// The verdict on the text. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) verdict: Option<Verdict>,
    /// The reason why the text is not a single valid number; `null` if it is. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReasonInfo>)]
    pub(crate) reason: Option<Option<ReasonInfo>>,
    /// The number's likely line type, and its carrier's everyday name; `null` if the text cannot be parsed. Present
    /// only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LineInfo>)]
    pub(crate) line: Option<Option<LineInfo>>,
    /// The number's assignment in the numbering plan; `null` if the text is not a complete number. `valid` is what
    /// Google's rules say. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Assignment>)]
    pub(crate) assignment: Option<Option<Assignment>>,
    /// The IANA time zones where the number may be, with their local time now; `null` if they are unknown, or the
    /// number is not tied to a place. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<TimeZoneInfo>>)]
    pub(crate) time_zones: Option<Option<Vec<TimeZoneInfo>>>,
    /// The hours when the number's country allows telemarketing calls; `null` if it has no time zones, and for
    /// countries whose rule is not on file. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CallingHours>)]
    pub(crate) calling_hours: Option<Option<CallingHours>>,
    /// The city or region where the number may be; `null` if it is unknown, or the number does not belong to a place.
    /// Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlaceInfo>)]
    pub(crate) place: Option<Option<PlaceInfo>>,
    /// The mobile network that the number's range was first assigned to; `null` if it is unknown, the number is not a
    /// mobile number, or it is in the US or Canada, where `carrier` has the holder. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NetworkInfo>)]
    pub(crate) network: Option<Option<NetworkInfo>>,
}

/// The flags of the number's country and state.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flags {
    country: Flag,
    /// US states, DC and territories only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    state: Option<Flag>,
}

/// Links to a flag's images.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flag {
    /// Country or state name.
    #[schema(example = "Florida")]
    name: &'static str,
    /// Country or state code.
    #[schema(pattern = "^[A-Z]{2}$", example = "FL")]
    abbreviation: String,
    #[schema(format = "uri")]
    svg: String,
    png: Pngs,
}

/// Links to a flag's PNG images.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pngs {
    /// 48x32 pixels.
    #[schema(format = "uri")]
    small: String,
    /// 240x160 pixels.
    #[schema(format = "uri")]
    medium: String,
    /// 480x320 pixels.
    #[schema(format = "uri")]
    large: String,
}

impl Flags {
    /// The flags for a country and, if the block is in the US, for its state.
    pub(super) fn new(base_url: &str, code: &str, name: &'static str, block: &Block) -> Self {
        let flag = |subject, name, abbreviation: String| {
            let [svg, small, medium, large] = flags::urls(base_url, subject, &abbreviation);
            Flag { name, abbreviation, svg, png: Pngs { small, medium, large } }
        };
        let state = block.state.filter(|state| state.country() == Country::Us);
        Self {
            country: flag(FlagKind::Country, name, code.to_owned()),
            state: state.map(|state| flag(FlagKind::State, state.name(), state.to_string())),
        }
    }
}

impl FormatResult {
    /// Replaces the reason why the text is not a single valid number.
    pub fn with_reason(self, reason: ReasonInfo) -> Self {
        Self { reason: Some(Some(reason)), ..self }
    }

    /// Adds the verdict on the text.
    pub fn with_verdict(self, verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..self }
    }

    /// Removes an invalid number's formats, so that they are not mistaken for a valid number.
    pub fn without_invalid_formats(self) -> Self {
        Self { formats: self.formats.filter(|_| self.valid), ..self }
    }
}
