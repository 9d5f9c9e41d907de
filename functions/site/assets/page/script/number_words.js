// The sentences about a number: one line that says what it is, and what to know about numbers of its kind.

const LINE_WORDS = {
  WIRELESS: "mobile", VOIP: "VoIP", LANDLINE_OR_VOIP: "landline or VoIP", TOLL_FREE: "toll-free",
};

const capitalize = (text) => text[0].toUpperCase() + text.slice(1);

/** The line type, such as `Likely landline`. It is certain if the number's range determines it. */
function lineWords({ line, typeDescription }) {
  if (!line?.type) return typeDescription && capitalize(typeDescription.toLowerCase());
  const words = LINE_WORDS[line.type] ?? line.type.toLowerCase().replaceAll("_", " ");
  return line.mayDifferIfPorted ? `Likely ${words}` : capitalize(words);
}

/** The network that libphonenumber knows, unless the regulator says that nobody holds the range. */
const networkOf = ({ assignment, network }) =>
  (["UNASSIGNED_RANGE", "RESERVED_RANGE"].includes(assignment?.verdict) ? null : network);

const carrierWords = (number) => {
  const { assignment, carrier, line } = number;
  return line?.everydayName ?? carrier?.name
    ?? (carrier?.ocn ? `OCN ${carrier.ocn}` : networkOf(number)?.name ?? assignment?.range?.holder);
};

const isCovered = ({ assignment }) => Boolean(assignment) && assignment.verdict !== "NOT_COVERED";

/** The city if known, otherwise the state. Countries are named, except North American ones that the reports cover. */
function placeWords(number) {
  const { place, location, isNonGeographic } = number;
  if (isNonGeographic) return "not tied to a place";
  const name = place?.name ?? location?.stateName;
  const country = location?.countryName;
  return [name, name !== country && !(name && number.npa && isCovered(number)) && country].filter(Boolean).join(", ");
}

/** Unusual assignments: their words for the badge and the headline, and an explanation. */
const nobodyHasIt = "No carrier holds it, so a call that shows it probably has a forged caller ID.";
const UNUSUAL = {
  UNASSIGNED_AREA_CODE: ["not assigned", "Not assigned", nobodyHasIt],
  UNASSIGNED_EXCHANGE: ["not assigned", "Not assigned", nobodyHasIt],
  UNASSIGNED_BLOCK: ["not assigned", "Not assigned", nobodyHasIt],
  PLANNED_AREA_CODE: ["not in service yet", "Not in service yet", "Numbers with this area code do not work yet."],
  NOT_YET_EFFECTIVE: ["not in service yet", "Not in service yet", "Numbers in this block do not work yet."],
  UNASSIGNED_RANGE: ["not assigned", "Not assigned", nobodyHasIt],
  RESERVED_RANGE: ["reserved", "Reserved", "No carrier holds this range."],
  FICTIONAL: ["fictional", "Reserved for fiction", "Films and books use numbers like this one. Nobody has it."],
  TEST_OR_SPECIAL: ["special use", "Special use", "Numbers like this one are never assigned to a subscriber."],
};

/** A range's status if the regulator publishes none. */
const RANGE_STATUSES = {
  ASSIGNED: "assigned", NOT_YET_EFFECTIVE: "assigned", UNASSIGNED_RANGE: "not assigned", RESERVED_RANGE: "reserved",
};

/** The regulator's status of a range as a sentence. */
function rangeWords({ verdict, range: { status, effectiveFrom } }) {
  const start = verdict === "NOT_YET_EFFECTIVE" && effectiveFrom ? `, from ${longDate(effectiveFrom)}` : "";
  return `The regulator lists this range as ${status ?? RANGE_STATUSES[verdict]}${start}.`;
}

