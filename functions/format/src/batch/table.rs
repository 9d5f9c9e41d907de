//! A CSV with a column of numbers.

use csv::StringRecord;
use shared::errors::{ApiError, quote};

use super::{AskedNumber, ColumnParams, check_count, rows::rows_of};
use crate::{
    cells::Columns,
    columns::{
        Doubt, are_names, column_named, column_of_countries, column_of_numbers, first_row,
        named_delimiter, numbered,
    },
    options::country_of,
};

/// Whether the first row names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    Present,
    Absent,
}

/// A CSV with the names of its columns.
#[derive(Debug)]
pub struct Table {
    pub delimiter: u8,
    pub names: Vec<String>,
    pub rows: Vec<StringRecord>,
    /// The index of the column of numbers.
    number: usize,
    /// That of the column of their countries.
    country: Option<usize>,
    /// That of the column `id`.
    id: Option<usize>,
}

impl Table {
    /// Reads a CSV, and finds its columns. That of the numbers is the one that `params` name, or else the only
    /// one, or else the one that is named like one of phone numbers.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`] if the rows cannot be told from each other, if there is none, or if
    /// no column, or more than one, may be meant; and [`ApiError::ContentTooLarge`] if there are too many rows.
    pub fn read(text: &str, header: Header, params: &ColumnParams) -> Result<Self, ApiError> {
        let (delimiter, begin) =
            named_delimiter(text.as_bytes()).unwrap_or_else(|| (first_row(text.as_bytes()).0, 0));
        let (mut rows, count) = rows_of(text, begin, delimiter, header == Header::Present)?;
        if rows.is_empty() {
            check_count(0)?;
        }
        let names: Vec<String> = match header {
            Header::Present => rows.remove(0).iter().map(|name| name.trim().to_owned()).collect(),
            Header::Absent => numbered(rows[0].len()),
        };
        let ColumnParams { column, country_column } = params;
        let wanted = column.as_ref().or(country_column.as_ref());
        if header == Header::Present && !are_names(&names, wanted.map(String::as_str)) {
            return Err(ApiError::invalid(
                "The first row must name the columns, got a number; send it as 'text/csv; \
                 header=absent'",
            ));
        }
        let country = match country_column {
            None => column_of_countries(&names),
            Some(wanted) => column_named(&names, wanted).map(Some),
        };
        let country = country.map_err(|doubt| {
            which_column(
                "countryColumn",
                "defaultCountry",
                doubt,
                country_column.as_deref(),
                &names,
            )
        })?;
        let number = match column {
            None => column_of_numbers(&names),
            Some(wanted) => column_named(&names, wanted),
        };
        let number = number.map_err(|doubt| {
            which_column("column", "one of phone numbers", doubt, column.as_deref(), &names)
        })?;
        // A text that is in two columns would stand twice in an answer.
        let id = column_named(&names, "id").ok().filter(|&id| id != number);
        check_count(if header == Header::Present { count - 1 } else { count })?;
        Ok(Self { delimiter, names, rows, number, country, id })
    }

    /// The numbers, one of each row.
    pub fn numbers(&self) -> impl Iterator<Item = AskedNumber> {
        self.rows.iter().map(|row| {
            let cell = |column: Option<usize>| {
                let cell = column.and_then(|column| row.get(column)).unwrap_or_default();
                Some(cell).filter(|cell| !cell.trim().is_empty())
            };
            let tn = row.get(self.number).unwrap_or_default().to_owned();
            let AskedNumber { tn, country, .. } = AskedNumber::of_text(tn);
            let own_country = |default| match cell(self.country) {
                Some(code) => country_of(code.trim()).map(Some),
                None => Ok(default),
            };
            let country = country.and_then(own_country);
            AskedNumber { id: cell(self.id).map(str::to_owned), tn, country }
        })
    }

    /// Refuses a table with a column that an answer with these adds.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`], which names the column.
    pub fn check_names(&self, columns: &Columns) -> Result<(), ApiError> {
        match self.names.iter().find(|name| columns.names().any(|added| added == *name)) {
            None => Ok(()),
            Some(name) => Err(ApiError::invalid(format!(
                "The column '{name}' is one that answers add; rename it or leave it out"
            ))),
        }
    }
}

