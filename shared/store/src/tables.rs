//! Table names. `template.yaml` defines the tables.

use std::env;

/// A table, whatever its name in a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    Carriers,
    /// Exchanges and area codes.
    Exchanges,
    Dataset,
    History,
    ApiKeys,
    Usage,
}

impl Table {
    /// The tables with one item per record.
    pub const LOOKUPS: [Self; 2] = [Self::Carriers, Self::Exchanges];

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

#[derive(Debug, Clone)]
pub struct Tables {
    /// Carriers by `ocn`.
    pub carriers: String,
    /// Exchanges and area codes by `npa_nxx`, such as `415#555` and `415`.
    pub exchanges: String,
    /// The manifest and the chunks of each snapshot, by `id`.
    pub dataset: String,
    /// Publications and the changes they made, by `code` and `entry`.
    pub history: String,
    /// API keys by `key_hash`.
    pub api_keys: String,
    /// Request counts by quota and hour, by `id`.
    pub usage: String,
}

impl Tables {
    pub(crate) fn name(&self, table: Table) -> &str {
        match table {
            Table::Carriers => &self.carriers,
            Table::Exchanges => &self.exchanges,
            Table::Dataset => &self.dataset,
            Table::History => &self.history,
            Table::ApiKeys => &self.api_keys,
            Table::Usage => &self.usage,
        }
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
        Self {
            carriers: name("carriers"),
            exchanges: name("exchanges"),
            dataset: name("dataset"),
            history: name("history"),
            api_keys: name("api_keys"),
            usage: name("usage"),
        }
    }
}
