//! What a phone number is, and who holds its block.

use formatting::{DefaultCountry, PhoneNumber, Verdict};
use serde_json::{Value, json};
use shared::in_process::InProcess;

use super::{AS_ASSIGNED, Answer, ask, line, listed, print, shown, text, typed};
use crate::{LocalError, args::LookupArgs, numbering_data::on_routes};

/// Prints what a phone number is.
///
/// # Errors
/// Returns an error if the country is none, there is no data yet, or the database cannot be used.
pub async fn lookup(args: LookupArgs) -> Result<(), LocalError> {
    let answer = on_routes(&args.data, async |api| both_answers(api, &args).await).await?;
    print(args.json, &answer, |value| written(&args, value))
}

/// What the API says of the number as such, and of the block that it is in.
async fn both_answers(api: &InProcess, args: &LookupArgs) -> Result<Answer, LocalError> {
    let tn = ("tn", args.number.as_str());
    let params = typed([("defaultCountry", &args.country)]);
    let format = ask(api, "/v1/format", &[&[tn][..], &params].concat()).await?;
    // Of a North American number only, whatever country it was read in.
    let lookup = match format.value["npa"] {
        Value::Null => None,
        _ => {
            let e164 = text(&format.value["formats"]["e164"]);
            match ask(api, "/v1/lookup", &vec![("tn", e164)]).await {
                // The exchange is not in the data, such as that of a toll-free number.
                Err(LocalError::NotFound(_)) => None,
                answered => Some(answered?),
            }
        }
    };
    let lookup_json = lookup.as_ref().map_or("null", |lookup| lookup.json.as_str());
    Ok(Answer {
        json: format!("{{\"format\":{},\"lookup\":{lookup_json}}}", format.json),
        value: json!({ "format": format.value, "lookup": lookup.map(|lookup| lookup.value) }),
    })
}

fn written(args: &LookupArgs, answer: &Value) -> String {
    let (format, block) = (&answer["format"], &answer["lookup"]);
    let formats = &format["formats"];
    let verdict = match refusal(args) {
        None => "valid".to_owned(),
        Some(refusal) => format!("not valid: it {refusal}"),
    };
    if formats.is_null() {
        return format!("{}  {verdict}\n", shown(&format["input"]));
    }
    let location = &format["location"];
    let place = ["rateCenter", "stateName", "countryName"].map(|name| &location[name]);
    let number_type = listed([&format["typeDescription"]]);
    [
        format!("{}  {verdict}\n", shown(&formats["international"])),
        line("E.164", shown(&formats["e164"])),
        line("national", shown(&formats["national"])),
        line("URI", shown(&formats["rfc3966"])),
        line("type", number_type),
        line("place", listed(place)),
        written_block(format, block),
    ]
    .concat()
}

/// Why the number is not valid, if it is not.
fn refusal(args: &LookupArgs) -> Option<String> {
    let country: DefaultCountry = match &args.country {
        Some(code) => code.parse().ok()?,
        None => DefaultCountry::default(),
    };
    let number = PhoneNumber::parse(&args.number, country);
    match Verdict::of(&args.number, country, number.as_ref()) {
        Verdict::Rejected(refusal) => Some(refusal.to_string()),
        Verdict::Valid | Verdict::Repaired => None,
    }
}

/// The exchange and the holder of the block; nothing unless the number is North American.
fn written_block(format: &Value, block: &Value) -> String {
    let [npa, nxx] = ["npa", "nxx"].map(|name| text(&format[name]));
    if npa.is_empty() {
        return String::new();
    }
    if block.is_null() {
        return line("exchange", format!("{npa}-{nxx}, not in the data"));
    }
    let exchange = line("exchange", format!("{npa}-{nxx}, {}", shown(&block["status"])));
    let carrier = &block["carrier"];
    let ocn = text(&carrier["ocn"]);
    if carrier.is_null() {
        let next = format!("\nNext: tnr area-code {npa} {nxx}\n");
        return exchange + &line("carrier", "none holds the block") + &next;
    }
    let name = if carrier["name"].is_null() { "not named".into() } else { shown(&carrier["name"]) };
    let codes = listed([&carrier["ocn"], &carrier["type"]]);
    let holder = if codes.is_empty() { name.into_owned() } else { format!("{name} ({codes})") };
    let next = if ocn.is_empty() { String::new() } else { format!("tnr carrier {ocn}, ") };
    [
        exchange,
        line("carrier", holder),
        format!("  {:<14} {AS_ASSIGNED}\n", ""),
        format!("\nNext: {next}tnr area-code {npa} {nxx}\n"),
    ]
    .concat()
}
