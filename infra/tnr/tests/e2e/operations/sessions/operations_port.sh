serve
for path in '/v1/npa/415?limit=1' '/v1/npa/415?limit=0' /v1/npa/415/nxx/206 /nowhere; do curl -s -o response -w '%{http_code}\n' -H "x-api-key: $KEY" "$URL$path"; done
curl -s -D headers $OPS/metrics > metrics; grep -i ^content-type headers
sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' metrics | sort > names; sed -n 's/^| `\(tnr_[a-z_]*\|process_start_time_seconds\)`.*/\1/p' $ROOT/docs/SELF-HOSTING.md | sort | diff - names
grep -e ^tnr_http_requests -e '_count{' -e 'le="10"' -e ^tnr_data_records -e ^tnr_database_up -e ^tnr_ready metrics
awk '/^tnr_data_age_seconds/ { print $1, ($2 < 86400) } /^tnr_dynamodb_read_capacity_units_total/ { print $1, ($2 >= 1) }' metrics
sed -e /^tnr_data_info/d -e 's/ [^ ]*$//' metrics | grep -e 415 -e nowhere
echo "for header in 'host: example.com' 'host: a/b' 'host: localhost' 'origin: http://localhost'; do"' curl -s -o response -w "%{http_code} $header\n" -H "$header" $OPS/metrics; done' > from_pages
. ./from_pages
stop
serve --ops-address 0.0.0.0:0
. ./from_pages
stop
rm data/*
tnr keys create --name first > key
serve --no-sample
for path in live ready; do get $(cat key) /$path; done
for path in live ready; do curl -s -w '%{http_code}\n' $OPS/$path; done
for ocn in 6015 'much too long'; do curl -s -H "x-api-key: $(cat key)" -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_carriers","arguments":{"ocn":"'"$ocn"'"}}}' $URL/mcp; echo; done
curl -s $OPS/metrics | grep -e ^tnr_ready -e ^tnr_data_info -e ^tnr_http_requests_total
