// One phone number.

const numberView = {
  about: "Validate and format any phone number. In North America, see the carrier, rate center and area code "
    + "behind it.",
  title: ({ tn }) => tn,
  requestTarget: ({ tn, country }) => tn
    ? target(`/v1/format/${segment(tn)}`, { defaultCountry: country === "US" ? "" : country, include: "all" })
    : null,
  summary: ({ body }, params) =>
    [numberHeading(body, params.tn), badgeWords(body)[1], headline(body, params)].filter(Boolean).join(", "),
  show: ({ body }, params) => {
    if (!body.valid) markInvalid(byId("number-tn"), "reason");
    return element("article", { class: "card" },
      numberHead(body, params), secondNumberSection(body), formatRows(body, params), carrierSection(body),
      ...(isInUse(body) ? [placeSection(body), timeSection(body)] : []));
  },
};

/** The number, or the text as entered if the number is invalid. */
const numberHeading = ({ valid, formats }, entered) => (valid ? formats.international : entered);

/** Returns true for a valid number, and for one that a carrier holds though Google's rules do not know its range. */
const isInUse = ({ valid, assignment }) => valid || assignment?.verdict === "ASSIGNED";

function numberHead(number, params) {
  const { valid, flags, isNonGeographic } = number;
  const [tone, words] = badgeWords(number);
  return element("div", { class: "card-head" },
    flags?.country && !isNonGeographic && flagImage(flags.country, "large"),
    element("div", { class: "title" },
      element("h2", { tabindex: "-1" }, numberHeading(number, params.tn)),
      // A line never starts with a dot.
      element("p", { id: valid ? null : "reason", class: "headline" }, headline(number, params)?.replaceAll(" ·", "\u00a0·"))),
    element("span", { class: `badge ${tone}` }, words));
}

/** A link to the second number in the text. */
function secondNumberSection({ reason }) {
  if (!reason?.other) return null;
  return element("section", { class: "second" },
    element("p", {}, `${reason.message}.`),
    element("a", { class: "button", href: viewUrl("number", { tn: reason.other }) }, `Look up ${reason.other}`));
}

/** A flag, which is removed if its image cannot be loaded. Its name is always next to it. */
function flagImage({ svg, name }, size) {
  const [width, height] = size === "large" ? [54, 36] : [24, 16];
  const image = element("img", { class: `flag ${size}`, src: svg, alt: `Flag of ${name}`, width, height });
  image.addEventListener("error", () => image.remove());
  return image;
}

/** A row in a description list. Has a copy button if `copied` is given. */
function pair(name, content, copied = null) {
  return element("div", {},
    element("dt", {}, explained(name)), element("dd", {}, content),
    copied && element("dd", {}, copyButton(name, () => copied)));
}

/** The formats of a valid number, or the parsed number without a copy button. */
function formatRows({ valid, formats, extension }, params) {
  if (!formats || (!valid && shortCodeWords(params))) return null;
  const code = (text) => element("code", {}, text);
  if (!valid) {
    return element("section", {}, element("dl", { class: "pairs" }, pair("Read as", code(formats.international))));
  }
  const rows = [
    ["E.164", formats.e164], ["International", formats.international], ["National", formats.national],
    ["RFC 3966", formats.rfc3966],
  ];
  return element("section", {},
    element("h3", {}, "Formats"),
    element("dl", { class: "pairs" },
      rows.filter(([, text]) => text).map(([name, text]) => pair(name, code(text), text)),
      extension && pair("Extension", code(extension))));
}

/** A carrier type in words, with an explanation of the abbreviation that carriers use. */
function carrierTypeWords(type) {
  const name = CARRIER_TYPE_NAMES[type];
  return Object.hasOwn(TERMS, type) ? [`${name} (`, ...term(type), ")"] : name ?? type;
}

/** The carrier that the number's block is assigned to, or the reason why it has no carrier. */
function carrierSection(number) {
  const { assignment, carrier, line } = number;
  const { range, source } = assignment ?? {};
  const network = networkOf(number);
  const sentence = explanation(number);
  const rows = carrierRows(number);
  if (rows.length === 0 && !sentence && !assignment) return null;
  return element("section", {},
    element("h3", {}, carrier || network || range ? "Assignment" : "About this number"),
    rows.length > 0 && element("dl", { class: "pairs" }, rows),
    isCovered(number) && verdictLine(assignment),
    sentence && element("p", {}, sentence),
    network && element("p", { class: "caveat" }, "The network that the number's range was first assigned to; the number may have been ported."),
    (carrier || (range?.holder && !network)) && element("p", { class: "caveat" }, "As assigned. The number may have been ported since"
      + `${line?.mayDifferIfPorted ? ", even to a different line type" : ""}.`),
    source && element("p", { class: "caveat" }, sourceLine(source)));
}

