// One phone number.

const numberView = {
  about: "Validate and format any phone number. In North America, see the carrier, rate center and area code "
    + "behind it.",
  title: ({ tn }) => tn,
  requestTarget: ({ tn, country }) => tn
    ? target(`/v1/format/${segment(tn)}`, { defaultCountry: country === "US" ? "" : country, include: "all" })
    : null,
  summary: ({ body }, { tn }) =>
    [numberHeading(body, tn), validity(body), body.reason?.message, ...numberFacts(body)].filter(Boolean).join(", "),
  show: ({ body }, { tn }) => {
    if (!body.valid) markInvalid(byId("number-tn"), "reason");
    return element("article", { class: "card" },
      numberHead(body, tn), secondNumberSection(body), formatRows(body), carrierSection(body), placeSection(body),
      timeSection(body));
  },
};

const validity = ({ valid }) => (valid ? "Valid format" : "Not valid");

/** The number, or the text as entered if the number is invalid. */
const numberHeading = ({ valid, formats }, entered) => (valid ? formats.international : entered);

/** The type and country, if known. */
function numberFacts({ typeDescription, location, flags, isNonGeographic }) {
  const country = location?.countryName ?? flags?.country?.name;
  return [typeDescription, country, isNonGeographic && !country && "Not tied to a place"].filter(Boolean);
}

function numberHead(number, entered) {
  const { valid, possible, reason, flags } = number;
  return element("div", { class: "card-head" },
    flags?.country && flagImage(flags.country, "large"),
    element("div", { class: "title" },
      element("h2", { tabindex: "-1" }, numberHeading(number, entered)),
      valid ? element("p", {}, numberFacts(number).join(" · ")) : element("p", { id: "reason" }, reason && `${reason.message}.`)),
    element("span", { class: `badge ${valid ? "good" : possible ? "warning" : "bad"}` }, validity(number)));
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
    element("dt", {}, name), element("dd", {}, content),
    copied && element("dd", {}, copyButton(name, () => copied)));
}

function formatRows({ valid, formats, extension, countryCallingCode }) {
  if (!formats) return null;
  const rows = [
    ["E.164", formats.e164], ["International", formats.international], ["National", formats.national],
    ["RFC 3966", formats.rfc3966],
  ];
  return element("section", {},
    element("h3", {}, valid ? "Formats" : "Formats for these digits"),
    element("dl", { class: "pairs" },
      rows.filter(([, text]) => text).map(([name, text]) => pair(name, element("code", {}, text), text)),
      extension && pair("Extension", element("code", {}, extension)),
      countryCallingCode && pair("Calling code", element("code", {}, countryCallingCode))));
}

function carrierSection({ assignment, carrier, line, location, network, npa, nxx, isNonGeographic }) {
  const section = (...children) => element("section", {}, element("h3", {}, "Carrier"), ...children);
  if (network) {
    return section(
      element("p", { class: "holder" }, network.name),
      element("p", { class: "caveat" }, "The mobile network that its range was first assigned to; the number may have been ported."));
  }
  if (!npa) return assignment && section(verdictLine(assignment));
  if (isNonGeographic) {
    return section(
      assignment?.verdict !== "NOT_COVERED" && verdictLine(assignment),
      element("p", {}, `Exchanges in area code ${npa} have no carrier.`));
  }
  // Only exchanges in the numbering data can be looked up.
  const isKnown = carrier || location?.rateCenter;
  const code = `${npa}-${nxx}`;
  const exchange = isKnown ? element("a", { href: viewUrl("area-code", { npa, nxx }) }, code) : code;
  const name = carrier?.name ?? (carrier?.ocn ? `OCN ${carrier.ocn}` : isKnown ? "No carrier" : "Not in the numbering data");
  const facts = [
    line?.everydayName && name, carrier?.type, carrier && likelyLine(line),
    carrier?.ocn && ["OCN ", ocnLink(carrier.ocn)], ["Exchange ", exchange],
  ].filter(Boolean);
  return section(
    element("p", { class: "holder" }, line?.everydayName ?? name),
    element("p", {}, facts.flatMap((fact, index) => (index ? [" · ", fact] : [fact])).flat()),
    verdictLine(assignment),
    carrier && element("p", { class: "caveat" }, "As assigned; the number may have been ported, even to another type of line."));
}

/** The verdict on the number's assignment as a sentence. */
function verdictLine(assignment) {
  if (!assignment) return null;
  const { verdict, reason } = assignment;
  const tone = verdict === "ASSIGNED" ? "good" : verdict === "NOT_COVERED" ? "neutral" : "warning";
  return element("p", { class: `verdict ${tone}` }, `${reason}.`);
}

/** The line type that is likely for the carrier's numbers, in words. */
function likelyLine(line) {
  return line?.type && `Likely ${line.type.toLowerCase().replaceAll("_", " ").replace("voip", "VoIP")}`;
}

function placeSection({ location, place, flags }) {
  if (!location) return null;
  const isCity = place && place.basis !== "STATE";
  const state = location.stateName && [flags?.state && flagImage(flags.state, "small"), location.stateName];
  const rows = [
    isCity && pair("City or region", element("span", { lang: place.language }, place.name)),
    location.rateCenter && pair("Rate center", location.rateCenter),
    state && pair(location.country === "CA" ? "Province" : "State", state),
    location.countryName && pair("Country", `${location.countryName} (${location.country})`),
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
