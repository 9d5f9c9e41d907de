//! A carrier by its OCN, or carriers by words.

use numbering::records::Ocn;
use serde_json::Value;

use super::{
    Found, Params, ask, line, listed,
    page::{next, next_page, place, table},
    print, print_answer, shown, text, typed,
};
use crate::{
    LocalError,
    args::CarrierArgs,
    next_commands::quoted,
    numbering_data::on_routes,
    terminal::{HEADING, NO_BREAK, styled},
};

/// Prints the carrier with the OCN that was typed or, if there is none, the carriers with these words.
pub async fn carrier(args: CarrierArgs) -> Result<Found, LocalError> {
    let words = args.words.join(" ");
    let filters = [
        ("state", &args.state),
        ("country", &args.country),
        ("type", &args.carrier_type),
        ("limit", &args.page.limit),
        ("offset", &args.page.offset),
    ];
    let filters = typed(filters);
    if filters.is_empty() && words.parse::<Ocn>().is_ok() {
        return carrier_or_words(&args, &words).await;
    }
    let params: Params<'_> = [("q", words.as_str())].into_iter().chain(filters).collect();
    let write = |list: &Value| written_list(&args, list);
    let list = print_answer(&args.answer, "/v1/carriers", &params, write).await?;
    Ok(Found::in_list(&list["carriers"]))
}

/// A word of four letters may be an OCN, and the beginning of a name, too.
async fn carrier_or_words(args: &CarrierArgs, words: &str) -> Result<Found, LocalError> {
    let (answer, is_list) = on_routes(&args.answer.data, async |api| {
        let carrier = ask(api, "/v1/carrier", &vec![("ocn", words)]).await;
        let Err(LocalError::NotFound(message)) = carrier else { return Ok((carrier?, false)) };
        let list = ask(api, "/v1/carriers", &vec![("q", words)]).await?;
        if list.value["pagination"]["total"] == 0 {
            return Err(LocalError::NotFound(message));
        }
        Ok((list, true))
    })
    .await?;
    let write =
        |value: &Value| if is_list { written_list(args, value) } else { written(args, value) };
    print(args.answer.json, &answer, write)?;
    Ok(Found::Something)
}

fn written(args: &CarrierArgs, carrier: &Value) -> String {
    let ocn = text(&carrier["ocn"]);
    let exchanges = &carrier["exchanges"];
    let by_state = exchanges["by_state"].as_object();
    let mut states: Vec<(&String, u64)> = by_state
        .into_iter()
        .flatten()
        .map(|(state, count)| (state, count.as_u64().unwrap_or_default()))
        .collect();
    states.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let states = states.iter().map(|(state, count)| format!("{state}{NO_BREAK}{count}"));
    let states = states.collect::<Vec<_>>().join(", ");
    [
        format!("{}  {}\n", styled(HEADING, ocn), shown(&carrier["company_name"])),
        line("known as", listed([&carrier["common_name"]])),
        line("type", listed([&carrier["carrier_type"]])),
        line("place", listed([&carrier["state"], &carrier["country"]])),
        line("exchanges", shown(&exchanges["total"])),
        line("by state", states),
        "\n".to_owned(),
        next(&[args.answer.data.next().tnr(&format!("search --ocn {ocn}"))]),
    ]
    .concat()
}

fn written_list(args: &CarrierArgs, list: &Value) -> String {
    let carriers = list["carriers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let place = place(list, carriers.len());
    if carriers.is_empty() {
        return place;
    }
    let columns = [
        ("OCN", "ocn"),
        ("COMPANY", "company_name"),
        ("KNOWN AS", "common_name"),
        ("TYPE", "carrier_type"),
        ("STATE", "state"),
    ];
    let first = text(&carriers[0]["ocn"]);
    let tnr = |command: String| args.answer.data.next().tnr(&command);
    let page = next_page(list, carriers.len(), &command(args)).map(tnr);
    let of_first = [format!("carrier {first}"), format!("search --ocn {first}")].map(tnr);
    let commands: Vec<String> = page.into_iter().chain(of_first).collect();
    format!("{}\n{place}{}", table(&columns, carriers), next(&commands))
}

/// The command that was typed, without the part of the list that it shows.
fn command(args: &CarrierArgs) -> String {
    let filters =
        [("--state", &args.state), ("--country", &args.country), ("--type", &args.carrier_type)];
    let options =
        typed(filters).into_iter().map(|(name, value)| format!(" {name} {}", quoted(value)));
    let words = args.words.iter().map(|word| format!(" {}", quoted(word)));
    ["carrier".to_owned()].into_iter().chain(words).chain(options).collect()
}
