"""Alarm evaluation matches the missing data tables in CloudWatch's user guide."""

import pytest

from metric_math import Expressions, states

# Five periods, newest last; "0" is within the threshold, "X" breaches it, "-" is missing. Then the states if missing
# data is ignored, breaching and not breaching; "before" is the previous state.
THREE_OF_THREE = [
    ("0-X-X", "OK", "OK", "OK"),
    ("----0", "OK", "OK", "OK"),
    ("-----", "before", "ALARM", "OK"),
    ("0XX-X", "ALARM", "ALARM", "ALARM"),
    ("--X--", "before", "ALARM", "OK"),
]
TWO_OF_THREE = [
    ("0-X-X", "ALARM", "ALARM", "ALARM"),
    ("00X0X", "ALARM", "ALARM", "ALARM"),
    ("0-X--", "OK", "ALARM", "OK"),
    ("----0", "OK", "ALARM", "OK"),
    ("---X-", "before", "ALARM", "OK"),
]


@pytest.mark.parametrize("to_alarm, table", [(3, THREE_OF_THREE), (2, TWO_OF_THREE)])
def test_missing_data_is_treated_as_documented(to_alarm, table):
    for periods, *expected in table:
        series = [{"0": 0, "X": 1, "-": None}[period] for period in periods]
        for treatment, state in zip(["ignore", "breaching", "notBreaching"], expected):
            alarm = {
                "EvaluationPeriods": 3, "DatapointsToAlarm": to_alarm, "Threshold": 0, "TreatMissingData": treatment,
                "ComparisonOperator": "GreaterThanThreshold",
            }
            # Only the last evaluation sees all five periods; the previous state is irrelevant.
            last, before = states(alarm, {"metric": series})[-1], states(alarm, {"metric": series})[-2]
            assert last == (before if state == "before" else state), (periods, treatment)


def test_expressions_are_evaluated_as_documented():
    metrics = {"a": [1, None, 3], "b": [0, 5, None], "none": [None] * 3}

    def value(expression, fill_fills_empty=True):
        return Expressions(metrics, {"e": expression}, fill_fills_empty).series("e")

    assert value("a + 1") == [2, None, 4]
    assert value("a / b") == [None, None, None]
    assert value("SUM([a, b])") == [1, 5, 3] == value("SUM(METRICS())")
    assert value("FILL(a, 0)") == [1, 0, 3]
    assert value("IF(a > 2, 7, a)") == [1, None, 7]
    assert value("FILL(none, 0)") == [0, 0, 0]
    assert value("FILL(none, 0)", fill_fills_empty=False) == [None] * 3
