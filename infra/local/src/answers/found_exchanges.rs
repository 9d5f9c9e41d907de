//! Exchanges by words and filters.

use serde_json::Value;

use super::{
    Found, HOLDERS_AS_ASSIGNED, Params,
    page::{next, next_page, place, table},
    print_answer, text, typed,
};
use crate::{LocalError, args::SearchArgs, next_commands::quoted};

/// Prints the exchanges that meet all conditions, page by page.
pub async fn search(args: SearchArgs) -> Result<Found, LocalError> {
    let words = args.words.join(" ");
    let params: Params<'_> = [("q", words.as_str())]
        .into_iter()
        .chain(filters(&args))
        .chain(args.page.params())
        .collect();
    let write = |answer: &Value| written(&args, answer);
    let answer = print_answer(&args.answer, "/v1/search", &params, write).await?;
    Ok(Found::in_list(&answer["results"]))
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
    let place = place(answer, found.len());
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
    let tnr = |command: String| args.answer.data.next().tnr(&command);
    let page = next_page(answer, found.len(), &command(args)).map(tnr);
    let commands: Vec<String> =
        page.into_iter().chain([tnr(format!("area-code {npa} {nxx}"))]).collect();
    [
        table(&columns, found),
        "\n".to_owned(),
        HOLDERS_AS_ASSIGNED.to_owned(),
        place,
        next(&commands),
    ]
    .concat()
}

/// The command that was typed, without the part of the list that it shows.
fn command(args: &SearchArgs) -> String {
    let words = args.words.iter().map(|word| format!(" {}", quoted(word)));
    let options = filters(args).into_iter();
    let options =
        options.map(|(name, value)| format!(" --{} {}", name.replace('_', "-"), quoted(value)));
    ["search".to_owned()].into_iter().chain(words).chain(options).collect()
}
