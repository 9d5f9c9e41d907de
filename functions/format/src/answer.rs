//! The format result (spec 2.5): which parts are present when, and where each comes from.

use formatting::{Formats, LONGEST_INPUT, NumberType, PhoneNumber, country_name};
use jiff::civil::Date;
use numbering::records::Country;
use serde::Serialize;
use utoipa::ToSchema;

use super::block::{Block, BlockRecords, CarrierInfo, Location, NanpParts};

/// What a phone number is. An unparseable one has only `valid`, `possible` and `input`.
#[derive(Debug, Serialize, ToSchema)]
pub struct FormatResult {
    /// Whether the number is a valid phone number.
    pub valid: bool,
    /// Whether the number could be valid, by its length.
    pub possible: bool,
    /// The number as it was understood: E.164, or the text given where it cannot be parsed.
    pub input: String,
    #[serde(flatten)]
    pub number: Option<Described>,
}

/// The description of a number that could be parsed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Described {
    /// Country calling code without the plus sign.
    #[schema(example = "1")]
    country_code: String,
    /// Country calling code with the plus sign.
    #[schema(example = "+1")]
    country_calling_code: String,
    /// ISO 3166-1 alpha-2 code; absent for numbers of no country.
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    /// National number without country code.
    national_number: String,
    #[serde(flatten)]
    nanp: Option<NanpParts>,
    /// Present only where the number has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<String>,
    formats: Formats,
    /// Absent where no pattern fits.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    number_type: Option<NumberType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    type_description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    carrier: Option<CarrierInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Flags>,
    /// Whether the number is non-geographic: toll-free and the like.
    is_non_geographic: bool,
}

/// The flags of the number's country and state.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flags {
    country: Flag,
    /// US states, DC and territories only.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Flag>,
}

/// Links to the images of one flag.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flag {
    name: &'static str,
    abbreviation: String,
    svg: String,
    png: Pngs,
}

/// Links to the images of one flag as PNG.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pngs {
    /// 48x32 pixels.
    small: String,
    /// 240x160 pixels.
    medium: String,
    /// 480x320 pixels.
    large: String,
}

impl Flag {
    fn new(base_url: &str, folder: &str, name: &'static str, abbreviation: String) -> Self {
        let url = |rest: &str| format!("{base_url}/{folder}/{abbreviation}{rest}");
        let png = Pngs {
            small: url("-48x32.png"),
            medium: url("-240x160.png"),
            large: url("-480x320.png"),
        };
        Self { name, svg: url(".svg"), png, abbreviation }
    }
}

impl FormatResult {
    /// The result for text that cannot be parsed.
    pub(super) fn unparseable(tn: &str) -> Self {
        let input = tn.chars().take(LONGEST_INPUT).collect();
        Self { valid: false, possible: false, input, number: None }
    }

    /// The result for a number and its numbering data.
    pub(super) fn of(
        number: PhoneNumber,
        records: BlockRecords,
        today: Date,
        flags_base_url: &str,
    ) -> Self {
        let country = number.country.as_deref().and_then(|code| Some((code, country_name(code)?)));
        let block = Block::of(&number, records, today);
        let location = country.and_then(|(code, _)| Location::of(code, &block));
        let flags = country.filter(|_| number.valid).map(|(code, name)| Flags {
            country: Flag::new(flags_base_url, "countries", name, code.to_owned()),
            state: block.state.filter(|&(_, country)| country == Country::Us).map(|(state, _)| {
                Flag::new(flags_base_url, "states", state.name(), state.to_string())
            }),
        });
        Self {
            valid: number.valid,
            possible: number.possible,
            input: number.formats.e164.clone(),
            number: Some(Described {
                country_code: number.country_calling_code.to_string(),
                country_calling_code: format!("+{}", number.country_calling_code),
                nanp: NanpParts::of(&number),
                type_description: number.number_type.map(NumberType::description),
                location,
                carrier: block.carrier,
                flags,
                country: number.country,
                national_number: number.national_number,
                extension: number.extension,
                formats: number.formats,
                number_type: number.number_type,
                is_non_geographic: number.is_non_geographic,
            }),
        }
    }
}
