rm data/*
tnr keys create --name first > key
tnr versions
import first 2> log
tnr versions
tnr rollback
sleep 2.1
import second --dry-run --changes changes.csv 2> log | cut -c1-70 | grep -v 416-
grep -v 416- changes.csv
import second --dry-run --changes changes.jsonl > table
import second --dry-run --verbose 2> log | grep -v '^  changed '
head -1 changes.jsonl
import second --dry-run --changes changes.xls
import second 2> log
tnr backup before.sqlite > log 2>&1
import first --dry-run --allow dates > table 2> log
tnr rollback --dry-run > table
tnr backup after.sqlite > log 2>&1; cmp before.sqlite after.sqlite
tnr versions
tnr versions --json
tnr changes --csv | grep -v 416-
tnr changes --csv --limit 1
tnr changes --json --kind area_code
tnr changes --change removed --kind carrier
tnr history 415 206
tnr area-code 415 206
tnr area-code 415 206 --as-of $(tnr history 415 206 --json | sed 's/.*"since":{[^}]*"published_at":"\([^"]*\)".*/\1/')
tnr rollback --to yesterday
tnr rollback --to $(tnr versions --json | sed 's/.*"version":"\([^"]*\)".*/\1/') 2> log
tnr versions
tnr verify
tnr verify --repair
tnr verify
