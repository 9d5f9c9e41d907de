//! What clients of the API are answered: a file for each endpoint, and one for each trait that
//! endpoints share.

mod authentication;
mod carriers;
mod events;
mod format;
mod gateway_paths;
mod lookup;
mod messy_numbers;
mod methods_and_unknown_paths;
mod npa;
mod openapi;
mod pagination;
mod quotas;
mod search;
mod serving_without_dynamodb;
mod status;
