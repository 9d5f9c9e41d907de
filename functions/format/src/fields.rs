//! Result fields that a client selects. Their names come from the type's schema.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer, ser::Error};
use serde_json::Value;
use shared::{
    errors::{ApiError, quote},
    params::Params,
};
use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

/// Dotted field paths. A path such as `carrier` includes all nested fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeSet<String>);

impl Fields {
    /// A type's fields, including nested ones.
    pub fn from_type<T: ToSchema>() -> Self {
        let mut schemas = Vec::new();
        T::schemas(&mut schemas);
        let mut fields = Self::default();
        fields.add("", &T::schema(), &schemas.into_iter().collect());
        fields
    }

    fn add(
        &mut self,
        prefix: &str,
        schema: &RefOr<Schema>,
        schemas: &BTreeMap<String, RefOr<Schema>>,
    ) {
        let parts = match schema {
            RefOr::Ref(reference) => {
                let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
                schemas.get(name).map(std::slice::from_ref).unwrap_or_default()
            }
            RefOr::T(Schema::Object(object)) => {
                for (name, schema) in &object.properties {
                    self.0.insert(format!("{prefix}{name}"));
                    self.add(&format!("{prefix}{name}."), schema, schemas);
                }
                return;
            }
            RefOr::T(Schema::OneOf(one)) => &one.items,
            RefOr::T(Schema::AllOf(all)) => &all.items,
            RefOr::T(_) => return,
        };
        parts.iter().for_each(|part| self.add(prefix, part, schemas));
    }

    pub fn select_from(&self, params: &Params) -> Result<Option<Self>, ApiError> {
        Ok(params.text("fields")?.map(|paths| self.select(&paths)).transpose()?.flatten())
    }

    /// Selects the fields in a comma-separated list of paths; `None` if the list is empty.
    pub fn select(&self, paths: &str) -> Result<Option<Self>, ApiError> {
        let mut selected = BTreeSet::new();
        for path in paths.split(',').map(str::trim).filter(|path| !path.is_empty()) {
            if !self.0.contains(path) {
                let known = self.0.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                let message = format!("Unknown field '{}'; the fields are {known}", quote(path));
                return Err(ApiError::invalid_param("fields", message));
            }
            let is_within = |known: &&String| *known == path || is_part_of(known, path);
            selected.extend(self.0.iter().filter(is_within).cloned());
        }
        Ok(Some(Self(selected)).filter(|selected| !selected.0.is_empty()))
    }

    pub fn leaves(&self) -> impl Iterator<Item = &str> {
        let has_parts = |path: &str| self.0.iter().any(|other| is_part_of(other, path));
        self.0.iter().map(String::as_str).filter(move |path| !has_parts(path))
    }

    /// Returns `true` if these include the field at this path, or a part of it.
    pub fn includes(&self, path: &str) -> bool {
        self.0.iter().any(|known| known == path || is_part_of(known, path))
    }

    pub fn without(mut self, path: &str) -> Self {
        self.0.retain(|known| known != path && !is_part_of(known, path));
        self
    }

    fn prune(&self, prefix: &str, value: &mut Value) {
        let Value::Object(object) = value else { return };
        object.retain(|name, value| {
            let path = format!("{prefix}{name}");
            if !self.0.contains(&path) {
                self.prune(&format!("{path}."), value);
            }
            self.includes(&path)
        });
    }
}

/// Returns `true` if the field at `path` is nested in the one at `parent`.
fn is_part_of(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'))
}

pub struct WithFields<'a, T> {
    pub value: T,
    pub fields: Option<&'a Fields>,
}

impl<T: Serialize> Serialize for WithFields<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.fields else { return self.value.serialize(serializer) };
        let mut value = serde_json::to_value(&self.value).map_err(S::Error::custom)?;
        fields.prune("", &mut value);
        value.serialize(serializer)
    }
}
