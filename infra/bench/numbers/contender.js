// Runs an npm package as a contender in the numbers benchmark:
//
//   node contender.js PACKAGE
//
// Prints how many nanoseconds the package took to load, then how many each line took. A line is a
// JSON array: the number of passes, and the inputs to describe in each.
'use strict';
const { createInterface } = require('node:readline');

const DEFAULT_COUNTRY = 'US';

const PACKAGES = {
  'libphonenumber-js'() {
    const parse = require('libphonenumber-js/max').parsePhoneNumberFromString;
    return (text) => {
      const number = parse(text, DEFAULT_COUNTRY);
      return number && [
        number.isValid(),
        number.isPossible(),
        number.getType(),
        number.country,
        number.format('E.164'),
        number.format('INTERNATIONAL'),
        number.format('NATIONAL'),
        number.format('RFC3966'),
      ];
    };
  },
  'google-libphonenumber'() {
    const { PhoneNumberUtil, PhoneNumberFormat } = require('google-libphonenumber');
    const util = PhoneNumberUtil.getInstance();
    return (text) => {
      let number;
      try {
        number = util.parse(text, DEFAULT_COUNTRY);
      } catch {
        return undefined;
      }
      return [
        util.isValidNumber(number),
        util.isPossibleNumber(number),
        util.getNumberType(number),
        util.getRegionCodeForNumber(number),
        util.format(number, PhoneNumberFormat.E164),
        util.format(number, PhoneNumberFormat.INTERNATIONAL),
        util.format(number, PhoneNumberFormat.NATIONAL),
        util.format(number, PhoneNumberFormat.RFC3966),
      ];
    };
  },
};

const started = process.hrtime.bigint();
const describe = PACKAGES[process.argv[2]]();
console.log(String(process.hrtime.bigint() - started));

// Counts the results, so that no work is optimized away.
let described = 0;

createInterface({ input: process.stdin }).on('line', (line) => {
  const [passes, inputs] = JSON.parse(line);
  const start = process.hrtime.bigint();
  for (let pass = 0; pass < passes; pass += 1) {
    for (const text of inputs) {
      described += describe(text) ? 1 : 0;
    }
  }
  console.log(String(process.hrtime.bigint() - start));
}).on('close', () => process.exit(described < 0 ? 1 : 0));
