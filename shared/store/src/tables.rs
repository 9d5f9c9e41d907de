//! Table names. `template.yaml` defines the tables.

use std::{array, env};

use strum::{IntoStaticStr, VariantArray};

/// A table, whatever its name in a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Table {
    /// Carriers by `ocn`.
    Carriers,
    /// Exchanges and area codes by `npa_nxx`, such as `415#555` and `415`.
    Exchanges,
    /// The manifest and the chunks of each snapshot, by `id`.
    Dataset,
    /// Publications and the changes they made, by `code` and `entry`.
    History,
    /// API keys by `key_hash`.
    ApiKeys,
    /// Request counts by quota and hour, by `id`.
    Usage,
}

impl Table {
    /// The tables with one item per record.
    pub const LOOKUPS: [Self; 2] = [Self::Carriers, Self::Exchanges];

    /// The partition key.
    pub(crate) fn key_attribute(self) -> &'static str {
        match self {
            Self::Carriers => "ocn",
            Self::Exchanges => "npa_nxx",
            Self::Dataset | Self::Usage => "id",
            Self::History => "code",
            Self::ApiKeys => "key_hash",
        }
    }
}

/// The names of the tables in a deployment, in the order of [`Table`].
#[derive(Debug, Clone)]
pub struct Tables([String; Table::VARIANTS.len()]);

impl Tables {
    pub fn name(&self, table: Table) -> &str {
        &self.0[table as usize]
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The table names that `template.yaml` assigns in a stack.
    pub fn for_stack(stack: &str) -> Self {
        Self::with_names(|local_name| format!("{stack}-{local_name}"))
    }

    /// Reads the names from `CARRIERS_TABLE`, `EXCHANGES_TABLE`, `DATASET_TABLE`, `HISTORY_TABLE`, `API_KEYS_TABLE`
    /// and `USAGE_TABLE`. Unset variables default to the local names.
    pub fn from_env() -> Self {
        Self::with_names(|local_name| {
            let variable = format!("{}_TABLE", local_name.to_uppercase());
            env::var(variable).unwrap_or_else(|_| local_name.to_owned())
        })
    }

    fn with_names(name: impl Fn(&str) -> String) -> Self {
        Self(array::from_fn(|index| name(Table::VARIANTS[index].into())))
    }
}
