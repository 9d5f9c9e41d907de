//! Changes by imports, and the history of a record.

use std::process::ExitCode;

use numbering::records::{NpaNxx, Ocn};
use serde_json::Value;

use super::{Params, display_text, given_params, list_exit_code, page::ListPage, text};
use crate::{
    CliError,
    data::numbering_data::with_routes,
    numbers::args::{ChangesArgs, ChangesOutput, HistoryArgs},
    terminal::{self, HEADING, styled},
};

/// Prints a page of changes.
pub async fn changes(args: ChangesArgs) -> Result<ExitCode, CliError> {
    let mut params = given_params([
        ("since", &args.since),
        ("npa", &args.npa),
        ("ocn", &args.ocn),
        ("state", &args.state),
        ("kind", &args.kind),
        ("change", &args.change),
    ]);
    params.extend(args.page.params());
    print_changes(&args.output, "/v1/changes", params, &[]).await
}

/// Prints a page of a carrier's or exchange's changes.
pub async fn history(args: HistoryArgs) -> Result<ExitCode, CliError> {
    let code = args.code.join("-");
    let (path, mut params, command) = if let Ok(NpaNxx { npa, nxx }) = code.parse() {
        let params = vec![("npa", npa.to_string()), ("nxx", nxx.to_string())];
        ("/v1/npa/{npa}/nxx/{nxx}/history", params, format!("area-code {npa} {nxx}"))
    } else if let Ok(ocn) = code.parse::<Ocn>() {
        ("/v1/carrier/{ocn}/history", vec![("ocn", ocn.to_string())], format!("carrier {ocn}"))
    } else {
        let rule = "must be an NPA-NXX such as 415-234, or an OCN such as 6010";
        return Err(CliError::failed(format!("CODE {rule}, got '{code}'")));
    };
    params.extend(args.page.params().into_iter().map(|(name, value)| (name, value.to_owned())));
    let params = params.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print_changes(&args.output, path, params, &[command]).await
}

/// Prints the response in the requested format, for a terminal with commands that show more.
async fn print_changes(
    output: &ChangesOutput,
    path: &str,
    mut params: Params<'_>,
    commands: &[String],
) -> Result<ExitCode, CliError> {
    params.push(("format", if output.csv { "csv" } else { "json" }));
    let body = with_routes(&output.data, async |api| super::get_body(api, path, &params).await);
    let body = body.await?;
    if output.csv {
        terminal::print_raw(&String::from_utf8_lossy(&body))?;
        return Ok(ExitCode::SUCCESS);
    }
    let list = super::parse_json(path, &body)?;
    super::print(output.json, &list, |list| render(list, output, commands))?;
    Ok(list_exit_code(&list["changes"]))
}

fn render(list: &Value, output: &ChangesOutput, commands: &[String]) -> String {
    let page = ListPage::new(list, "changes", &[], "");
    let time = |publication: &str| display_text(&list[publication]["published_at"]).into_owned();
    let (since, until) = (time("since"), time("until"));
    let mut lines = format!("Changes after {since}, up to {until}\n");
    let mut publication = &Value::Null;
    for change in page.rows {
        if *publication != change["publication"] {
            publication = &change["publication"];
            let version = text(&change["version"]);
            let heading = format!("{}  {version}", text(&change["published_at"]));
            lines += &format!("\n{}\n", styled(HEADING, &heading));
        }
        let [kind, action, key] =
            ["kind", "change", "key"].map(|field| display_text(&change[field]));
        lines += &format!("  {action} {} {key}\n", kind.replace('_', " "));
        for (name, field) in change["fields"].as_object().into_iter().flatten() {
            let [before, after] = ["before", "after"].map(|side| &field[side]);
            let [old, new] = [before, after].map(|value| match value {
                Value::Null => "none".into(),
                value => display_text(value),
            });
            let line = match text(&change["change"]) {
                "added" => format!("    {name}  {new}"),
                "removed" => format!("    {name}  {old}"),
                _ => format!("    {name}  {old} -> {new}"),
            };
            lines += &(terminal::wrap(&line, terminal::width(), 6) + "\n");
        }
    }
    if list["is_current"] == false {
        let until = text(&list["until"]["publication"]);
        lines += &format!("\nMore was published later; to see it, pass --since {until}\n");
    }
    let newest = page.rows.first().map(|newest| &newest["change"]);
    let commands = commands.iter().filter(|_| newest.is_some_and(|change| change != "removed"));
    format!("{lines}\n{}", page.footer(&output.data.next(), commands.cloned()))
}
