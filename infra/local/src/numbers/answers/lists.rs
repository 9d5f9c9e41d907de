//! Carriers and exchanges, as lists, and single carriers by OCN.

use std::process::ExitCode;

use indicatif::HumanCount;
use numbering::records::{Ocn, StateCode};
use serde_json::Value;

use super::{
    Params, ask, exit_code_of_list, line, listed,
    page::{ListPage, next},
    print, print_answer, shown, text, typed,
};
use crate::{
    CliError,
    data::numbering_data::on_routes,
    numbers::args::{AreaCodeArgs, CarrierArgs, SearchArgs},
    terminal::{HEADING, NO_BREAK_SPACE, next_commands::NextCommands, styled},
};

/// The note below exchange holders.
const LIST_PORTING_NOTE: &str =
    "Holders as assigned; numbers may have been ported to other carriers.\n";

/// Prints an area code's exchanges page by page, or one of them.
pub async fn area_code(args: AreaCodeArgs) -> Result<ExitCode, CliError> {
    let mut params = vec![("npa", args.npa.as_str())];
    params.extend(typed([("nxx", &args.nxx)]));
    params.extend(args.page.params());
    print_answer(&args.answer, "/v1/npa", &params, |answer| written_area_code(&args, answer))
        .await?;
    Ok(ExitCode::SUCCESS)
}

fn written_area_code(args: &AreaCodeArgs, answer: &Value) -> String {
    let npa = text(&answer["npa"]);
    let total = HumanCount(answer["total_exchanges"].as_u64().unwrap_or_default());
    let state = text(&answer["state"]).parse::<StateCode>();
    let state = state.map_or_else(|_| String::new(), |state| format!("{}, ", state.name()));
    let npa_shown = styled(HEADING, npa);
    let heading = format!("{npa_shown}  {state}{}; {total} exchanges\n", shown(&answer["country"]));
    let columns = &["nxx", "ocn", "company_name", "rate_center", "status"];
    let mut page = ListPage::new(answer, "exchanges", columns, LIST_PORTING_NOTE);
    if args.nxx.is_some() {
        // A single exchange has no pages.
        page.pagination = &Value::Null;
    }
    let Some(first) = page.rows.first() else {
        let is_beyond = page.pagination["total"] != 0;
        return if is_beyond { heading + &page.place() } else { heading };
    };
    let exchange = args.nxx.is_none().then(|| format!("area-code {npa} {}", text(&first["nxx"])));
    let carrier = page.rows.iter().find_map(|exchange| exchange["ocn"].as_str());
    let carrier = carrier.map(|ocn| format!("carrier {ocn}"));
    let below = page.below(&args.answer.data.next(), exchange.into_iter().chain(carrier));
    [heading, "\n".to_owned(), page.table(), "\n".to_owned(), below].concat()
}

/// Prints matching exchanges page by page.
pub async fn search(args: SearchArgs) -> Result<ExitCode, CliError> {
    let words = args.words.join(" ");
    let mut params = vec![("q", words.as_str())];
    params.extend(typed([
        ("npa", &args.npa),
        ("nxx", &args.nxx),
        ("ocn", &args.ocn),
        ("company", &args.company),
        ("rate_center", &args.rate_center),
        ("state", &args.state),
        ("country", &args.country),
        ("type", &args.carrier_type),
        ("status", &args.status),
    ]));
    params.extend(args.page.params());
    let write = |answer: &Value| {
        let columns = "npa nxx ocn company_name carrier_type rate_center state status";
        let columns: Vec<&str> = columns.split(' ').collect();
        let page = ListPage::new(answer, "results", &columns, LIST_PORTING_NOTE);
        page.written(&args.answer.data.next(), |first| {
            vec![format!("area-code {} {}", text(&first["npa"]), text(&first["nxx"]))]
        })
    };
    let answer = print_answer(&args.answer, "/v1/search", &params, write).await?;
    Ok(exit_code_of_list(&answer["results"]))
}

/// Prints the carrier with the typed OCN, or else carriers by name.
pub async fn carrier(args: CarrierArgs) -> Result<ExitCode, CliError> {
    let words = args.words.join(" ");
    let mut filters =
        typed([("state", &args.state), ("country", &args.country), ("type", &args.carrier_type)]);
    filters.extend(args.page.params());
    if filters.is_empty() && words.parse::<Ocn>().is_ok() {
        return carrier_or_words(&args, &words).await;
    }
    let params: Params<'_> = [("q", words.as_str())].into_iter().chain(filters).collect();
    let next = args.answer.data.next();
    let write = |list: &Value| written_carriers(list, &next);
    let list = print_answer(&args.answer, "/v1/carriers", &params, write).await?;
    Ok(exit_code_of_list(&list["carriers"]))
}

/// A four-letter word may be an OCN or the beginning of a name.
async fn carrier_or_words(args: &CarrierArgs, words: &str) -> Result<ExitCode, CliError> {
    let (answer, is_list) = on_routes(&args.answer.data, async |api| {
        let carrier = ask(api, "/v1/carrier", &vec![("ocn", words)]).await;
        let Err(CliError::NotFound(message)) = carrier else { return Ok((carrier?, false)) };
        let list = ask(api, "/v1/carriers", &vec![("q", words)]).await?;
        if list["pagination"]["total"] == 0 {
            return Err(CliError::NotFound(message));
        }
        Ok((list, true))
    })
    .await?;
    let write = if is_list { written_carriers } else { written_carrier };
    print(args.answer.json, &answer, |value| write(value, &args.answer.data.next()))?;
    Ok(ExitCode::SUCCESS)
}

fn written_carriers(list: &Value, next: &NextCommands) -> String {
    let columns = &["ocn", "company_name", "common_name", "carrier_type", "state"];
    let page = ListPage::new(list, "carriers", columns, "");
    page.written(next, |first| {
        let ocn = text(&first["ocn"]);
        vec![format!("carrier {ocn}"), format!("search --ocn {ocn}")]
    })
}

fn written_carrier(carrier: &Value, of_data: &NextCommands) -> String {
    let ocn = text(&carrier["ocn"]);
    let exchanges = &carrier["exchanges"];
    let by_state = exchanges["by_state"].as_object();
    let mut states: Vec<(&String, u64)> = by_state
        .into_iter()
        .flatten()
        .map(|(state, count)| (state, count.as_u64().unwrap_or_default()))
        .collect();
    states.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let states = states.iter().map(|(state, count)| format!("{state}{NO_BREAK_SPACE}{count}"));
    let states = states.collect::<Vec<_>>().join(", ");
    [
        format!("{}  {}\n", styled(HEADING, ocn), shown(&carrier["company_name"])),
        line("known as", listed([&carrier["common_name"]])),
        line("type", listed([&carrier["carrier_type"]])),
        line("place", listed([&carrier["state"], &carrier["country"]])),
        line("exchanges", shown(&exchanges["total"])),
        line("by state", states),
        "\n".to_owned(),
        next(&[of_data.tnr(&format!("search --ocn {ocn}"))]),
    ]
    .concat()
}
