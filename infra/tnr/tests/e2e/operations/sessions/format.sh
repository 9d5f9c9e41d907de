printf '' | tnr format
printf 'none\n' > none.txt
tnr format none.txt --strict
printf 'name,contact\nAda,4152341234\n' | tnr format
tnr format none.csv
printf 'phone\n4152341234\n' > list.csv
tnr format list.csv --output out.jsonl
cat out.jsonl
tnr format list.csv --output list.csv
tnr format list.csv --output list.csv --force
cat list.csv
head -c 5000 data/dynamodb.sqlite | tnr format --from text > out.jsonl
for name in list.csv list.TSV; do printf 'phone\n4152341234\n' > $name; done; for name in list.txt plain; do echo 4152341234 > $name; done
echo 'convert() { list=$1; out=$2; shift 2; echo "$list to $out $*"; tnr format $list --fields e164 --force --output $out "$@" 2> log || cat log; [ $out = - ] || cat $out; }' > functions
. ./functions; convert list.csv a.csv; convert list.TSV a.TSV; convert list.txt a.json; convert plain a.b.ndjson; convert plain a; convert list.txt - --column phone; convert plain b.jsonl --to csv; convert list.csv b.xlsx --to jsonl
. ./functions; convert list.txt - --country-column a; convert list.txt - --no-header --column 1; convert list.csv - --from text --no-header
for ending in xlsx XLS txt 2026-11-26; do tnr format list.csv --output a.csv.$ending; done
for field in carrier.nom carier ratecentre line_numbr Verdikt flags.country.svg ''; do tnr format list.csv --fields "$field" 2>&1 | head -1; done
