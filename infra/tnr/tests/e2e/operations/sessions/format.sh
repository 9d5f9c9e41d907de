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
