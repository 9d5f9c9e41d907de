// A minimal Express service that only describes phone numbers.
import express from "express";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";

const app = express();

app.get("/v1/format/:tn", (request, response) => {
  const number = parsePhoneNumberFromString(request.params.tn, "US");
  if (!number) {
    return response.json({ valid: false, possible: false });
  }
  response.json({
    valid: number.isValid(),
    possible: number.isPossible(),
    countryCallingCode: number.countryCallingCode,
    country: number.country,
    nationalNumber: number.nationalNumber,
    type: number.getType(),
    formats: {
      e164: number.format("E.164"),
      international: number.format("INTERNATIONAL"),
      national: number.format("NATIONAL"),
      rfc3966: number.format("RFC3966"),
    },
  });
});

const server = app.listen(0, "127.0.0.1", () => {
  console.log(`base URL  http://127.0.0.1:${server.address().port}`);
});
