//! Item checksums. Each item has an attribute with a hash of its other attributes, so that readers detect damage.
//!
//! The embedded database stores items in a file without checksums, where a flipped bit could turn one carrier into
//! another. Checksums do not detect forgery.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use twox_hash::XxHash3_128;

/// An item's attributes by name.
pub(crate) type Item = HashMap<String, AttributeValue>;

pub(crate) fn text<'i>(item: &'i Item, name: &str) -> Option<&'i str> {
    item.get(name)?.as_s().ok().map(String::as_str)
}

/// A primary key with these attributes.
pub(crate) fn primary_key<const N: usize>(attributes: [(&str, String); N]) -> Item {
    attributes.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

pub(crate) const CHECKSUM: &str = "check";

/// The error for an item whose checksum is missing or wrong.
#[derive(Debug, thiserror::Error)]
#[error("its checksum does not match its attributes")]
pub(crate) struct ChecksumError;

/// Adds the checksum to an otherwise complete item.
pub(crate) fn seal(item: &mut Item) {
    item.remove(CHECKSUM);
    let checksum = compute(item);
    item.insert(CHECKSUM.to_owned(), checksum);
}

pub(crate) fn verify(item: &Item) -> Result<(), ChecksumError> {
    if item.get(CHECKSUM) == Some(&compute(item)) { Ok(()) } else { Err(ChecksumError) }
}

/// Computes the checksum of all other attributes. Null attributes count as missing, since tools that copy items
/// may drop or add them.
pub(crate) fn compute(item: &Item) -> AttributeValue {
    let mut bytes = Vec::new();
    write_attributes(
        &mut bytes,
        item.iter().filter(|(name, value)| *name != CHECKSUM && !value.is_null()),
    );
    let hash = XxHash3_128::oneshot(&bytes) as u64;
    AttributeValue::S(format!("{hash:016x}"))
}

/// Appends the attributes in name order.
fn write_attributes<'a>(
    bytes: &mut Vec<u8>,
    attributes: impl Iterator<Item = (&'a String, &'a AttributeValue)>,
) {
    let mut attributes: Vec<_> = attributes.collect();
    attributes.sort_by_key(|(name, _)| *name);
    write_length(bytes, attributes.len());
    for (name, value) in attributes {
        write_bytes(bytes, b'K', name.as_bytes());
        write_value(bytes, value);
    }
}

/// Appends a value with its type, so that different values never have the same encoding.
fn write_value(bytes: &mut Vec<u8>, value: &AttributeValue) {
    match value {
        AttributeValue::S(text) => write_bytes(bytes, b'S', text.as_bytes()),
        AttributeValue::N(number) => write_bytes(bytes, b'N', number.as_bytes()),
        AttributeValue::B(blob) => write_bytes(bytes, b'B', blob.as_ref()),
        AttributeValue::Bool(value) => bytes.extend([b'?', u8::from(*value)]),
        AttributeValue::Null(_) => bytes.push(b'0'),
        AttributeValue::L(values) => {
            bytes.push(b'L');
            write_length(bytes, values.len());
            values.iter().for_each(|value| write_value(bytes, value));
        }
        AttributeValue::M(attributes) => {
            bytes.push(b'M');
            write_attributes(bytes, attributes.iter());
        }
        // This service never writes sets.
        other => write_bytes(bytes, b'X', format!("{other:?}").as_bytes()),
    }
}

fn write_bytes(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.push(kind);
    write_length(bytes, content.len());
    bytes.extend_from_slice(content);
}

fn write_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;

    use super::*;

    fn value(text: &str) -> AttributeValue {
        AttributeValue::S(text.to_owned())
    }

    fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
        attributes.map(|(name, value)| (name.to_owned(), value)).into()
    }

    #[test]
    fn every_change_to_an_item_is_detected() {
        let record = item([
            ("name", value("Sample Broadband")),
            ("exchanges", AttributeValue::N("12".to_owned())),
            ("alias", AttributeValue::Null(true)),
        ]);
        let mut sealed = item([
            ("ocn", value("6010")),
            ("record", AttributeValue::M(record)),
            ("blocks", AttributeValue::L(vec![value("0"), AttributeValue::Bool(true)])),
            ("data", AttributeValue::B(Blob::new(*b"bytes"))),
        ]);
        seal(&mut sealed);
        verify(&sealed).unwrap();
        let check = |change: &dyn Fn(&mut Item)| {
            let mut changed = sealed.clone();
            change(&mut changed);
            assert!(verify(&changed).is_err(), "{changed:?}");
        };
        // Includes the checksum itself.
        for name in sealed.keys() {
            check(&|item| _ = item.remove(name));
            check(&|item| _ = item.insert(name.clone(), value("other")));
        }
        check(&|item| {
            let data = item.remove("data").unwrap();
            item.insert("date".to_owned(), data);
        });
        check(&|item| {
            let Some(AttributeValue::M(record)) = item.get_mut("record") else { panic!() };
            record.insert("name".to_owned(), value("Sample Broadbane"));
        });
    }
}
