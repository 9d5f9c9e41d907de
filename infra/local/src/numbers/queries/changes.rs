//! Changes by imports, and the history of a record.

use std::process::ExitCode;

use itertools::Itertools;
use numbering::records::{NpaNxx, Ocn};
use serde::Deserialize;
use serde_json::Value;

use super::{
    display_text, given_params, list_exit_code,
    page::ListPage,
    pages::{ListRoute, show_rest},
    text,
};
use crate::{
    CliError,
    data::numbering_data::with_routes,
    numbers::args::{ChangesArgs, ChangesOutput, HistoryArgs},
    terminal::{self, HEADING, styled},
};

/// Prints a page of changes.
pub async fn changes(args: ChangesArgs) -> Result<ExitCode, CliError> {
    let params = given_params([
        ("since", &args.since),
        ("npa", &args.npa),
        ("ocn", &args.ocn),
        ("state", &args.state),
        ("kind", &args.kind),
        ("change", &args.change),
    ]);
    let route = ListRoute::new("/v1/changes", params, &args.page, is_table(&args.output));
    print_changes(&args.output, &route, &[]).await
}

/// Prints a page of a carrier's or exchange's changes.
pub async fn history(args: HistoryArgs) -> Result<ExitCode, CliError> {
    let code = args.code.join("-");
    let (path, params, command) = if let Ok(NpaNxx { npa, nxx }) = code.parse() {
        let params = vec![("npa", npa.to_string()), ("nxx", nxx.to_string())];
        ("/v1/npa/{npa}/nxx/{nxx}/history", params, format!("area-code {npa} {nxx}"))
    } else if let Ok(ocn) = code.parse::<Ocn>() {
        ("/v1/carrier/{ocn}/history", vec![("ocn", ocn.to_string())], format!("carrier {ocn}"))
    } else {
        let rule = "must be an NPA-NXX such as 415-234, or an OCN such as 6010";
        return Err(CliError::failed(format!("CODE {rule}, got '{code}'")));
    };
    let params = params.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let route = ListRoute::new(path, params, &args.page, is_table(&args.output));
    print_changes(&args.output, &route, &[command]).await
}

/// Prints changes in the requested format, for a terminal with commands that show more.
async fn print_changes(
    output: &ChangesOutput,
    route: &ListRoute<'_>,
    commands: &[String],
) -> Result<ExitCode, CliError> {
    if output.csv {
        let read = with_routes(&output.data, async |api| route.csv(api, count_changes).await).await;
        let (csv, note) = read?;
        terminal::print_raw(&csv)?;
        note.iter().for_each(|note| terminal::show_note(note));
        return Ok(ExitCode::SUCCESS);
    }
    let list = with_routes(&output.data, async |api| route.json(api, "changes").await).await?;
    super::print(output.json, &list, |list| render(list, output, commands))?;
    show_rest(&list, "changes");
    Ok(list_exit_code(&list["changes"]))
}

fn is_table(&ChangesOutput { json, csv, .. }: &ChangesOutput) -> bool {
    !json && !csv
}

/// A row of changes as CSV. A change has a row per field.
#[derive(PartialEq, Deserialize)]
struct ChangedField {
    publication: String,
    kind: String,
    key: String,
}

/// Counts the changes in a CSV page.
fn count_changes(page: &str) -> usize {
    let rows = csv::Reader::from_reader(page.as_bytes()).into_deserialize::<ChangedField>();
    rows.flatten().dedup().count()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_record_are_one_change() {
        let header = "publication,version,published_at,change,kind,key,field,before,after\r\n";
        let rows = [
            "a,v,t,changed,carrier,6010,name,\"x\ny\",z",
            "a,v,t,changed,carrier,6010,type,x,y",
            "a,v,t,changed,area_code,415,total,1,2",
            "a,v,t,changed,exchange,415-234,ocn,1,2",
            "b,v,t,changed,exchange,415-234,ocn,2,1",
        ];
        assert_eq!(count_changes(header), 0);
        assert_eq!(count_changes(&(header.to_owned() + &rows.join("\r\n"))), 4);
    }
}
