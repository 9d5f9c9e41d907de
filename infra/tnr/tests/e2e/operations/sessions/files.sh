tnr flags images
find images -name '*.svg' | wc -l
find images -name '*.png' | wc -l
echo other > images/countries/other.txt
tnr flags images > log
echo 'cut off' > images/countries/US.svg
tnr flags images
cat images/countries/US.svg
tnr flags images --force > log
wc -c < images/countries/US.svg
cat images/countries/other.txt
tnr backup backup.sqlite
stat -c %a backup.sqlite
tnr backup backup.sqlite
tnr backup --verify backup.sqlite
tnr backup file:copy.sqlite > log; ls file:*; tnr backup --verify file:copy.sqlite
tnr restore backup.sqlite
tnr restore /nowhere --data-dir new
tnr backup copy.sqlite --data-dir new
echo 'a key' > data/api-key
ln -s data/dynamodb.sqlite link
chmod 644 backup.sqlite; tnr backup backup.sqlite --force > log; stat -c %a backup.sqlite
tnr backup data --force
printf '+14152341234\n' > list.txt
touch default; tnr format list.txt --output new.csv 2> log; [ $(stat -c %a new.csv) = $(stat -c %a default) ]
chmod 640 new.csv; ln -s new.csv latest.csv; tnr format list.txt --output latest.csv --force 2> log; stat -c '%a %F' new.csv; stat -c %F latest.csv
tnr export --format sqlite data/dynamodb.sqlite-wal --force
tnr export --format csv --table carriers data/api-key --force
tnr format list.txt --to csv --output data/lock --force
tnr backup link --force
cat data/api-key
ls
rm data/dynamodb.sqlite*; echo 'not a database, but long enough to be one' > data/dynamodb.sqlite
tnr lookup +14152065555
tnr keys create --name another
tnr serve --port 0