/** The tone and words of a number's badge. */
function badgeWords({ valid, possible, assignment }) {
  if (!valid) return [possible ? "warning" : "bad", "Not valid"];
  const [unusual] = UNUSUAL[assignment?.verdict] ?? [];
  return unusual ? ["warning", `Valid format, ${unusual}`] : ["good", "Valid format"];
}

/** The result in one line, such as `Likely landline · AT&T · Miami, FL`. */
function headline(number, params) {
  if (!number.valid) return shortCodeWords(params) ?? (number.reason && `${number.reason.message}.`);
  const [, unusual] = UNUSUAL[number.assignment?.verdict] ?? [];
  return [unusual ?? lineWords(number), carrierWords(number), placeWords(number)].filter(Boolean).join(" · ");
}

const WHO_PAYS = {
  TOLL_FREE: "The person who is called pays for the call.",
  PREMIUM_RATE: "The caller pays extra for a service, on top of the call.",
  SHARED_COST: "The caller and the person called share the cost.",
  PERSONAL_NUMBER: "It belongs to a person or a device, such as a connected car, wherever they are.",
};

/** Numbers in area codes without a place. */
const SERVICES = {
  TOLL_FREE: "Toll-free numbers are assigned one by one from a registry that carriers share, not in exchanges. "
    + "So they have no place, and the reports name no carrier.",
  PREMIUM_RATE: "Area code 900 has no place, and the reports do not say who holds its numbers.",
};
const SERVICE_CODES = {
  600: "Canada uses area code 600 for services without a place, such as satellite phones.",
  700: "Each long-distance carrier uses area code 700 for services of its own.",
  710: "Area code 710 is reserved for the US government.",
};

/** Calling codes that belong to no country (ITU-T E.164). */
const SHARED_CALLING_CODES = {
  "+800": "an international toll-free number", "+808": "an international shared-cost number", "+870": "a satellite phone number",
  "+878": "a universal personal number", "+881": "a satellite phone number", "+882": "a number in an international network",
  "+883": "a number in an international network", "+888": "a number for disaster relief",
  "+979": "an international premium-rate number",
};

/** Short codes in the US and Canada. They are not phone numbers. */
const SHORT_CODES = {
  211: "community services", 311: "city services", 411: "directory assistance", 511: "traffic and travel information",
  611: "the carrier's customer service", 711: "telephone relay for people who are deaf or hard of hearing",
  811: "marking buried lines before you dig", 911: "emergencies", 988: "the suicide and crisis lifeline",
};

/** Describes a short code in the default country; null for other text. */
function shortCodeWords({ tn, country = "US" }) {
  const isShortCode = ["US", "CA"].includes(country) && Object.hasOwn(SHORT_CODES, tn.trim());
  return isShortCode ? `The short code for ${SHORT_CODES[tn.trim()]}. Short codes are not phone numbers.` : null;
}

/** The reason why no carrier is known. */
function withoutCarrier({ countryCallingCode, country, isNonGeographic, line, network, npa }) {
  if (SHARED_CALLING_CODES[countryCallingCode]) {
    return `This is ${SHARED_CALLING_CODES[countryCallingCode]}. Calling code ${countryCallingCode} belongs to no country.`;
  }
  if (countryCallingCode !== "+1") {
    return network ? "" : "No open data loaded here says who holds this number.";
  }
  if (isNonGeographic) {
    return SERVICE_CODES[npa] ?? SERVICES[line?.type] ?? `Area code ${npa} has no place, and the reports do not list its exchanges.`;
  }
  return country && "Like the US and Canada, this country has calling code +1. It assigns its own exchanges, which the "
    + "reports do not list.";
}

/** Sentences about numbers of this kind. Empty for most numbers in the US and Canada. */
function explanation(number) {
  const { assignment, line, countryCallingCode } = number;
  if (isCovered(number)) return UNUSUAL[assignment.verdict]?.[2] ?? "";
  if (!countryCallingCode || !assignment) return "";
  return [WHO_PAYS[line?.type], withoutCarrier(number)].filter(Boolean).join(" ");
}
