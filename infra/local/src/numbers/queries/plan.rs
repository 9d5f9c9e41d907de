//! Area codes in the numbering plan, and the holders of exchanges.

use std::process::ExitCode;

use indicatif::HumanCount;
use serde_json::Value;

use super::{
    comma_separated, display_text, given_params, line, list_exit_code, page::ListPage, print_list,
    print_response, text,
};
use crate::{
    CliError,
    numbers::args::{AreaCodesArgs, HoldersArgs},
    terminal::{
        HEADING,
        next_commands::{NextCommands, next_steps},
        styled,
    },
};

/// Prints a page of area codes, or everything about one.
pub async fn area_codes(args: AreaCodesArgs) -> Result<ExitCode, CliError> {
    let next = args.query.data.next();
    if let Some(npa) = &args.npa {
        let render = |body: &Value| render_area_code(body, &next);
        let mut params = vec![("npa", npa.as_str())];
        params.extend(given_params([("as_of", &args.as_of)]));
        print_response(&args.query, "/v1/area-codes/{npa}", &params, render).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let params = given_params([
        ("state", &args.state),
        ("country", &args.country),
        ("service", &args.service),
        ("status", &args.status),
        ("overlay_of", &args.overlay_of),
        ("in_service_on", &args.in_service_on),
    ]);
    let render = |list: &Value| {
        let columns =
            &["npa", "state", "country", "service", "status", "in_service_on", "total_exchanges"];
        let page = ListPage::new(list, "area_codes", columns, "");
        page.render(&next, |first| vec![format!("area-codes {}", text(&first["npa"]))])
    };
    let list = ("/v1/area-codes", "area_codes");
    let list = print_list(&args.query, &args.page, list, params, render).await?;
    Ok(list_exit_code(&list["area_codes"]))
}

fn render_area_code(area_code: &Value, next: &NextCommands) -> String {
    let npa = text(&area_code["npa"]);
    let words = |field: &str| display_text(&area_code[field]).to_lowercase().replace('_', " ");
    let list = |value: &Value| comma_separated(value.as_array().into_iter().flatten());
    let since = match text(&area_code["in_service_on"]) {
        "" => words("status"),
        date => format!("{}, {date}", words("status")),
    };
    let dialing = &area_code["dialing"];
    let calls = [
        ("local", &dialing["home_local"]),
        ("toll", &dialing["home_toll"]),
        ("local to other codes", &dialing["foreign_local"]),
        ("toll to other codes", &dialing["foreign_toll"]),
    ];
    let calls = calls.iter().filter(|(_, digits)| !digits.is_null());
    let calls = calls.map(|(kind, digits)| format!("{kind} {}", display_text(digits)));
    let relief = &area_code["relief"];
    let relief_states = [
        relief["status"].as_str().map(str::to_owned),
        (relief["is_in_progress"] == true).then(|| "planning in progress".to_owned()),
        (relief["is_in_jeopardy"] == true).then(|| "in jeopardy".to_owned()),
    ];
    let statuses = area_code["exchanges_by_status"].as_object().into_iter().flatten();
    let statuses = statuses
        .map(|(status, count)| format!("{} {}", display_text(count), status.to_lowercase()));
    let rate_centers = area_code["rate_centers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let total = area_code["total_rate_centers"].as_u64().unwrap_or_default();
    let more = match total.saturating_sub(rate_centers.len() as u64) {
        0 => String::new(),
        others => format!(" and {} more", HumanCount(others)),
    };
    let rate_centers = comma_separated(rate_centers.iter().map(|it| &it["rate_center"]));
    let holders = ListPage {
        rows: area_code["holders"].as_array().map(Vec::as_slice).unwrap_or_default(),
        pagination: &Value::Null,
        columns: &["ocn", "company_name", "common_name", "carrier_type", "exchanges", "blocks"],
        note: "",
    };
    let holders = match holders.rows {
        [] => String::new(),
        _ => format!("\n{}", holders.table()),
    };
    [
        format!("{}  {}\n", styled(HEADING, npa), words("service")),
        line("status", since),
        line("states", list(&area_code["states"])),
        line("country", text(&area_code["country"])),
        line("parent", text(&area_code["parent"])),
        line("overlay", list(&area_code["overlay"])),
        line("time zones", list(&area_code["time_zones"])),
        line("dialing", calls.collect::<Vec<_>>().join(", ")),
        line("", text(&dialing["notes"])),
        line("relief", relief_states.into_iter().flatten().collect::<Vec<_>>().join(", ")),
        line("notes", text(&area_code["notes"])),
        line("exchanges", statuses.collect::<Vec<_>>().join(", ")),
        line("rate centers", rate_centers + &more),
        holders,
        if area_code["total_exchanges"].as_u64() > Some(0) {
            let commands =
                ["area-code ", "holders --npa "].map(|it| next.tnr(&format!("{it}{npa}")));
            format!("\n{}", next_steps(&commands))
        } else {
            String::new()
        },
    ]
    .concat()
}

/// Prints a page of holders.
pub async fn holders(args: HoldersArgs) -> Result<ExitCode, CliError> {
    let params = given_params([
        ("npa", &args.npa),
        ("state", &args.state),
        ("rate_center", &args.rate_center),
    ]);
    let render = |list: &Value| {
        let columns =
            &["ocn", "company_name", "common_name", "carrier_type", "exchanges", "blocks"];
        let page = ListPage::new(list, "holders", columns, super::lists::LIST_PORTING_NOTE);
        page.render(&args.query.data.next(), |first| {
            first["ocn"].as_str().map(|ocn| format!("carrier {ocn}")).into_iter().collect()
        })
    };
    let list = ("/v1/holders", "holders");
    let list = print_list(&args.query, &args.page, list, params, render).await?;
    Ok(list_exit_code(&list["holders"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_of_an_area_code_have_thousands_separators() {
        let area_code = json!({
            "npa": "415", "exchanges_by_status": { "ASSIGNED": 1790, "RESERVED": 2 },
            "rate_centers": [{ "rate_center": "NOVATO" }], "total_rate_centers": 1201,
        });
        let text = render_area_code(&area_code, &NextCommands::default());
        assert!(text.contains("  exchanges      1,790 assigned, 2 reserved\n"), "{text}");
        assert!(text.contains("  rate centers   NOVATO and 1,200 more\n"), "{text}");
    }
}
