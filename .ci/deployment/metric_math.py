"""The parts of CloudWatch's metric math that the alarms use, and alarm states.

A series is a list with one value per period, or None if missing. The rules come from "Using math expressions with
CloudWatch metrics" and "Configuring how CloudWatch alarms treat missing data" in the CloudWatch user guide.
"""

import ast
import operator
from functools import cache

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARISONS = {
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
BREACHES = {
    "GreaterThanThreshold": operator.gt, "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt, "LessThanOrEqualToThreshold": operator.le,
}


@cache
def parse(expression):
    return ast.parse(expression, mode="eval").body


class Expressions:
    """Evaluates expressions over series by ID. Whether FILL fills a series without any value is undocumented, so
    both ways are supported."""

    def __init__(self, metrics, expressions, fill_fills_empty):
        self.metrics, self.expressions, self.fill_fills_empty = metrics, expressions, fill_fills_empty
        self.length = len(next(iter(metrics.values())))

    def series(self, name):
        if name in self.metrics:
            return self.metrics[name]
        return self.value(parse(self.expressions[name]))

    def value(self, node):
        match node:
            case ast.Constant(value):
                return [value] * self.length
            case ast.Name(name):
                return self.series(name)
            case ast.BinOp(left, operation, right):
                apply = OPERATORS[type(operation)]
                return [apply_or_missing(apply, *pair) for pair in zip(self.value(left), self.value(right))]
            case ast.Compare(left, [comparison], [right]):
                apply = COMPARISONS[type(comparison)]
                pairs = zip(self.value(left), self.value(right))
                return [None if None in pair else int(apply(*pair)) for pair in pairs]
            case ast.Call(ast.Name("IF"), [condition, then, otherwise]):
                triples = zip(self.value(condition), self.value(then), self.value(otherwise))
                return [None if c is None else (t if c else o) for c, t, o in triples]
            case ast.Call(ast.Name("FILL"), [filled, ast.Constant(value)]):
                series = self.value(filled)
                if all(point is None for point in series) and not self.fill_fills_empty:
                    return series
                return [value if point is None else point for point in series]
            case ast.Call(ast.Name("SUM"), [summed]):
                points = zip(*self.series_list(summed))
                return [sum(p for p in values if p is not None) if any(p is not None for p in values) else None for values in points]
        raise NotImplementedError(f"{ast.unparse(node)} is not supported here; add it according to CloudWatch's rules")

    def series_list(self, node):
        match node:
            case ast.Call(ast.Name("METRICS"), []):
                return list(self.metrics.values())
            case ast.List(items):
                return [self.value(item) for item in items]
        raise NotImplementedError(ast.unparse(node))


def apply_or_missing(apply, left, right):
    if left is None or right is None or (apply is operator.truediv and right == 0):
        return None
    return apply(left, right)


@cache
def watched_series(expressions, returned, metrics, fill_fills_empty):
    """The series that an alarm compares with its threshold. Both mappings are tuples of pairs, since the same few windows
    recur in most periods, and are evaluated once."""
    return Expressions(dict(metrics), dict(expressions), fill_fills_empty).series(returned)


def states(alarm, metrics, *, further_periods=2, newest=True, fill_fills_empty=True):
    """An alarm's state after each period; None before anything is known.

    CloudWatch looks at `further_periods` more than it evaluates, in case some are missing; the guide's examples have
    two, but it does not specify how many. `newest`: whether the newest period already has its values."""
    needed = int(alarm["EvaluationPeriods"])
    threshold, breaches = float(alarm["Threshold"]), BREACHES[alarm["ComparisonOperator"]]
    queries = alarm.get("Metrics", [{"Id": "metric"}])
    expressions = tuple((query["Id"], query["Expression"]) for query in queries if "Expression" in query)
    [returned] = [query["Id"] for query in queries if query.get("ReturnData", True)]
    state, history = None, []
    for end in range(1, 1 + len(next(iter(metrics.values())))):
        window = tuple(
            (name, (*series[max(0, end - needed - further_periods):end - (not newest)], *[None] * (not newest)))
            for name, series in metrics.items()
        )
        points = watched_series(expressions, returned, window, fill_fills_empty)
        breaching = [breaches(point, threshold) for point in points if point is not None][-needed:]
        state = next_state(breaching, needed, int(alarm["DatapointsToAlarm"]), alarm["TreatMissingData"], state)
        history.append(state)
    return history


def next_state(breaching, needed, to_alarm, treat_missing, previous_state):
    """The state, given the known periods. Real values count first, however old; only the remaining gaps are treated as
    missing data."""
    missing = needed - len(breaching)
    match treat_missing:
        case "breaching":
            return "ALARM" if sum(breaching) + missing >= to_alarm else "OK"
        case "notBreaching":
            return "ALARM" if sum(breaching) >= to_alarm else "OK"
        case "ignore" if missing and all(breaching):
            return "ALARM" if sum(breaching) >= to_alarm else previous_state
        case "ignore":
            return "ALARM" if sum(breaching) >= to_alarm else "OK"
    raise NotImplementedError(f"TreatMissingData must be breaching, notBreaching or ignore, got {treat_missing!r}")
