//! Exchanges by words and filters.

use serde_json::Value;

use super::{
    HOLDERS_AS_ASSIGNED, Params,
    page::{place, quoted, table},
    print_answer, text, typed,
};
use crate::{LocalError, args::SearchArgs};

/// Prints the exchanges that meet all conditions, page by page.
///
/// # Errors
/// Returns an error if no condition was typed or one is not understood, there is no data yet, or the
/// database cannot be used.
pub async fn search(args: SearchArgs) -> Result<(), LocalError> {
    let words = args.words.join(" ");
    let params: Params<'_> = [("q", words.as_str())]
        .into_iter()
        .chain(filters(&args))
        .chain(args.page.params())
        .collect();
    print_answer(&args.answer, "/v1/search", &params, |found| written(&args, found)).await
}

fn filters(args: &SearchArgs) -> Params<'_> {
    typed([
        ("npa", &args.npa),
        ("nxx", &args.nxx),
        ("ocn", &args.ocn),
        ("company", &args.company),
        ("rate_center", &args.rate_center),
        ("state", &args.state),
        ("country", &args.country),
        ("type", &args.carrier_type),
        ("status", &args.status),
    ])
}

fn written(args: &SearchArgs, answer: &Value) -> String {
    let found = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = args.words.iter().map(|word| format!(" {}", quoted(word)));
    let options = filters(args).into_iter();
    let options =
        options.map(|(name, value)| format!(" --{} {}", name.replace('_', "-"), quoted(value)));
    let command: String =
        ["tnr search".to_owned()].into_iter().chain(words).chain(options).collect();
    let place = place(answer, found.len(), &command);
    let Some(first) = found.first() else { return place };
    let columns = [
        ("NPA", "npa"),
        ("NXX", "nxx"),
        ("OCN", "ocn"),
        ("COMPANY", "company_name"),
        ("TYPE", "carrier_type"),
        ("RATE CENTER", "rate_center"),
        ("STATE", "state"),
        ("STATUS", "status"),
    ];
    let [npa, nxx] = ["npa", "nxx"].map(|name| text(&first[name]));
    let next = format!("Next: tnr area-code {npa} {nxx}\n");
    [table(&columns, found), "\n".to_owned(), HOLDERS_AS_ASSIGNED.to_owned(), place, next].concat()
}
