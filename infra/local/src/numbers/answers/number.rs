//! A phone number and its block's holder.

use std::process::ExitCode;

use ::format::{FormatResult, ReasonInfo};
use formatting::{DefaultCountry, PhoneNumber};
use numbering::time::today;
use serde_json::{Value, json};
use shared::in_process::InProcess;

use super::{ask, exit_code, line, listed, lower_first, page::next, print, shown, text, typed};
use crate::{
    CliError,
    data::numbering_data::{on_routes, without_data},
    error::Context,
    numbers::args::LookupArgs,
    terminal::{BAD, GOOD, HEADING, styled},
};

/// The note below the holder of a block.
const PORTING_NOTE: &str = "as assigned; the number may have been ported to another carrier";

/// Prints a description of a phone number; an invalid one counts as not found. Only location and
/// carrier need data.
pub async fn lookup(args: LookupArgs) -> Result<ExitCode, CliError> {
    let answered = on_routes(&args.data, async |api| both_answers(api, &args).await).await;
    let (answer, has_data) = match answered {
        Err(CliError::NoData(_)) => (answer_alone(&args)?, false),
        answered => (answered?, true),
    };
    print(args.json, &answer, |value| {
        let block = if has_data { written_block(&args, value) } else { String::new() };
        written(&value["format"]) + &block
    })?;
    Ok(exit_code(answer["format"]["valid"] == true))
}

/// The answer without numbering data, with a note for North American numbers.
fn answer_alone(args: &LookupArgs) -> Result<Value, CliError> {
    let (text, country) = (&args.number, country(args));
    let number = PhoneNumber::parse(text, country);
    let reason = ReasonInfo::find(text, country, number.as_ref());
    let format = FormatResult::in_memory(text, number, reason, None, today());
    let format = serde_json::to_value(format).context("cannot print as JSON")?;
    if !format["npa"].is_null() {
        eprintln!("note: {}", without_data(&args.data.place()?, &args.data.next()));
    }
    Ok(json!({ "format": format, "lookup": null }))
}

/// The API's answers about the number and its block.
async fn both_answers(api: &InProcess, args: &LookupArgs) -> Result<Value, CliError> {
    let params = [("tn", args.number.as_str()), ("include", "reason")];
    let country = typed([("defaultCountry", &args.country)]);
    let format = ask(api, "/v1/format", &[&params[..], &country].concat()).await?;
    // Only for a North American number, whatever the default country.
    let lookup = match format["npa"] {
        Value::Null => Value::Null,
        _ => match ask(api, "/v1/lookup", &vec![("tn", text(&format["formats"]["e164"]))]).await {
            // The data lacks the exchange, as for toll-free numbers.
            Err(CliError::NotFound(_)) => Value::Null,
            answered => answered?,
        },
    };
    Ok(json!({ "format": format, "lookup": lookup }))
}

fn written(format: &Value) -> String {
    let (formats, reason) = (&format["formats"], &format["reason"]);
    let verdict = if format["valid"] == true {
        styled(GOOD, "valid")
    } else {
        let message = shown(&reason["message"]);
        styled(BAD, &format!("not valid: {}", lower_first(&message)))
    };
    if formats.is_null() {
        return format!("{}  {verdict}\n", shown(&format["input"]));
    }
    let location = &format["location"];
    let place = ["rateCenter", "stateName", "countryName"].map(|name| &location[name]);
    let number_type = listed([&format["typeDescription"]]);
    [
        format!("{}  {verdict}\n", styled(HEADING, &shown(&formats["international"]))),
        line("E.164", shown(&formats["e164"])),
        line("national", shown(&formats["national"])),
        line("URI", shown(&formats["rfc3966"])),
        line("type", number_type),
        line("place", listed(place)),
        line("other number", text(&reason["other"])),
    ]
    .concat()
}

/// The default country, validated when the command line was parsed.
fn country(args: &LookupArgs) -> DefaultCountry {
    args.country.as_deref().and_then(|code| code.parse().ok()).unwrap_or_default()
}

/// The exchange and the holder of the block; empty unless the number is North American.
fn written_block(args: &LookupArgs, answer: &Value) -> String {
    let (format, block) = (&answer["format"], &answer["lookup"]);
    let [npa, nxx] = ["npa", "nxx"].map(|name| text(&format[name]));
    if npa.is_empty() {
        return String::new();
    }
    if block.is_null() {
        return line("exchange", format!("{npa}-{nxx}, not in the data"));
    }
    let exchange = line("exchange", format!("{npa}-{nxx}, {}", shown(&block["status"])));
    let carrier = &block["carrier"];
    let area_code = args.data.next().tnr(&format!("area-code {npa} {nxx}"));
    if carrier.is_null() {
        return exchange + &line("carrier", "none holds the block") + "\n" + &next(&[area_code]);
    }
    let name = if carrier["name"].is_null() { "not named".into() } else { shown(&carrier["name"]) };
    let codes = listed([&carrier["ocn"], &carrier["type"]]);
    let holder = if codes.is_empty() { name.into_owned() } else { format!("{name} ({codes})") };
    let ocn = carrier["ocn"].as_str().map(|ocn| args.data.next().tnr(&format!("carrier {ocn}")));
    let commands: Vec<String> = ocn.into_iter().chain([area_code]).collect();
    [exchange, line("carrier", holder), line("", PORTING_NOTE), "\n".to_owned(), next(&commands)]
        .concat()
}
