// The example that each view shows before the first lookup. A test compares their fields with the
// service's.

const exampleFlag = (name, abbreviation, folder) => {
  const at = absolute(`/flags/${folder}/${abbreviation}`);
  const png = { small: `${at}-48x32.png`, medium: `${at}-240x160.png`, large: `${at}-480x320.png` };
  return { name, abbreviation, svg: `${at}.svg`, png };
};

const onePage = { limit: 100, offset: 0, total: 3 };
const status = "ASSIGNED";
const inSanRafael = { carrier_type: "CLEC", rate_center: "SAN RAFAEL", state: "CA", country: "US", status };

const VERSIONS = ["20261120T090003Z-5fGh2kLmN8pQrS1t", "20261121T090003Z-Zx8WvU3tSrQpOn6m"];
const change = (kind, key, fields) => ({
  publication: VERSIONS[1], version: VERSIONS[1], published_at: "2026-11-21T09:00:38Z", change: "changed", kind, key, fields,
});

const EXAMPLES = {
  number: {
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
      },
      timeZones: [{ zone: "America/Los_Angeles", utcOffset: "-08:00", localTime: "2026-11-24T14:24:00-08:00" }],
      callingHours: { status: "open", rule: "47 CFR 64.1200(c)(1)", window: { from: "08:00", to: "21:00" } },
      place: { name: "San Francisco, CA", language: "en", basis: "NUMBER_PREFIX" }, network: null,
    },
  },
  "area-code": {
    params: { npa: "415" },
    body: {
      npa: "415", state: "CA", country: "US", total_exchanges: 3,
      exchanges: [
        { nxx: "206", ocn: "176L", company_name: "SAMPLE FIBER COMMUNICATIONS, LLC", common_name: "Sample Fiber", rate_center: "SAN RAFAEL", status },
        { nxx: "208", ocn: "291L", company_name: "SAMPLE SPECTRUM HOLDINGS, LLC", common_name: null, rate_center: "SNFC CNTRL", status },
        { nxx: "209", ocn: "296C", company_name: "SAMPLE CABLE PHONE, LLC", common_name: "Sample Cable", rate_center: "SAN RAFAEL", status },
      ],
      pagination: onePage,
    },
    plan: {
      npa: "415", state: "CA", states: ["CA"], country: "US", service: "GEOGRAPHIC", status: "IN_SERVICE",
      in_service_on: "1947-01-01", parent: null, overlay: ["415", "628"], total_exchanges: 3,
      time_zones: ["America/Los_Angeles"],
      dialing: { home_local: "1+10D", home_toll: "1+10D", foreign_local: "1+10D", foreign_toll: "1+10D", notes: null },
      relief: { is_in_jeopardy: false, is_in_progress: false, status: null, planning_letters: [] }, notes: null,
      exchanges_by_status: { ASSIGNED: 3 }, total_rate_centers: 2,
      rate_centers: [{ rate_center: "SAN RAFAEL", exchanges: 2 }, { rate_center: "SNFC CNTRL", exchanges: 1 }],
      total_holders: 3,
      holders: [
        { ocn: "176L", company_name: "SAMPLE FIBER COMMUNICATIONS, LLC", common_name: "Sample Fiber", exchanges: 1, blocks: 0 },
        { ocn: "291L", company_name: "SAMPLE SPECTRUM HOLDINGS, LLC", common_name: null, exchanges: 1, blocks: 0 },
        { ocn: "296C", company_name: "SAMPLE CABLE PHONE, LLC", common_name: "Sample Cable", exchanges: 1, blocks: 0 },
      ],
    },
  },
  carriers: {
    params: { ocn: "5927" },
    body: {
      ocn: "5927", company_name: "SAMPLE MOBILE USA, INC.", common_name: "Sample Mobile", carrier_type: "WIRELESS",
      state: "CA", country: "US",
      exchanges: { total: 103, by_state: { CA: 54, FL: 31, NY: 18 } },
    },
  },
  changes: {
    params: { npa: "415" },
    body: {
      since: { publication: VERSIONS[0], version: VERSIONS[0], published_at: "2026-11-20T09:00:41Z" },
      until: { publication: VERSIONS[1], version: VERSIONS[1], published_at: "2026-11-21T09:00:38Z" },
      is_current: true, history_begins_at: "2026-11-20T09:00:41Z",
      changes: [
        change("carrier", "291L", { "exchanges.total": { before: 52, after: 53 } }),
        change("exchange", "415-208", {
          company_name: { before: "SAMPLE CABLE PHONE, LLC", after: "SAMPLE SPECTRUM HOLDINGS, LLC" },
          ocn: { before: "296C", after: "291L" },
        }),
        change("exchange", "415-209", { rate_center: { before: "SNFC CNTRL", after: "SAN RAFAEL" } }),
      ],
      pagination: onePage,
    },
  },
  search: {
    params: { q: "sample san rafael" },
    body: {
      results: [
        { npa: "415", nxx: "206", ocn: "176L", company_name: "SAMPLE FIBER COMMUNICATIONS, LLC", common_name: "Sample Fiber", ...inSanRafael },
        { npa: "415", nxx: "209", ocn: "296C", company_name: "SAMPLE CABLE PHONE, LLC", common_name: "Sample Cable", ...inSanRafael },
        { npa: "628", nxx: "200", ocn: "291L", company_name: "SAMPLE SPECTRUM HOLDINGS, LLC", common_name: null, ...inSanRafael },
      ],
      pagination: onePage,
    },
  },
};
