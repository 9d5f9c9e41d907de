use itertools::Itertools;

use super::{super::tests::read, *};

fn read_rows(rows: &str) -> (Vec<AreaCodeRow>, String) {
    let header = "File Date,01/05/2026\nNPA_ID,LOCATION,COUNTRY,IN_SERVICE,NOTES\n";
    read(&REPORT, &format!("{header}{rows}"))
}

#[test]
fn area_codes_in_service_have_all_provinces_in_their_location() {
    let (area_codes, notes) = read_rows(
        "201,NJ,US,Y,\n203,CT,US,N,\n670,CNMI,US,Y,\n876,JAMAICA,JAMAICA,Y,\n\
         902,NOVA SCOTIA - PRINCE EDWARD ISLAND,CANADA,Y,\n\
         867,NORTHWEST TERRITORIES -YUKON - NUNAVUT,CANADA,Y,\n\
         600,,CANADA,Y,\n710,NANP AREA,US,Y,\n",
    );
    let in_service = area_codes.iter().filter(|row| row.country_in_service().is_some());
    let summaries = in_service.map(|row| {
        let states: Vec<_> = row.states.iter().map(StateCode::to_string).collect();
        format!("{} {}", row.npa, states.join(" "))
    });
    let expected = ["201 NJ", "670 MP", "902 NS PE", "867 NT YT NU", "600 ", "710 "];
    assert_eq!(summaries.collect::<Vec<_>>(), expected);
    assert!(notes.contains("not assigned\"): 1"), "{notes}");
    assert!(notes.contains("warnings: {}"), "{notes}");
}

#[test]
fn numbering_plan_is_read_from_every_column() {
    let header = "NPA_ID,ASSIGNED,ASSIGNMENT_DT,LOCATION,COUNTRY,IN_SERVICE,IN_SERVICE_DT,STATUS,\
                  PLANNING_LETTERS,NOTES,OVERLAY_COMPLEX,PARENT_NPA_ID,SERVICE,IN_JEOPARDY,\
                  RELIEF_PLANNING_IN_PROGRESS,HOME_NPA_LOCAL_CALLS,HOME_NPA_TOLL_CALLS,\
                  FOREIGN_NPA_LOCAL_CALLS,FOREIGN_NPA_TOLL_CALLS,DIALING_PLAN_NOTES";
    let rows = "465,Yes,30-Jan-2025,NY,US,N,18-Jun-2026,Active,461 421,,\"347/465/917 , 718/917 \",718,,No,\
                Yes,1+10D,NA,(see note),1+10D,Some note\n\
                800,Yes,01-JAN-66,NANP AREA,,Y,01-JAN-66,,,Toll-free,,,Toll-Free,NO,No,NA,NA,NA,NA,\n\
                876,Yes,soon,JAMAICA,JAMAICA,Y,,,,,658/x,809,Pagers,Yes,No,10D,10D,1+10D,1+10D,\n\
                201,Yes,01-Jan-1947,NJ,US,Y,01-Jan-1947,,,,201/551,,,No,No,,,,,\n";
    let (rows, notes) = read(&REPORT, &format!("{header}\n{rows}"));
    let plans = rows.iter().map(|row| {
        let plan = serde_json::to_string(&row.plan).unwrap();
        let overlays = row.overlays.iter().map(|codes| codes.iter().join("/"));
        format!("{} {plan} {:?}", row.npa, overlays.collect::<Vec<_>>())
    });
    let plans: Vec<_> = plans.collect();
    insta::assert_snapshot!(plans.join("\n"));
    for (warning, example) in [
        ("SERVICE is unknown and is treated as non-geographic", "'Pagers' on line 4"),
        ("ASSIGNMENT_DT is not a date and is ignored", "'soon' on line 4"),
        (
            "OVERLAY_COMPLEX names something other than area codes and is ignored",
            "'658/x' on line 4",
        ),
    ] {
        assert!(notes.contains(warning) && notes.contains(example), "{notes}");
    }
}

#[test]
fn two_digit_years_start_with_the_first_year_of_the_plan() {
    let header = "NPA_ID,LOCATION,COUNTRY,IN_SERVICE,IN_SERVICE_DT";
    let dates = ["01-JAN-47", "31-DEC-46", "01-Jan-99", "01-Jan-1947", "01-Jan-2046"];
    let rows = dates.map(|date| format!("201,NJ,US,Y,{date}\n")).concat();
    let (rows, notes) = read(&REPORT, &format!("{header}\n{rows}"));
    let years = rows.iter().map(|row| row.plan.in_service_on.unwrap().year());
    assert_eq!(years.collect::<Vec<_>>(), [1947, 2046, 1999, 1947, 2046]);
    assert!(notes.contains("warnings: {}"), "{notes}");
}

#[test]
fn spellings_of_time_zones_tell_one_from_several() {
    for text in ["E", "C", "A", "N", "(UTC-10)", "UTC-11", "(UTC+10)", ""] {
        assert!(!has_several_time_zones(text), "{text}");
    }
    for text in ["EC", "CM", "cm", "MP", "CMP", "PT/MT only for W Wendover"] {
        assert!(has_several_time_zones(text), "{text}");
    }
}

#[test]
fn sample_contains_all_area_codes_and_causes_no_warnings() {
    let sample = include_str!("../../../../../infra/local/sample/npa_report.csv");
    let (area_codes, notes) = read(&REPORT, sample);
    assert_eq!(area_codes.len(), 800);
    assert!(notes.contains("warnings: {}"), "{notes}");
}

#[test]
fn impossible_area_codes_and_unknown_locations_cause_warnings() {
    let (area_codes, notes) =
        read_rows("999,NJ,US,Y,\n204,MANITOBBA,CANADA,Y,\n201,ONTARIO,US,Y,\n");
    assert_eq!(area_codes.len(), 2);
    assert!(area_codes.iter().all(|area_code| area_code.states.is_empty()), "{area_codes:?}");
    for warning in ["'999' on line 3", "'MANITOBBA' on line 4", "'ONTARIO' on line 5"] {
        assert!(notes.contains(warning), "{notes}");
    }
}
