tnr keys create --name minute --per-minute 3 --per-day 1000 > minute; for key in day agent; do tnr keys create --name $key --per-day 30 > $key; done
serve
echo 'send() { key=$1; shift; curl -s -o response -D headers -w "%{http_code} " -H "x-api-key: $(cat $key)" "$@"; grep -o "^x-ratelimit.*remaining: .*" headers | tr -d "\r" | cut -c13- | paste -sd" "; }' > functions
echo 'post() { send day -H "content-type: $2" --data-binary @- "$URL/v1/$1"; }; numbers() { yes +442079460958 | head -$1; }' >> functions
echo 'call() { send agent -H "content-type: application/json" -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}" $URL/mcp; }' >> functions
echo 'call_numbers() { call tools/call "{\"name\":\"format_number\",\"arguments\":{\"numbers\":[$(yes "\"305\"" | head -$1 | paste -sd,)]}}"; }' >> functions
. ./functions; for request in 1 2 3 4; do send minute "$URL/v1/npa/415?limit=1"; done; grep -o '"reset":.*[05]}}' response; cat response; echo; awk '/^retry-after/ { print ($2 + 0 > 0 && $2 + 0 <= 60) }' headers
. ./functions; echo $KEY > own; send own "$URL/v1/npa/415?limit=1"
. ./functions; numbers 7 | post format text/plain
. ./functions; numbers 24 | post format text/plain
. ./functions; printf '' | post format text/plain
. ./functions; echo '<a/>' | post format application/xml
. ./functions; yes 1 | head -1001 | post format text/plain
. ./functions; printf '1\n2\n3' | post 'format?tn=1' text/plain
. ./functions; echo '305 234 5678' | post find text/csv
. ./functions; echo '305 234 5678 or +44 20 7946 0958' | post find text/plain
. ./functions; echo 'no number' | post find text/plain
. ./functions; yes '12345 ' | head -41 | tr -d '\n' | post find text/plain
. ./functions; numbers 11 | post format text/plain
. ./functions; numbers 1 | post format text/plain
. ./functions; call ping '{}'; call tools/list '{}'; call tools/call '{"name":"format_number","arguments":{"tn":"305"}}'; call tools/call '{"name":"no_tool","arguments":{}}'
. ./functions; call_numbers 3; call_numbers 0; send agent -H 'content-type: application/json' -d '[1]' $URL/mcp
. ./functions; call_numbers 22; grep -o '"error":"[a-z_]*"' response; call_numbers 20; call ping '{}'; cat response
stop
