//! Refuses query parameters that a route does not know, since a mistyped filter would otherwise be
//! answered as if it had not been given.

use std::collections::HashMap;

use axum::{
    extract::{MatchedPath, Request},
    http::Method,
};
use utoipa::openapi::{
    OpenApi, RefOr,
    path::{Operation, ParameterIn},
};

use crate::{
    errors::{ApiError, quote},
    http::methods::operations,
    params::API_KEY,
};

/// The query parameters of each operation, by its path and method. They come from its description, so
/// that each parameter is described.
pub struct KnownParams(HashMap<String, Vec<(Method, Vec<String>)>>);

impl KnownParams {
    /// The parameters of the routes that are described.
    pub fn of<'a>(descriptions: impl IntoIterator<Item = &'a OpenApi>) -> Self {
        let paths = descriptions.into_iter().flat_map(|description| &description.paths.paths);
        let by_method = paths.map(|(path, item)| {
            let described = operations(item);
            let params = described.map(|(method, operation)| (method, query_params(operation)));
            (path.clone(), params.collect())
        });
        Self(by_method.collect())
    }

    /// Refuses a request with a parameter that its route does not know.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`], which names the parameter.
    pub fn check(&self, request: &Request) -> Result<(), ApiError> {
        let route = request.extensions().get::<MatchedPath>();
        let by_method = route.and_then(|route| self.0.get(route.as_str()));
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let known = by_method.into_iter().flatten().find(|(described, _)| described == method);
        let query = request.uri().query().unwrap_or_default();
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        let Some((_, known)) = known else { return Ok(()) };
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(refusal("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }
}

fn query_params(operation: &Operation) -> Vec<String> {
    let described = operation.parameters.iter().flatten();
    let of_query = described.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
            Some(parameter.name.clone())
        }
        _ => None,
    });
    of_query.chain([API_KEY.to_owned()]).collect()
}

/// Refuses what is not among the `known` names of an `owner`, and says which was meant, if one is near.
pub fn refusal(kind: &str, unknown: &str, owner: &str, known: &[impl AsRef<str>]) -> ApiError {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let quoted = quote(unknown);
    ApiError::invalid(match nearest(&quoted, &known) {
        Some(near) => format!("Unknown {kind} '{quoted}'; the nearest known one is '{near}'"),
        None => format!("Unknown {kind} '{quoted}'; this {owner} knows {}", known.join(", ")),
    })
}

/// The known parameter that was probably meant: the case does not count, and at most a third of the
/// characters, and at least one, may be missing, wrong or swapped.
fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = unknown.to_lowercase();
    let distances =
        known.iter().map(|&name| (strsim::osa_distance(&lower, &name.to_lowercase()), name));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    let length = nearest.len().min(lower.chars().count());
    let is_near = distance <= (length / 3).max(1) && distance < length;
    is_near.then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 10] = [
        "country",
        "type",
        "q",
        "npa",
        "nxx",
        "rate_center",
        "defaultCountry",
        "limit",
        "offset",
        "apiKey",
    ];

    fn nearest_to(unknown: &str) -> Option<String> {
        nearest(unknown, &KNOWN).map(str::to_owned)
    }

    #[test]
    fn a_mistyped_name_is_near_to_the_one_that_was_meant() {
        for (unknown, meant) in [
            ("contry", "country"),
            ("tpye", "type"),
            ("defaultcountry", "defaultCountry"),
            ("APIKEY", "apiKey"),
            ("rateCentre", "rate_center"),
            ("nx", "nxx"),
            ("ofset", "offset"),
        ] {
            assert_eq!(nearest_to(unknown).as_deref(), Some(meant), "{unknown}");
        }
    }

    #[test]
    fn a_name_like_none_is_near_to_none() {
        for unknown in ["", "x", "page", "ocn", "pageSize", "sort", "\u{212a}"] {
            assert_eq!(nearest_to(unknown), None, "{unknown}");
        }
    }
}
