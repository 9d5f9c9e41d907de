echo 'damage() { for offset in $(grep -abo "$2{" $1 | cut -d: -f1); do printf AAAA | dd of=$1 bs=1 seek=$((offset + $3)) conv=notrunc status=none; done; }' > functions
echo 'names() { tnr versions --json | grep -o "\"version\":\"[^\"]*" | cut -d\" -f4; }; name() { names | sed -n "$1p"; }' >> functions
echo 'flatten() { tnr backup all.sqlite > log 2>&1; rm data/dynamodb.sqlite*; mv all.sqlite data/dynamodb.sqlite; }' >> functions
echo 'spoil() { name=$(name $1); flatten; damage data/dynamodb.sqlite "$name#0000" 400; echo $name > spoiled; }; all="--allow changes,losses,suspect,dates"' >> functions
rm data/*
tnr keys create --name first > key
import first 2> log
import second 2> log
. ./functions; spoil 1; cat spoiled
tnr versions
tnr versions --json > versions.json
grep -o -e '"is_answering":[a-z]*' -e '"unreadable":"[^"]*"' versions.json
tnr lookup +14152345678 > found
tnr export --format csv --table carriers > carriers.csv
tnr verify
serve --no-sample
curl -s $URL/health
get $(cat key) /v1/npa/415/nxx/206
get $(cat key) "/v1/npa/415?limit=5&offset=5&version=$(cat spoiled)"
stop
. ./functions; import first $all --json 2> log | grep -o -e '"outcome":"[a-z]*"' -e '"items":{[^}]*}' -e '"a version cannot be read[^}]*}'
serve --no-sample
curl -s $URL/health
stop
. ./functions; name=$(name 1); flatten; LC_ALL=C sed -i "s/$name#0000/$name#000x/g" data/dynamodb.sqlite
tnr versions
LC_ALL=C sed -i 's/#0000/#000x/g' data/dynamodb.sqlite
serve --no-sample
for path in npa/415 npa/415/nxx/234 carriers stats health; do get $(cat key) /v1/$path; done
stop
tnr rollback
tnr verify --repair
import first 2>&1 | sed 's/layout [0-9]*/layout .../'
tnr verify | head -1
rm data/*
import first 2> log
. ./functions; import second $all 2> log
. ./functions; import sample $all 2> log
. ./functions; spoil 2
. ./functions; for number in 2 1; do tnr rollback --to $(name $number); done
. ./functions; names
import sample
. ./functions; names
. ./functions; import second $all 2> log
. ./functions; spoil 2
tnr rollback
. ./functions; names
