// The codes that filters accept, and their names. A test compares them with the OpenAPI document.

const COUNTRIES = `
  AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV
  BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET
  FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM
  IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD
  ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE
  PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST
  SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF
  WS XK YE YT ZA ZM ZW
`.trim().split(/\s+/);

const STATES = {
  AK: "Alaska", AL: "Alabama", AR: "Arkansas", AS: "American Samoa", AZ: "Arizona", CA: "California",
  CO: "Colorado", CT: "Connecticut", DC: "District of Columbia", DE: "Delaware", FL: "Florida",
  GA: "Georgia", GU: "Guam", HI: "Hawaii", IA: "Iowa", ID: "Idaho", IL: "Illinois", IN: "Indiana",
  KS: "Kansas", KY: "Kentucky", LA: "Louisiana", MA: "Massachusetts", MD: "Maryland", ME: "Maine",
  MI: "Michigan", MN: "Minnesota", MO: "Missouri", MP: "Northern Mariana Islands", MS: "Mississippi",
  MT: "Montana", NC: "North Carolina", ND: "North Dakota", NE: "Nebraska", NH: "New Hampshire",
  NJ: "New Jersey", NM: "New Mexico", NV: "Nevada", NY: "New York", OH: "Ohio", OK: "Oklahoma",
  OR: "Oregon", PA: "Pennsylvania", PR: "Puerto Rico", RI: "Rhode Island", SC: "South Carolina",
  SD: "South Dakota", TN: "Tennessee", TX: "Texas", UT: "Utah", VA: "Virginia", VI: "U.S. Virgin Islands",
  VT: "Vermont", WA: "Washington", WI: "Wisconsin", WV: "West Virginia", WY: "Wyoming",
  AB: "Alberta", BC: "British Columbia", MB: "Manitoba", NB: "New Brunswick",
  NL: "Newfoundland and Labrador", NS: "Nova Scotia", NT: "Northwest Territories", NU: "Nunavut",
  ON: "Ontario", PE: "Prince Edward Island", QC: "Quebec", SK: "Saskatchewan", YT: "Yukon",
};

const CARRIER_TYPES = ["ILEC", "CLEC", "WIRELESS", "CAP", "IXC", "PCS"];
const CARRIER_TYPE_NAMES = {
  ILEC: "Incumbent local carrier", CLEC: "Competitive local carrier", WIRELESS: "Mobile carrier",
  CAP: "Competitive access provider", IXC: "Long-distance carrier", PCS: "Mobile carrier",
};
const RECORD_KINDS = ["exchange", "area_code", "carrier"];
const STATUSES = ["ASSIGNED", "UNASSIGNED", "RESERVED"];

const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "code" });
const countryName = (code) => countryNames.of(code);
const stateName = (code) => STATES[code] ?? code;

const namedCountries = COUNTRIES.map((code) => [code, countryName(code)]).sort(([, a], [, b]) => a.localeCompare(b, "en"));

/** The codes and names of each field's choices, in display order. */
const CHOICES = {
  countries: namedCountries,
  oneCountry: [["", "Choose a country"], ...namedCountries],
  states: [["", "Any"], ...Object.entries(STATES).sort(([, a], [, b]) => a.localeCompare(b, "en"))],
  numberingCountries: [["", "Any"], ["CA", "Canada"], ["US", "United States"]],
  carrierTypes: [["", "Any"], ...CARRIER_TYPES.map((type) => [type, `${CARRIER_TYPE_NAMES[type]} (${type})`])],
  recordKinds: [["", "Any"], ...RECORD_KINDS.map((kind) => [kind, toWords(kind)])],
  statuses: [["", "Any"], ...STATUSES.map((status) => [status, toWords(status)])],
};

/** Fills the fields with choices. */
function fillCodes() {
  for (const field of document.querySelectorAll("select[data-codes]")) {
    field.append(...CHOICES[field.dataset.codes].map(([code, name]) => element("option", { value: code }, name)));
  }
}
