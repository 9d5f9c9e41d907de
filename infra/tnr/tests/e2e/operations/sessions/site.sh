serve --key tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn
curl -s $URL/openapi.json | grep -o '"servers":[^]]*'
tnr openapi > description; cmp description $ROOT/docs/openapi.json; wc -c < description | awk '{ print ($1 <= 350 * 1024) }'
curl -s $URL/ -H 'accept: text/html' -H 'accept-encoding: gzip' -D headers | wc -c | awk '{ print ($1 > 5000 && $1 < 45000) }'; grep -i -e '^content-encoding' -e '^vary' -e '^cache-control' headers | tr -d '\r' | sort
tnr openapi --version 3.0 | grep '"openapi"'; curl -s $URL/openapi-3.0.json | grep -o -e '"openapi":[^,]*' -e '"servers":[^]]*'
tnr serve --help | grep -o -e '--[a-z-]*' -e '[A-Z_]*=' | tr -d = | sort -u | while read name; do grep -q -- "\`$name\`" $ROOT/docs/SELF-HOSTING.md || echo $name; done
sed -n '/^\[workspace.dependencies\]/,/^\[workspace.metadata/p' $ROOT/Cargo.toml | grep ' = ' | grep -v 'path = ' | cut -d' ' -f1 | while read name; do grep -q "^| .*\`$name\`" $ROOT/docs/DEPENDENCIES.md || echo $name; done
tnr flags images > log
for link in $(curl -s -H "x-api-key: $KEY" $URL/v1/format/+13052345678 | grep -o 'http[^"]*'); do echo ${link##*/}; curl -sS $link | cmp - images/${link#*/flags/*/}; done
stop
