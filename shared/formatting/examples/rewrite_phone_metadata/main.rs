//! Writes `src/phone_metadata.bin` and `src/first_digits.bin` from the metadata in the current version of
//! `rlibphonenumber`:
//!
//! ```sh
//! cargo run -p formatting --example rewrite_phone_metadata -- \
//!   ~/.cargo/registry/src/*/rlibphonenumber-2.2.15/src/generated/metadata/metadata.bin
//! ```
//!
//! The crate's patterns contain `\d`, which the regex crate reads as any Unicode digit. Compiled, that takes ten
//! times as much memory as `[0-9]`. Digits are normalized before matching, so this changes only memory use and
//! speed. The second file rules out patterns by a number's first two digits.

#![expect(deprecated, reason = "the fields are only shadowed inside the crate's own wrapper")]

mod first_digits;

use std::{env, error::Error, fs};

use prost::Message;
use rlibphonenumber::{NumberFormat, PhoneMetadata, PhoneMetadataCollection, PhoneNumberDesc};

const METADATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/phone_metadata.bin");
const FIRST_DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/first_digits.bin");

fn main() -> Result<(), Box<dyn Error>> {
    let source = env::args().nth(1).ok_or("no file given; pass the crate's metadata.bin")?;
    let mut collection = PhoneMetadataCollection::decode(fs::read(source)?.as_slice())?;
    collection.metadata.iter_mut().for_each(rewrite_metadata);
    fs::write(METADATA, collection.encode_to_vec())?;
    fs::write(FIRST_DIGITS, first_digits::file(&collection))?;
    Ok(())
}

fn rewrite(pattern: &mut String) {
    *pattern = pattern.replace(r"\d", "[0-9]");
}

fn rewrite_metadata(metadata: &mut PhoneMetadata) {
    let descriptions: [&mut Option<PhoneNumberDesc>; 17] = [
        &mut metadata.general_desc,
        &mut metadata.fixed_line,
        &mut metadata.mobile,
        &mut metadata.toll_free,
        &mut metadata.premium_rate,
        &mut metadata.shared_cost,
        &mut metadata.personal_number,
        &mut metadata.voip,
        &mut metadata.pager,
        &mut metadata.uan,
        &mut metadata.emergency,
        &mut metadata.voicemail,
        &mut metadata.short_code,
        &mut metadata.standard_rate,
        &mut metadata.carrier_specific,
        &mut metadata.sms_services,
        &mut metadata.no_international_dialling,
    ];
    let patterns = descriptions.into_iter().flatten();
    patterns.flat_map(|description| &mut description.national_number_pattern).for_each(rewrite);
    let patterns = [
        &mut metadata.international_prefix,
        &mut metadata.national_prefix_for_parsing,
        &mut metadata.leading_digits,
    ];
    patterns.into_iter().flatten().for_each(rewrite);
    let formats = metadata.number_format.iter_mut().chain(&mut metadata.intl_number_format);
    formats.for_each(|NumberFormat { pattern, leading_digits_pattern, .. }| {
        rewrite(pattern);
        leading_digits_pattern.iter_mut().for_each(rewrite);
    });
}
