//! Lists of carriers and exchanges, and single carriers by OCN.

use std::{cmp::Reverse, process::ExitCode};

use indicatif::HumanCount;
use numbering::records::{Ocn, StateCode};
use serde_json::Value;

use super::{
    Params, comma_separated, display_text, get, given_params, line, list_exit_code,
    page::ListPage,
    pages::{ListRoute, show_rest},
    print, print_list, text,
};
use crate::{
    CliError,
    data::numbering_data::with_routes,
    numbers::args::{AreaCodeArgs, CarrierArgs, PageArgs, SearchArgs},
    terminal::{
        HEADING, NO_BREAK_SPACE,
        next_commands::{NextCommands, next_steps},
        styled,
    },
};

/// The note below lists of exchanges.
pub(super) const LIST_PORTING_NOTE: &str =
    "Carriers as assigned; numbers may have been ported to other carriers.\n";

/// Prints a page of an area code's exchanges, or one exchange.
pub async fn area_code(args: AreaCodeArgs) -> Result<ExitCode, CliError> {
    let mut params = vec![("npa", args.npa.as_str())];
    params.extend(given_params([("nxx", &args.nxx), ("as_of", &args.as_of)]));
    let render = |body: &Value| render_area_code(&args, body);
    print_list(&args.query, &args.page, ("/v1/npa", "exchanges"), params, render).await?;
    Ok(ExitCode::SUCCESS)
}

fn render_area_code(args: &AreaCodeArgs, body: &Value) -> String {
    let npa = text(&body["npa"]);
    let total = HumanCount(body["total_exchanges"].as_u64().unwrap_or_default());
    let state = text(&body["state"]).parse::<StateCode>();
    let state = state.map_or_else(|_| String::new(), |state| format!("{}, ", state.name()));
    let country = display_text(&body["country"]);
    let heading = format!("{}  {state}{country}; {total} exchanges\n", styled(HEADING, npa));
    let columns = &["nxx", "ocn", "company_name", "rate_center", "status"];
    let mut page = ListPage::new(body, "exchanges", columns, LIST_PORTING_NOTE);
    if args.nxx.is_some() {
        // A single exchange has no pages.
        page.pagination = &Value::Null;
    }
    let Some(first) = page.rows.first() else {
        let is_past_the_end = page.pagination["total"] != 0;
        return if is_past_the_end { heading + &page.position() } else { heading };
    };
    let exchange = args.nxx.is_none().then(|| format!("area-code {npa} {}", text(&first["nxx"])));
    let carrier = page.rows.iter().find_map(|exchange| exchange["ocn"].as_str());
    let carrier = carrier.map(|ocn| format!("carrier {ocn}"));
    let as_of = args.as_of.iter().map(|date| format!(" --as-of {date}")).collect::<String>();
    let commands = exchange.into_iter().chain(carrier).map(|command| command + &as_of);
    let footer = page.footer(&args.query.data.next(), commands);
    format!("{heading}\n{}\n{footer}", page.table())
}