function carrierRows(number) {
  const { assignment, carrier, line, location, npa, nxx } = number;
  const next = assignment?.verdict === "NOT_YET_EFFECTIVE" && assignment.block;
  // Only exchanges in the numbering data can be looked up.
  const isKnown = carrier || location?.rateCenter;
  return [
    (carrier || networkOf(number))
      && pair("Carrier", element("span", { class: "holder" }, carrierWords(number) ?? "Not named in the reports")),
    next && pair("Next carrier", next.name ?? `OCN ${next.ocn}`),
    carrier?.name && line?.everydayName && pair("Legal company", carrier.name),
    carrier?.type && pair("Carrier type", carrierTypeWords(carrier.type)),
    carrier && line?.type && pair("Line type", lineWords(number)),
    carrier?.ocn && pair("OCN", ocnLink(carrier.ocn)),
    isKnown && pair("Exchange", element("a", { href: viewUrl("area-code", { npa, nxx }) }, `${npa}-${nxx}`)),
    ...rangeRows(number),
  ].filter(Boolean);
}

/** Territories whose numbers are in another country's plan, and so in its regulator's data. */
const PLAN_COUNTRIES = { AX: "FI", GG: "GB", IM: "GB", JE: "GB", SJ: "NO" };

/** The regulator's range with the number. */
function rangeRows({ assignment, country, countryCallingCode }) {
  if (!assignment?.range) return [];
  const { from, to, holder, status, effectiveFrom, place } = assignment.range;
  const planCountry = PLAN_COUNTRIES[country] ?? country;
  const holderLink = holder && planCountry && viewLink("countries", { country: planCountry, holder }, holder);
  return [
    pair("Holder", holderLink ?? holder ?? "None"),
    pair("Range", element("code", {}, `${countryCallingCode} ${from}${to === from ? "" : ` to ${to}`}`)),
    pair("Status", status ?? "Not published"),
    effectiveFrom && pair("Effective from", longDate(effectiveFrom)),
    place && pair("Listed place", place),
  ];
}

/** The verdict on the number's assignment as a sentence. */
function verdictLine(assignment) {
  const { verdict, reason, range } = assignment;
  const words = range ? rangeWords(assignment) : `${reason}.`;
  return element("p", { class: `verdict ${verdict === "ASSIGNED" ? "good" : "warning"}` }, words);
}

function placeSection({ location, place, flags, isNonGeographic, countryCallingCode, npa }) {
  if (!location || isNonGeographic) return null;
  const isCity = place && place.basis !== "STATE";
  const state = location.stateName && [flags?.state && flagImage(flags.state, "small"), location.stateName];
  const country = location.countryName && `${location.countryName} (${location.country})`;
  const rows = [
    isCity && pair("City or region", element("span", { lang: place.language }, place.name)),
    location.rateCenter && pair("Rate center", location.rateCenter),
    state && pair(location.country === "CA" ? "Province" : "State", state),
    country && pair("Country", [npa ? country : viewLink("countries", { country: location.country }, country),
      `, calling code ${countryCallingCode}`]),
  ].filter(Boolean);
  return rows.length > 0 && element("section", {}, element("h3", {}, "Place"), element("dl", { class: "pairs" }, rows));
}

/** More time zones than this are only counted. */
const MAX_ZONES = 3;

const CALLING_HOURS = {
  open: ({ from, to }) => `Within ${from} to ${to} local time`,
  closed: ({ from, to }) => `Outside ${from} to ${to} local time`,
  depends: ({ from, to }) => `Depends on the time zone: ${from} to ${to} local time`,
};

const callingWords = ({ status, window }) => CALLING_HOURS[status]?.(window) ?? toWords(status);

function timeSection({ timeZones, callingHours }) {
  if (!timeZones?.length) return null;
  const times = timeZones.length > MAX_ZONES
    ? [`One of ${timeZones.length} time zones`]
    : timeZones.map(({ zone, utcOffset, localTime }) => `${localTime.slice(11, 16)} ${zone} (UTC${utcOffset})`);
  return element("section", {}, element("h3", {}, "Time"),
    element("dl", { class: "pairs" },
      pair("Local time", times.map((time) => element("p", {}, time))),
      callingHours && pair("Calling hours", callingWords(callingHours))),
    callingHours && element("p", { class: "caveat" },
      `The hours for sales calls under ${callingHours.rule}. States and provinces may be stricter. Not legal advice.`));
}
