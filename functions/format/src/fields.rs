//! The fields of an answer: all of them, and those a client requests.
//!
//! Names come from the type's schema, so there is no second list to maintain.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::Error};
use serde_json::Value;
use shared::errors::{ApiError, quote};
use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

/// Fields by name, each with its nested fields. A field without nested fields is kept whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, Fields>);

impl Fields {
    /// The fields of a type, including nested objects.
    pub fn from_type<T: ToSchema>() -> Self {
        let mut schemas = Vec::new();
        T::schemas(&mut schemas);
        Self::in_schema(&T::schema(), &schemas.into_iter().collect())
    }

    fn in_schema(schema: &RefOr<Schema>, schemas: &BTreeMap<String, RefOr<Schema>>) -> Self {
        let in_any = |parts: &[RefOr<Schema>]| {
            let mut fields = Self::default();
            parts.iter().for_each(|part| fields.merge(Self::in_schema(part, schemas)));
            fields
        };
        match schema {
            RefOr::Ref(reference) => {
                let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
                let referred = schemas.get(name);
                referred.map_or_else(Self::default, |schema| Self::in_schema(schema, schemas))
            }
            RefOr::T(Schema::Object(object)) => {
                let properties = object.properties.iter();
                let fields = properties
                    .map(|(name, schema)| (name.clone(), Self::in_schema(schema, schemas)));
                Self(fields.collect())
            }
            RefOr::T(Schema::OneOf(one)) => in_any(&one.items),
            RefOr::T(Schema::AllOf(all)) => in_any(&all.items),
            RefOr::T(_) => Self::default(),
        }
    }

    /// Selects fields by a comma-separated list of paths; `None` if the list is empty.
    pub fn selected(&self, paths: &str) -> Result<Option<Self>, ApiError> {
        let mut selected = Self::default();
        for path in paths.split(',').map(str::trim).filter(|path| !path.is_empty()) {
            selected.merge(self.at(path).ok_or_else(|| self.unknown(path))?);
        }
        Ok(Some(selected).filter(|selected| *selected != Self::default()))
    }

    /// Only the field at a path, with everything in it.
    fn at(&self, path: &str) -> Option<Self> {
        let (name, rest) = match path.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        let field = self.0.get(name)?;
        let field = rest.map_or_else(|| Some(field.clone()), |rest| field.at(rest))?;
        Some(Self([(name.to_owned(), field)].into()))
    }

    fn merge(&mut self, other: Self) {
        for (name, fields) in other.0 {
            self.0.entry(name).or_default().merge(fields);
        }
    }

    fn unknown(&self, path: &str) -> ApiError {
        let known: Vec<String> = self.paths().into_iter().map(|(path, _)| path).collect();
        let message =
            format!("Unknown field '{}'; the fields are {}", quote(path), known.join(", "));
        ApiError::invalid(message)
    }

    /// Each field's dotted path and nested fields.
    fn paths(&self) -> Vec<(String, &Self)> {
        let mut paths = Vec::new();
        for (name, fields) in &self.0 {
            paths.push((name.clone(), fields));
            let inner = fields.paths().into_iter();
            paths.extend(inner.map(|(path, fields)| (format!("{name}.{path}"), fields)));
        }
        paths
    }

    /// The paths of fields without nested fields.
    pub fn leaves(&self) -> impl Iterator<Item = String> {
        let leaves = self.paths().into_iter().filter(|(_, fields)| fields.0.is_empty());
        leaves.map(|(path, _)| path)
    }

    /// Returns true if these include the field of this name, or part of it.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Nests these fields in a field of `others`.
    pub fn within(self, mut others: Self, name: &str) -> Self {
        others.0.insert(name.to_owned(), self);
        others
    }

    /// Removes all other fields from a value.
    fn prune(&self, value: &mut Value) {
        let Value::Object(object) = value else { return };
        if self.0.is_empty() {
            return;
        }
        object.retain(|name, value| {
            let fields = self.0.get(name);
            fields.inspect(|fields| fields.prune(value)).is_some()
        });
    }
}

/// An answer with all or some of its fields.
pub struct Thinned<'a, T> {
    pub answer: &'a T,
    pub fields: Option<&'a Fields>,
}

impl<T: Serialize> Serialize for Thinned<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.fields else { return self.answer.serialize(serializer) };
        let mut value = serde_json::to_value(self.answer).map_err(S::Error::custom)?;
        fields.prune(&mut value);
        value.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{FormatResult, LookupResult};

    #[test]
    fn selected_parts_are_complete_and_keep_the_answers_order() {
        let thinned = |answer: &Value, paths: &str| {
            let fields = Fields::from_type::<FormatResult>().selected(paths).unwrap();
            serde_json::to_string(&Thinned { answer, fields: fields.as_ref() }).unwrap()
        };
        let full = json!({
            "valid": true,
            "input": "+13052345678",
            "formats": { "e164": "+13052345678", "national": "(305) 234-5678" },
            "carrier": { "ocn": "5927", "name": null },
            "flags": { "country": { "name": "United States", "svg": "/US.svg" } },
            "reason": null
        });
        let expected = json!({
            "valid": true,
            "formats": { "e164": "+13052345678", "national": "(305) 234-5678" },
            "carrier": { "name": null },
            "flags": { "country": { "svg": "/US.svg" } },
            "reason": null
        });
        for paths in [
            "carrier.name, formats ,valid,formats.e164,reason.code,flags.country.svg",
            "flags.country.svg,reason,formats.e164,formats,valid,carrier.name,npa",
        ] {
            assert_eq!(thinned(&full, paths), expected.to_string(), "{paths}");
        }
        assert_eq!(thinned(&full, "location.state"), "{}");
        assert_eq!(thinned(&full, " ,"), full.to_string());
    }

    #[test]
    fn unknown_field_is_refused_with_the_known_ones() {
        let fields = Fields::from_type::<LookupResult>();
        for unknown in ["owner", "carrier.owner", "tn.digits", "carrier.", ".", "Carrier", "valid"]
        {
            let refused = fields.selected(&format!("tn,{unknown}")).unwrap_err().body();
            let message = format!(
                "Unknown field '{unknown}'; the fields are carrier, carrier.name, carrier.ocn, \
                 carrier.type, location, location.country, location.countryName, \
                 location.rateCenter, location.state, location.stateName, npa, nxx, nxxx, status, tn"
            );
            assert_eq!(refused.message(), message);
        }
        assert_eq!(fields.selected(" ,").unwrap(), None);
    }
}
