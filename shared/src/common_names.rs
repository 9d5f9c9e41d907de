//! Everyday names in lists of exchanges, on request.

use numbering::records::{Carrier, Ocn};
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

impl IncludeCommonName {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        Ok(Self(params.parse_variant::<ExchangeField>("include")?.is_some()))
    }

    /// The everyday name of a holder, if it has one; `None` unless it was requested.
    pub fn name_of(
        &self,
        holder: Option<Ocn>,
        find: impl FnOnce(Ocn) -> Option<Carrier>,
    ) -> Option<Option<String>> {
        self.0.then(|| holder.and_then(find)?.common_name)
    }
}
