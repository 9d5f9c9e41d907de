// The number shown before the first lookup: it is reserved for fiction, so nobody has it. A test compares the response with the
// service's.

const exampleFlag = (name, abbreviation, folder) => {
  const at = absolute(`/flags/${folder}/${abbreviation}`);
  const png = { small: `${at}-48x32.png`, medium: `${at}-240x160.png`, large: `${at}-480x320.png` };
  return { name, abbreviation, svg: `${at}.svg`, png };
};

const EXAMPLE = {
  params: { tn: "+14155550142" },
  body: {
    valid: true, possible: true, input: "+14155550142", countryCode: "1", countryCallingCode: "+1", country: "US",
    nationalNumber: "4155550142", npa: "415", nxx: "555", nxxx: "0142",
    formats: {
      e164: "+14155550142", international: "+1 415 555 0142", national: "(415) 555-0142",
      rfc3966: "tel:+1-415-555-0142",
    },
    type: "FIXED_LINE_OR_MOBILE", typeDescription: "Landline or Mobile",
    location: { state: "CA", stateName: "California", country: "US", countryName: "United States" },
    flags: {
      country: exampleFlag("United States", "US", "countries"), state: exampleFlag("California", "CA", "states"),
    },
    isNonGeographic: false, verdict: "valid", reason: null,
    line: { type: null, basis: null, mayDifferIfPorted: null, everydayName: null },
    assignment: {
      verdict: "FICTIONAL", reason: "415-555-0142 is reserved for fiction",
      areaCode: { status: "IN_SERVICE", inServiceOn: "1947-01-01" }, exchange: { status: "RESERVED" }, block: null,
      range: null, source: null,
    },
    timeZones: [{ zone: "America/Los_Angeles", utcOffset: "-08:00", localTime: "2026-11-24T14:24:00-08:00" }],
    callingHours: { status: "open", rule: "47 CFR 64.1200(c)(1)", window: { from: "08:00", to: "21:00" } },
    place: { name: "San Francisco, CA", language: "en", basis: "NUMBER_PREFIX" }, network: null,
  },
};
