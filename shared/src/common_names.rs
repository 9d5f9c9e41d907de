//! Everyday names in lists of exchanges, on request.

use std::collections::BTreeMap;

use numbering::records::{Carrier, Exchange, Ocn};
use strum::{EnumString, VariantNames};
use utoipa::{IntoParams, ToSchema};

use crate::{errors::ApiError, params::Params};

/// An optional field of an exchange.
#[derive(Debug, Clone, Copy, EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[schema(rename_all = "snake_case")]
pub enum ExchangeField {
    CommonName,
}

/// Optional fields of exchanges.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, names("include"))]
pub struct IncludeCommonName(
    /// `common_name` adds the everyday name of each exchange's holder.
    #[param(value_type = Option<ExchangeField>, inline)]
    pub bool,
);

/// The everyday names of holders that have one.
#[derive(Debug)]
pub struct CommonNames(BTreeMap<Ocn, String>);

impl IncludeCommonName {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        Ok(Self(params.parse_variant::<ExchangeField>("include")?.is_some()))
    }

    /// The names of these exchanges' holders; `None` unless they were requested.
    pub fn names_of(
        &self,
        exchanges: &[Exchange],
        find: impl Fn(Ocn) -> Option<Carrier>,
    ) -> Option<CommonNames> {
        let carriers = || exchanges.iter().filter_map(|exchange| find(exchange.ocn?));
        let name = |Carrier { ocn, common_name, .. }| Some((ocn, common_name?));
        self.0.then(|| CommonNames(carriers().filter_map(name).collect()))
    }
}

impl CommonNames {
    pub fn get(&self, ocn: Option<Ocn>) -> Option<String> {
        self.0.get(&ocn?).cloned()
    }
}