/// A message that ends with what to send for a parameter. A column is named `like` what it has, or as the
/// parameter wants it.
fn which_column(
    param: &str,
    like: &str,
    doubt: Doubt,
    wanted: Option<&str>,
    names: &[String],
) -> ApiError {
    /// The most names that a message repeats.
    const MOST_NAMES: usize = 20;
    let wanted = quote(wanted.unwrap_or_default());
    let what = match doubt {
        Doubt::NoneAlike => format!("No column is named like {like}"),
        Doubt::SeveralAlike(_) => format!("More than one column is named like {like}"),
        Doubt::NoSuch => format!("There is no column '{wanted}'"),
        Doubt::Ambiguous => {
            return ApiError::invalid(format!(
                "More than one column is named '{wanted}'; send {param} with its number, from 1 to {}",
                names.len()
            ));
        }
    };
    let quoted: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("'{}'", quote(name))).collect();
    let more = if names.len() > MOST_NAMES { " …" } else { "" };
    ApiError::invalid(format!(
        "{what}; send {param} with one of {}{more}, or its number",
        quoted.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;

    use super::{super::MOST_NUMBERS, *};

    fn numbers(text: &str, header: Header, column: Option<&str>) -> Result<Vec<String>, String> {
        let params = ColumnParams { column: column.map(str::to_owned), country_column: None };
        match Table::read(text, header, &params) {
            Ok(table) => Ok(table.numbers().map(|number| number.tn).collect()),
            Err(error) => Err(error.body().message().to_owned()),
        }
    }

    fn table(text: &str) -> Table {
        Table::read(text, Header::Present, &ColumnParams::default()).unwrap()
    }

    fn found(text: &str, column: Option<&str>) -> Vec<String> {
        numbers(text, Header::Present, column).unwrap()
    }

    fn refusal(text: &str, column: Option<&str>) -> String {
        numbers(text, Header::Present, column).unwrap_err()
    }

    #[test]
    fn the_column_is_the_only_one_or_named_like_one_of_numbers_or_the_one_that_is_asked_for() {
        assert_eq!(found("who knows\n305\n", None), ["305"]);
        assert_eq!(found("name,Phone Number\nAnn,305\n", None), ["305"]);
        let two = "name,phone,mobile\nAnn,1,2\n";
        assert_eq!(found(two, Some("mobile")), ["2"]);
        assert_eq!(found(two, Some("PHONE")), ["1"]);
        assert_eq!(found(two, Some("2")), ["1"]);
        assert_eq!(found("a,b\n1,2\n", Some("1")), ["1"]);
        assert_eq!(numbers("a,305\nb,306\n", Header::Absent, Some("2")).unwrap(), ["305", "306"]);
        assert_eq!(numbers("305\n306\n", Header::Absent, None).unwrap(), ["305", "306"]);
    }

    #[test]
    fn a_column_in_doubt_is_refused_with_the_names() {
        for (text, column, message) in [
            (
                "name,phone,mobile\nAnn,1,2\n",
                None,
                "More than one column is named like one of phone numbers; send column with one of \
                 'name', 'phone', 'mobile', or its number",
            ),
            (
                "a,b\n1,2\n",
                None,
                "No column is named like one of phone numbers; send column with one of 'a', 'b', or \
                 its number",
            ),
            (
                "a,b\n1,2\n",
                Some("c"),
                "There is no column 'c'; send column with one of 'a', 'b', or its number",
            ),
            (
                "tn,tn\n1,2\n",
                Some("tn"),
                "More than one column is named 'tn'; send column with its number, from 1 to 2",
            ),
            (
                "305-234-5678\n305-234-5679\n",
                None,
                "The first row must name the columns, got a number; send it as 'text/csv; \
                 header=absent'",
            ),
        ] {
            assert_eq!(refusal(text, column), message);
        }
    }

    #[test]
    fn semicolons_and_tabs_divide_as_commas_do() {
        for text in [
            "\nname,phone\n\"A\",305\n\n\n",
            "name;phone\r\n\"A, B\";305\r\n",
            "name\tphone\nA;B\t305\n",
        ] {
            assert_eq!(found(text, None), ["305"], "{text}");
        }
        assert_eq!(table("name;phone\nA;305\n").delimiter, b';');
    }

    fn countries(text: &str, params: &ColumnParams) -> Vec<Result<Option<DefaultCountry>, String>> {
        let table = Table::read(text, Header::Present, params).unwrap();
        let countries = table.numbers().map(|number| number.country);
        countries
            .map(|country| country.map_err(|error| error.body().message().to_owned()))
            .collect()
    }

    #[test]
    fn a_column_of_countries_counts_for_its_rows_and_an_unknown_one_fails_its_row_alone() {
        let unknown = "Invalid defaultCountry 'UK': not an ISO 3166-1 alpha-2 country code";
        let expected = [Ok(Some("GB".parse().unwrap())), Ok(None), Err(unknown.to_owned())];
        let named = ColumnParams { country_column: Some("LAND".to_owned()), ..Default::default() };
        let rows = "1, gb \n2,\n3,UK\n";
        for (header, params) in [
            ("phone,defaultCountry\n", &ColumnParams::default()),
            ("phone,Default_Country\n", &ColumnParams::default()),
            ("phone,Land\n", &named),
        ] {
            assert_eq!(countries(&format!("{header}{rows}"), params), expected, "{header}");
        }
        let unnamed = countries("phone,country\n1,GB\n", &ColumnParams::default());
        assert_eq!(unnamed, [Ok(None)]);
    }

    #[test]
    fn a_column_of_countries_in_doubt_is_refused() {
        let refusal = |text: &str, column: Option<&str>| {
            let country_column = column.map(str::to_owned);
            let params = ColumnParams { country_column, ..Default::default() };
            Table::read(text, Header::Present, &params).unwrap_err().body().message().to_owned()
        };
        assert_eq!(
            refusal("phone,land\n1,GB\n", Some("country")),
            "There is no column 'country'; send countryColumn with one of 'phone', 'land', or its \
             number"
        );
        assert_eq!(
            refusal("phone,defaultCountry,default_country\n1,GB,US\n", None),
            "More than one column is named like defaultCountry; send countryColumn with one of \
             'phone', 'defaultCountry', 'default_country', or its number"
        );
    }

    #[test]
    fn a_column_id_names_the_numbers() {
        let ids = |text: &str| -> Vec<Option<String>> {
            table(text).numbers().map(|number| number.id).collect()
        };
        assert_eq!(ids("ID,phone\na,1\n,2\n"), [Some("a".to_owned()), None]);
        // No column, two of them, and one whose text is that of the number.
        for without in ["name,phone\na,1\n", "Id,ID,phone\na,b,1\n", "id\n305\n"] {
            assert_eq!(ids(without), [None], "{without}");
        }
    }

    #[test]
    fn a_first_line_that_names_the_delimiter_is_not_a_header_and_counts_as_a_line() {
        for line in ["sep=;\n", "SEP=;\r\n", "sep=;\r"] {
            // By themselves the commas would divide the header into more cells.
            let text = format!("{line}phone;a, b, c\n305;x\n");
            assert_eq!(table(&text).names, ["phone", "a, b, c"], "{line:?}");
            assert_eq!(found(&text, None), ["305"], "{line:?}");
        }
        let absent = numbers("sep=|\n305|x\n", Header::Absent, Some("1")).unwrap();
        assert_eq!(absent, ["305"]);
        let message = refusal("sep=;\nphone;a\n305\n", None);
        assert!(message.ends_with("in the row that begins in line 3"), "{message}");
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        let text = "phone,note\r\n305,\"a \"\"b\"\",\r\nc\"\r\n306,\r\n";
        assert_eq!(found(text, None), ["305", "306"]);
        assert_eq!(table(text).rows[0].get(1), Some("a \"b\",\r\nc"));
    }

    #[test]
    fn an_empty_line_of_one_column_keeps_its_place() {
        for line_end in ["\n", "\r\n", "\r"] {
            let lines = |text: &str| text.replace('\n', line_end);
            assert_eq!(found(&lines("\nphone\n305\n\n306\n\n\n"), None), ["305", "", "306"]);
            assert_eq!(found(&lines("phone\n\n\n305"), None), ["", "", "305"]);
            let quoted = "phone\n\"3\n\n\"\n\n306\n";
            let expected = [lines("3\n\n"), String::new(), "306".to_owned()];
            assert_eq!(found(&lines(quoted), None), expected);
            let absent = numbers(&lines("\n305\n\n306\n"), Header::Absent, None);
            assert_eq!(absent.unwrap(), ["", "305", "", "306"]);
        }
    }

    #[test]
    fn a_row_of_numbers_is_no_header_wherever_they_stand_and_a_name_may_have_digits() {
        for row in ["3052345678,x", "x,(305) 234-5678 ext. 42", "tel:+1-305-234-5678,x"] {
            let message = refusal(&format!("{row}\n3052345679,y\n"), Some("2"));
            assert!(message.starts_with("The first row must name the columns"), "{message}");
        }
        assert_eq!(found("Phone (as of 2024-01-05)\n305\n", None), ["305"]);
    }

    #[test]
    fn more_rows_than_a_request_may_have_are_refused_with_how_many_there_are() {
        let text = "305\n".repeat(MOST_NUMBERS + 1);
        let message = numbers(&text, Header::Absent, None).unwrap_err();
        assert!(
            message.starts_with("The body must have at most 1000 numbers, got 1001"),
            "{message}"
        );
        let most = format!("phone\n{}", "305\n".repeat(MOST_NUMBERS));
        assert_eq!(found(&most, None).len(), MOST_NUMBERS);
    }
}