/// Prints a page of matching exchanges.
pub async fn search(args: SearchArgs) -> Result<ExitCode, CliError> {
    let words = args.words.join(" ");
    let mut params = vec![("q", words.as_str())];
    params.extend(given_params([
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
    let render = |body: &Value| {
        let columns = &[
            "npa",
            "nxx",
            "ocn",
            "company_name",
            "carrier_type",
            "rate_center",
            "state",
            "status",
        ];
        let page = ListPage::new(body, "results", columns, LIST_PORTING_NOTE);
        page.render(&args.query.data.next(), |first| {
            vec![format!("area-code {} {}", text(&first["npa"]), text(&first["nxx"]))]
        })
    };
    let list = ("/v1/search", "results");
    let body = print_list(&args.query, &args.page, list, params, render).await?;
    Ok(list_exit_code(&body["results"]))
}

/// Prints the carrier with an OCN, or a page of carriers by name.
pub async fn carrier(args: CarrierArgs) -> Result<ExitCode, CliError> {
    let words = args.words.join(" ");
    let filters = given_params([
        ("state", &args.state),
        ("country", &args.country),
        ("type", &args.carrier_type),
    ]);
    if args.as_of.is_some() || filters.is_empty() && may_be_ocn(&args.page, &words) {
        return carrier_by_ocn_or_name(&args, &words).await;
    }
    let params: Params<'_> = [("q", words.as_str())].into_iter().chain(filters).collect();
    let render = |list: &Value| render_carriers(list, &args.query.data.next());
    let list = ("/v1/carriers", "carriers");
    let list = print_list(&args.query, &args.page, list, params, render).await?;
    Ok(list_exit_code(&list["carriers"]))
}

/// Returns `true` if the words may be an OCN, and not a search with options for lists.
fn may_be_ocn(PageArgs { limit, offset }: &PageArgs, words: &str) -> bool {
    limit.is_none() && offset.is_none() && words.parse::<Ocn>().is_ok()
}

/// A four-letter word can be an OCN or the start of a name.
async fn carrier_by_ocn_or_name(args: &CarrierArgs, word: &str) -> Result<ExitCode, CliError> {
    let (body, is_list) = with_routes(&args.query.data, async |api| {
        let mut params = vec![("ocn", word)];
        params.extend(given_params([("as_of", &args.as_of)]));
        let carrier = get(api, "/v1/carrier", &params).await;
        if args.as_of.is_some() {
            return Ok((carrier?, false));
        }
        let Err(CliError::NotFound(message)) = carrier else { return Ok((carrier?, false)) };
        let route = ListRoute::new("/v1/carriers", vec![("q", word)], &args.page, !args.query.json);
        let list = route.json(api, "carriers").await?;
        if list["pagination"]["total"] == 0 {
            return Err(CliError::NotFound(message));
        }
        Ok((list, true))
    })
    .await?;
    let render = if is_list { render_carriers } else { render_carrier };
    print(args.query.json, &body, |body| render(body, &args.query.data.next()))?;
    show_rest(&body, "carriers");
    Ok(ExitCode::SUCCESS)
}

fn render_carriers(list: &Value, next: &NextCommands) -> String {
    let columns = &["ocn", "company_name", "common_name", "carrier_type", "state"];
    let page = ListPage::new(list, "carriers", columns, "");
    page.render(next, |first| {
        let ocn = text(&first["ocn"]);
        vec![format!("carrier {ocn}"), format!("search --ocn {ocn}")]
    })
}

fn render_carrier(carrier: &Value, next: &NextCommands) -> String {
    let ocn = text(&carrier["ocn"]);
    let exchanges = &carrier["exchanges"];
    let mut states: Vec<_> = exchanges["by_state"].as_object().into_iter().flatten().collect();
    states.sort_by_key(|(_, count)| Reverse(count.as_u64()));
    let states = states
        .iter()
        .map(|(state, count)| format!("{state}{NO_BREAK_SPACE}{}", display_text(count)));
    let states = states.collect::<Vec<_>>().join(", ");
    [
        format!("{}  {}\n", styled(HEADING, ocn), display_text(&carrier["company_name"])),
        line("known as", comma_separated([&carrier["common_name"]])),
        line("type", comma_separated([&carrier["carrier_type"]])),
        line("place", comma_separated([&carrier["state"], &carrier["country"]])),
        line("exchanges", display_text(&exchanges["total"])),
        line("by state", states),
        "\n".to_owned(),
        next_steps(&[next.tnr(&format!("search --ocn {ocn}"))]),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_ocn_without_list_options_may_be_one() {
        let some = Some("5".to_owned());
        for (limit, offset, words, expected) in [
            (None, None, "6529", true),
            (None, None, "t-mobile", false),
            (some.clone(), None, "6529", false),
            (None, some.clone(), "6529", false),
            (some.clone(), some, "6529", false),
        ] {
            assert_eq!(may_be_ocn(&PageArgs { limit, offset }, words), expected, "{words}");
        }
    }

    #[test]
    fn counts_of_a_carrier_have_thousands_separators() {
        let exchanges = json!({ "total": 1989, "by_state": { "NY": 1, "CA": 1000, "TX": 988 } });
        let carrier = json!({ "ocn": "6529", "company_name": "T-MOBILE", "exchanges": exchanges });
        let text = render_carrier(&carrier, &NextCommands::default());
        let expected = "  exchanges      1,989\n  by state       CA 1,000, TX 988, NY 1\n\n";
        assert!(text.contains(expected), "{text}");
    }
}
