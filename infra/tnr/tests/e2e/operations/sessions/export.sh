tnr export --format csv csv
ls csv
cat csv/provenance.json
tnr export --format csv csv
tnr export --format csv --table carriers csv/carriers.csv
tnr export --format sqlite --table blocks x
tnr export --format vicidial --table blocks x
tnr export --format csv -
tnr export --format csv --table blocks --effective-on 2026-12-25
tnr export --format parquet x --effective-on 2026-12-25
tnr export --format csv --table prefixes --effective-on 2026-12-25 | head -2
tnr export --format sqlite x --effective-on 2026-12-25; head -c 15 x; rm x
echo old > csv/carriers.csv; echo mine > csv/notes
tnr export --format csv --force csv
head -2 csv/carriers.csv; cat csv/notes
tnr export --format csv csv/notes
tnr export --format csv --table carriers /dev/null
tnr export --format vicidial - > vicidial.csv
tnr export --format vicidial --effective-on 2026-12-25 - | cmp - vicidial.csv
grep -e ^305,234, -e ^415,206, vicidial.csv
grep -c ^208, vicidial.csv
grep -vc '^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*$' vicidial.csv
ls
