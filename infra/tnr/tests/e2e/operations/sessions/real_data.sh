serve
get '' /v1/health
curl -sI $URL/v1/stats | grep -i x-numbering
CARGO=cargo tnr lookup +14152341234 | grep made-up
import published 2> log
curl -sI $URL/v1/stats | grep -i x-numbering
kill
serve
tnr lookup +14152341234
tnr format first/nanpa --column NPA-NXX > formatted
tnr export --format csv --table area-codes > area-codes.csv
stop
import sample > table 2> log
grep older log
