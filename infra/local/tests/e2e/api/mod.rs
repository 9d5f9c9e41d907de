//! What clients of the API are answered: a file for each endpoint, and one for each trait that
//! endpoints share.

mod authentication;
mod batch_quotas;
mod broken_bodies;
mod carriers;
mod compression;
mod conditional_requests;
mod cors;
mod csv_lists;
mod events;
mod flags;
mod format;
mod format_many;
mod format_on_request;
mod format_tables;
mod gateway_paths;
mod gateway_prefixes;
mod iam_requests;
mod in_process;
mod lookup;
mod mcp;
mod messy_numbers;
mod methods_and_unknown_paths;
mod npa;
mod openapi;
mod origin_secret;
mod pagination;
mod problem_details;
mod quotas;
mod response_headers;
mod search;
mod serving_without_dynamodb;
mod site;
mod status;
mod trailing_slashes;
mod unknown_parameters;
