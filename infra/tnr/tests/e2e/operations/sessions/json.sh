serve
echo 'api() { curl -sS -H "x-api-key: $KEY" "$URL$1"; echo; }' > functions
. ./functions; api /v1/area-codes/212 > api; tnr area-codes 212 --json | cmp - api
. ./functions; api /v1/carrier/0230 > api; tnr carrier 0230 --json | cmp - api
. ./functions; api '/v1/carriers?q=sample%20tel&limit=9' > api; tnr carrier sample tel --limit 9 --json | cmp - api
. ./functions; api /v1/npa/415/nxx/234 | sed 's/"limit":[0-9]*//' > api; tnr area-code 415 234 --json | sed 's/"limit":[0-9]*//' | cmp - api
. ./functions; api '/v1/search?q=san&state=CA&status=assigned&limit=7' > api; tnr search san --state CA --status assigned --limit 7 --json | cmp - api
. ./functions; api /v1/lookup/4152341234 > api; tnr lookup '(415) 234-1234' --json | sed 's/.*,"lookup":\(.*\)}/\1/' | cmp - api
. ./functions; api '/v1/format/4152341234?include=all&flags=false' | sed 's/"localTime":"[^"]*"//g' > api; tnr lookup '(415) 234-1234' --json | sed 's/^{"format"://; s/"localTime":"[^"]*"//g; s/,"lookup":.*}$//' | cmp - api
FLAGS_BASE_URL=https://cdn.example/flags tnr lookup +442079460958 --json | grep -o -e '"svg":"[^"]*"' -e '"lookup":.*'
printf '+14152341234\n(305) 234-5678 ext. 42\n020 7946 0958\nhello\n907\302\267217\302\2671234\n' > list.txt; tnr format list.txt --include line,assignment > formatted; cut -c1-150 formatted
. ./functions; for tn in %2B14152341234 '(305)%20234-5678%20ext.%2042' 907%C2%B7217%C2%B71234; do api "/v1/format?tn=$tn&include=verdict,reason,line,assignment&flags=false"; done > api; grep '"valid":true' formatted | sed -e 's/^.*"valid":/{"valid":/' | cmp - api
