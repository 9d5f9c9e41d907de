//! The fields of an answer: all that its type has, and those that a client asks for.
//!
//! The names come from the description of the type, so that no second list is kept.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::Error};
use serde_json::Value;
use shared::errors::{ApiError, quote};
use utoipa::{
    ToSchema,
    openapi::{RefOr, Schema},
};

/// Fields by their names, each with the fields in it. A field without any is kept as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, Fields>);

impl Fields {
    /// The fields of a type, and of the objects in it.
    pub fn of_type<T: ToSchema>() -> Self {
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

    /// Those of these fields that a comma-separated list of paths names; `None` if it is empty.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`], which lists all paths, if one is unknown.
    pub fn selected(&self, paths: &str) -> Result<Option<Self>, ApiError> {
        let mut selected = Self::default();
        for path in paths.split(',').map(str::trim).filter(|path| !path.is_empty()) {
            selected.merge(self.at(path).ok_or_else(|| self.unknown(path))?);
        }
        Ok(Some(selected).filter(|selected| *selected != Self::default()))
    }

    /// Nothing but the field at a path, with all that is in it.
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
        let message = format!("Unknown field '{}'; fields takes {}", quote(path), known.join(", "));
        ApiError::invalid(message)
    }

    /// The path of each field, with dots between the names, and the fields in it.
    fn paths(&self) -> Vec<(String, &Self)> {
        let mut paths = Vec::new();
        for (name, fields) in &self.0 {
            paths.push((name.clone(), fields));
            let inner = fields.paths().into_iter();
            paths.extend(inner.map(|(path, fields)| (format!("{name}.{path}"), fields)));
        }
        paths
    }

    /// The paths of the fields without any in them.
    pub fn leaves(&self) -> impl Iterator<Item = String> {
        let leaves = self.paths().into_iter().filter(|(_, fields)| fields.0.is_empty());
        leaves.map(|(path, _)| path)
    }

    /// Whether the field of this name, or a part of it, is among these.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// These fields in a field of others.
    pub fn within(self, mut others: Self, name: &str) -> Self {
        others.0.insert(name.to_owned(), self);
        others
    }

    /// Leaves only these fields in a value.
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

/// An answer with some of its fields, or with all.
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
