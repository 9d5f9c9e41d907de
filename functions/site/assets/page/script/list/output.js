// The result of a list: its own columns, and those that the lookup adds.

/** The fields that a list can get, with their names. The names of their columns follow from the API's. */
const LIST_FIELDS = {
  verdict: "Verdict", "reason.code": "Reason", valid: "Valid", "formats.e164": "E.164",
  "formats.national": "National format", "formats.international": "International format", extension: "Extension",
  country: "Country", "location.countryName": "Country name", type: "Type", "line.type": "Line type",
  "place.name": "City or region", "location.state": "State or province", "location.rateCenter": "Rate center",
  npa: "Area code", nxx: "Exchange", "carrier.name": "Carrier", "carrier.ocn": "OCN", "carrier.type": "Carrier type",
  "line.everydayName": "Everyday name of the carrier", "network.name": "Mobile network", "assignment.verdict": "Assignment",
  timeZones: "Time zones", "reason.other": "Second number", duplicateOf: "Line that it repeats",
};
const DUPLICATE_OF = "duplicateOf";
/** As in `tnr format`, with the OCN. */
const DEFAULT_FIELDS = [
  "verdict", "reason.code", "formats.e164", "formats.national", "country", "type", "line.type", "place.name",
  "location.state", "carrier.name", "carrier.ocn",
];

/** The name of a field's column, as in the API's CSV. */
function columnName(path) {
  if (path === "reason.code") return "reason";
  const name = path.replace(/^(formats|location|reason\.(?=other))\.?/, "");
  return name.replaceAll(".", "_").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A field's cell. The formats of an invalid number are empty, so that they are not mistaken for a valid one. */
function resultCell(result, path) {
  if (path.startsWith("formats.") && !result.valid) return "";
  const value = path.split(".").reduce((part, name) => part?.[name], result);
  if (Array.isArray(value)) return value.map(({ zone }) => zone).join(" ");
  return value === null || value === undefined ? "" : String(value);
}

const FORMULA = /^[\s\p{Cc}\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
const SIGNED_NUMBER = /^[+-][\d(][\d ().-]*$/;

/** Adds an apostrophe to text that a spreadsheet would evaluate, as in the API's CSV. */
const escapeFormula = (text) => (FORMULA.test(text) && !SIGNED_NUMBER.test(text) ? `'${text}` : text);

function csvCell(text, delimiter) {
  const safe = escapeFormula(text);
  return safe.includes(delimiter) || /["\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvCells = (cells, delimiter) => cells.map((cell) => csvCell(cell, delimiter)).join(delimiter);

/** The names of the added columns. Their prefix is `tn_`, or the next one that the list does not have. */
function addedNames(fields, names) {
  for (let count = 1; ; count += 1) {
    const added = fields.map((path) => `tn${count === 1 ? "" : count}_${columnName(path)}`);
    if (!added.some((name) => names.includes(name))) return added;
  }
}
