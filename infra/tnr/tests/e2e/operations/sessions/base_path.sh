for path in '' / numbers /numbers/ /a//b '/a b' '/{a}' '/a?b'; do tnr serve --base-path "$path" 2>&1 | head -1; done
for path in /apis/tnr-2 /~team/v1.0; do tnr serve --base-path $path --key none 2>&1 | cut -c1-30; done
serve --base-path /numbers --key tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn
curl -si -H "x-api-key: $KEY" "$URL/v1/npa/415?limit=1" | grep -i '^link' | sed 's/version=[^>]*/version/g'
curl -si -H "x-api-key: $KEY" "${URL%/numbers}/v1/npa/415?limit=1" | grep -i '^link' | sed 's/version=[^>]*/version/g'
curl -s -H "x-api-key: $KEY" "$URL/v1/npa/415?limit=1&offset=1"
for path in /numbers '/numbers?from=bookmark' / /numbersx; do curl -s -o page -w '%{http_code} %{content_type}\n' -H 'accept: text/html' "${URL%/numbers}$path"; done
stop
serve --host 127.0.0.2
curl -s $URL/health
curl -s http://127.0.0.1:${URL##*:}/health
stop
