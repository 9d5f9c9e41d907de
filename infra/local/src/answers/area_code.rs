//! The exchanges of an area code, or one of them.

use indicatif::HumanCount;
use numbering::records::StateCode;
use serde_json::Value;

use super::{
    Found, HOLDERS_AS_ASSIGNED, Params,
    page::{next, next_page, place, table},
    print_answer, shown, text, typed,
};
use crate::{
    LocalError,
    args::AreaCodeArgs,
    terminal::{HEADING, styled},
};

/// Prints the exchanges of an area code, page by page, or one of them.
pub async fn area_code(args: AreaCodeArgs) -> Result<Found, LocalError> {
    let params: Params<'_> = [("npa", args.npa.as_str())]
        .into_iter()
        .chain(typed([("nxx", &args.nxx)]))
        .chain(args.page.params())
        .collect();
    print_answer(&args.answer, "/v1/npa", &params, |answer| written(&args, answer)).await?;
    Ok(Found::Something)
}

fn written(args: &AreaCodeArgs, answer: &Value) -> String {
    let npa = text(&answer["npa"]);
    let exchanges = answer["exchanges"].as_array().map(Vec::as_slice).unwrap_or_default();
    let total = HumanCount(answer["total_exchanges"].as_u64().unwrap_or_default());
    let state = text(&answer["state"]).parse::<StateCode>();
    let state = state.map_or_else(|_| String::new(), |state| format!("{}, ", state.name()));
    let npa_shown = styled(HEADING, npa);
    let heading = format!("{npa_shown}  {state}{}; {total} exchanges\n", shown(&answer["country"]));
    if exchanges.is_empty() {
        let is_beyond = answer["pagination"]["total"] != 0;
        return if is_beyond { heading + &place(answer, 0) } else { heading };
    }
    let columns = [
        ("NXX", "nxx"),
        ("OCN", "ocn"),
        ("COMPANY", "company_name"),
        ("RATE CENTER", "rate_center"),
        ("STATUS", "status"),
    ];
    let tnr = |command: String| args.answer.data.next().tnr(&command);
    let carrier = exchanges.iter().find_map(|exchange| exchange["ocn"].as_str());
    let carrier = carrier.map(|ocn| tnr(format!("carrier {ocn}")));
    let (position, commands) = match args.nxx {
        Some(_) => (String::new(), vec![carrier]),
        None => {
            let page = next_page(answer, exchanges.len(), &format!("area-code {npa}"));
            let exchange = format!("area-code {npa} {}", text(&exchanges[0]["nxx"]));
            (place(answer, exchanges.len()), vec![page.map(tnr), Some(tnr(exchange)), carrier])
        }
    };
    let commands: Vec<String> = commands.into_iter().flatten().collect();
    [
        heading,
        "\n".to_owned(),
        table(&columns, exchanges),
        "\n".to_owned(),
        HOLDERS_AS_ASSIGNED.to_owned(),
        position,
        next(&commands),
    ]
    .concat()
}
