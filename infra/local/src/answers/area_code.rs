//! The exchanges of an area code, or one of them.

use indicatif::HumanCount;
use numbering::records::StateCode;
use serde_json::Value;

use super::{
    HOLDERS_AS_ASSIGNED, Params,
    page::{place, table},
    print_answer, shown, text, typed,
};
use crate::{LocalError, args::AreaCodeArgs};

/// Prints the exchanges of an area code, page by page, or one of them.
///
/// # Errors
/// Returns an error if a code is not understood, the area code or exchange is not in the data, or the
/// database cannot be used.
pub async fn area_code(args: AreaCodeArgs) -> Result<(), LocalError> {
    let params: Params<'_> = [("npa", args.npa.as_str())]
        .into_iter()
        .chain(typed([("nxx", &args.nxx)]))
        .chain(args.page.params())
        .collect();
    print_answer(&args.answer, "/v1/npa", &params, |answer| written(&args, answer)).await
}

fn written(args: &AreaCodeArgs, answer: &Value) -> String {
    let npa = text(&answer["npa"]);
    let exchanges = answer["exchanges"].as_array().map(Vec::as_slice).unwrap_or_default();
    let total = HumanCount(answer["total_exchanges"].as_u64().unwrap_or_default());
    let state = text(&answer["state"]).parse::<StateCode>();
    let state = state.map_or_else(|_| String::new(), |state| format!("{}, ", state.name()));
    let heading = format!("{npa}  {state}{}; {total} exchanges\n", shown(&answer["country"]));
    if exchanges.is_empty() {
        let is_beyond = answer["pagination"]["total"] != 0;
        return if is_beyond { heading + &place(answer, 0, "") } else { heading };
    }
    let columns = [
        ("NXX", "nxx"),
        ("OCN", "ocn"),
        ("COMPANY", "company_name"),
        ("RATE CENTER", "rate_center"),
        ("STATUS", "status"),
    ];
    let position = match args.nxx {
        Some(_) => String::new(),
        None => place(answer, exchanges.len(), &format!("tnr area-code {npa}")),
    };
    let holder = exchanges.iter().find_map(|exchange| exchange["ocn"].as_str());
    let next = match (holder, &args.nxx) {
        (Some(ocn), Some(_)) => format!("Next: tnr carrier {ocn}\n"),
        (Some(ocn), None) => {
            format!("Next: tnr area-code {npa} {}, tnr carrier {ocn}\n", text(&exchanges[0]["nxx"]))
        }
        (None, _) => String::new(),
    };
    [
        heading,
        "\n".to_owned(),
        table(&columns, exchanges),
        "\n".to_owned(),
        HOLDERS_AS_ASSIGNED.to_owned(),
        position,
        next,
    ]
    .concat()
}
