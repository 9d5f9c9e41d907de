//! Looks up a phone number and the carrier of its block.

use std::{process::ExitCode, str::FromStr};

use ::format::{Assembler, Include};
use clap::Args;
use formatting::{DefaultCountry, Languages, PhoneNumber};
use itertools::Itertools;
use jiff::Timestamp;
use numbering::records::TypeBasis;
use serde::Deserialize;
use serde_json::{Value, json};
use shared::in_process::InProcessRoutes;

use super::{
    command::exit_code,
    pages::{get, lower_first},
    render::{self, display_text},
};
use crate::{
    CliError,
    data::numbering_data::{no_data_note, with_routes},
    database::args::DataArgs,
    error::Context,
    terminal::{self, BAD, GOOD, HEADING, escape::escape_controls, next_steps, show_note, styled},
};

#[derive(Debug, Args)]
pub struct LookupArgs {
    /// Phone number in any format, from any country
    #[arg(allow_hyphen_values = true)]
    pub number: String,
    /// Country for a number without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE", value_parser = validated::<DefaultCountry>)]
    pub country: Option<String>,
    /// Language of place and network names, such as de or zh-Hant [default: en]
    #[arg(long, value_name = "TAG", value_parser = validated::<Languages>)]
    pub lang: Option<String>,
    /// Look up the data as it was on this date, or at this time in UTC
    #[arg(long, value_name = "DATE")]
    pub as_of: Option<String>,
    /// Print the API responses as JSON: `format` from /v1/format and, for North American numbers,
    /// `lookup` from /v1/lookup
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// Validates an option here, because the API's error would name the API's parameter.
fn validated<T: FromStr>(text: &str) -> Result<String, T::Err> {
    text.parse::<T>().map(|_| text.to_owned())
}

const LABEL_WIDTH: usize = 14;
const PORTING_NOTE: &str = "as assigned; the number may have been ported to another carrier";

/// Prints the details of a phone number. An invalid number counts as not found. Without data, leaves out place
/// and carrier.
pub async fn lookup(args: LookupArgs) -> Result<ExitCode, CliError> {
    let responses = with_routes(&args.data, async |api| get_both(api, &args).await).await;
    let (responses, has_data) = match responses {
        Err(CliError::NoData(_)) => (format_without_data(&args)?, false),
        responses => (responses?, true),
    };
    if args.json {
        terminal::print_raw(&format!("{responses}\n"))?;
    } else {
        let block = if has_data { render_block(&args, &responses) } else { String::new() };
        terminal::print(&(render_format(&responses["format"]) + &block))?;
    }
    Ok(exit_code(responses["format"]["valid"] == true))
}

fn format_without_data(args: &LookupArgs) -> Result<Value, CliError> {
    let text = &args.number;
    // The country and the language were validated when the command line was parsed.
    let country = args.country.as_deref().and_then(|code| code.parse().ok());
    let country: DefaultCountry = country.unwrap_or_default();
    let languages: Option<Languages> = args.lang.as_deref().and_then(|tag| tag.parse().ok());
    let (include, languages) = (&Include::all(), &languages.unwrap_or_default());
    let now = Timestamp::now();
    let assembler = Assembler { include, languages, flags_base_url: None, now, countries: &[] };
    let format = assembler.describe(text, country, PhoneNumber::parse(text, country), None);
    let format = serde_json::to_value(format).context("cannot print as JSON")?;
    if !format["npa"].is_null() {
        let note = no_data_note(&args.data.location()?, &args.data.next());
        show_note(&format!("note: {note}"));
    }
    Ok(json!({ "format": format, "lookup": null }))
}

async fn get_both(api: &InProcessRoutes, args: &LookupArgs) -> Result<Value, CliError> {
    let as_of = || args.as_of.as_deref().map(|as_of| ("as_of", as_of));
    let options = [("defaultCountry", &args.country), ("lang", &args.lang)];
    let options = options.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let params = [("tn", args.number.as_str()), ("include", "all")];
    let params = params.into_iter().chain(options).chain(as_of());
    let format = get(api, "/v1/format", params).await?;
    let tn = ("tn", text(&format["formats"]["e164"]));
    let lookup = match format["npa"] {
        // The number is not North American.
        Value::Null => Value::Null,
        _ => match get(api, "/v1/lookup", [tn].into_iter().chain(as_of())).await {
            // The data does not have the exchange, as for toll-free numbers.
            Err(CliError::NotFound(_)) => Value::Null,
            response => response?,
        },
    };
    Ok(json!({ "format": format, "lookup": lookup }))
}

fn render_format(format: &Value) -> String {
    let (formats, reason) = (&format["formats"], &format["reason"]);
    let verdict = if format["valid"] == true {
        styled(GOOD, "valid")
    } else {
        let message = display_text(&reason["message"]);
        styled(BAD, &format!("not valid: {}", lower_first(&message)))
    };
    if formats.is_null() {
        return format!("{}  {verdict}\n", display_text(&format["input"]));
    }
    [
        format!("{}  {verdict}\n", styled(HEADING, &display_text(&formats["international"]))),
        line("E.164", display_text(&formats["e164"])),
        line("national", display_text(&formats["national"])),
        line("URI", display_text(&formats["rfc3966"])),
        line("type", comma_separated([&format["typeDescription"]])),
        line("line", render_line(&format["line"])),
        render_place(format),
        line("network", render_network(&format["network"])),
        line("local time", render_local_times(format)),
        line("calling hours", render_calling_hours(&format["callingHours"])),
        line("other number", text(&reason["other"])),
        render_assignment(format),
    ]
    .concat()
}

/// The likely line type in words; empty if it is unknown, or the same as the number's type.
fn render_line(line: &Value) -> String {
    let Ok(basis) = TypeBasis::deserialize(&line["basis"]) else { return String::new() };
    let source = match basis {
        TypeBasis::CarriersFile => "from the carriers file",
        TypeBasis::CompanyFamily => "typical for the company",
        TypeBasis::CompanyName => "from the carrier's name",
        TypeBasis::NumberRange => return String::new(),
    };
    let line_type = text(&line["type"]).to_lowercase().replace('_', " ").replace("voip", "VoIP");
    format!("{line_type}, {source}; a ported number may differ")
}

/// The city, or otherwise the state, with the country and the rate center.
fn render_place(format: &Value) -> String {
    let (location, city) = (&format["location"], &format["place"]["name"]);
    let nearest = if city.is_null() { &location["stateName"] } else { city };
    let country = Some(&location["countryName"]).filter(|country| *country != nearest);
    [
        line("place", comma_separated([nearest].into_iter().chain(country))),
        line("rate center", comma_separated([&location["rateCenter"]])),
    ]
    .concat()
}

fn render_network(network: &Value) -> String {
    match network["name"].as_str() {
        Some(name) => format!("{name}, as first assigned; the number may have been ported"),
        None => String::new(),
    }
}

fn render_local_times(format: &Value) -> String {
    let zones = format["timeZones"].as_array().into_iter().flatten().map(|zone| {
        let (_, time) = text(&zone["localTime"]).split_once('T').unwrap_or_default();
        format!("{} ({})", time.get(..5).unwrap_or_default(), text(&zone["zone"]))
    });
    zones.collect::<Vec<_>>().join(", ")
}

/// The hours for telemarketing calls, and the rule they come from; empty if the country has no rule.
fn render_calling_hours(hours: &Value) -> String {
    let status = match text(&hours["status"]) {
        "open" => "within",
        "closed" => "outside",
        "depends" => "in some zones within",
        _ => return String::new(),
    };
    let [from, to] = ["from", "to"].map(|name| text(&hours["window"][name]));
    format!("{status} {from}-{to} ({})", text(&hours["rule"]))
}

/// The number's assignment in the numbering plan, or in the ranges of a country that was imported.
fn render_assignment(format: &Value) -> String {
    let assignment = &format["assignment"];
    let (area_code, source) = (&assignment["areaCode"], &assignment["source"]);
    let reason = display_text(&assignment["reason"]);
    if !source.is_null() {
        let verdict = text(&assignment["verdict"]).to_lowercase().replace('_', " ");
        let note = if verdict == "assigned" { PORTING_NOTE } else { "" };
        return line("assignment", format!("{verdict}: {reason}"))
            + &line("", note)
            + &render_range(&assignment["range"], source);
    }
    if area_code.is_null() {
        return String::new();
    }
    let status = text(&area_code["status"]).to_lowercase().replace('_', " ");
    let date = area_code["inServiceOn"].as_str();
    let date =
        date.map(|date| format!(" {} {date}", if status == "planned" { "for" } else { "since" }));
    let area_code = format!("{}, {status}{}", text(&format["npa"]), date.unwrap_or_default());
    line("area code", area_code) + &line("assignment", reason)
}

fn render_range(range: &Value, source: &Value) -> String {
    let numbers = range["from"].as_str().map(|from| format!("{from} to {}", text(&range["to"])));
    let date = range["effectiveFrom"].as_str().map(|date| format!("effective {date}"));
    let place = range["place"].as_str().map(escape_controls);
    [
        line("range", numbers.into_iter().chain(date).chain(place).join(", ")),
        line("source", comma_separated([&source["publisher"], &source["date"]])),
    ]
    .concat()
}

/// The exchange, and the carrier of the block; empty unless the number is North American.
fn render_block(args: &LookupArgs, responses: &Value) -> String {
    let (format, block) = (&responses["format"], &responses["lookup"]);
    let [npa, nxx] = ["npa", "nxx"].map(|name| text(&format[name]));
    if npa.is_empty() {
        return String::new();
    }
    if block.is_null() {
        return line("exchange", format!("{npa}-{nxx}, not in the data"));
    }
    let exchange = line("exchange", format!("{npa}-{nxx}, {}", display_text(&block["status"])));
    let carrier = &block["carrier"];
    let area_code = args.data.next().tnr(&format!("area-code {npa} {nxx}"));
    if carrier.is_null() {
        return exchange + &line("carrier", "none assigned") + "\n" + &next_steps(&[area_code]);
    }
    let name = &carrier["name"];
    let name = if name.is_null() { "unnamed".into() } else { display_text(name) };
    let codes = comma_separated([&carrier["ocn"], &carrier["type"]]);
    let holder = if codes.is_empty() { name.into_owned() } else { format!("{name} ({codes})") };
    let ocn = carrier["ocn"].as_str().map(|ocn| args.data.next().tnr(&format!("carrier {ocn}")));
    let commands: Vec<String> = ocn.into_iter().chain([area_code]).collect();
    [
        exchange,
        line("carrier", holder),
        line("", PORTING_NOTE),
        line("known as", comma_separated([&format["line"]["everydayName"]])),
        "\n".to_owned(),
        next_steps(&commands),
    ]
    .concat()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn comma_separated<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let values = values.into_iter().map(|value| escape_controls(text(value)));
    values.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

fn line(name: &str, value: impl AsRef<str>) -> String {
    render::line(name, value.as_ref(), LABEL_WIDTH, terminal::width())
}
