serve
tnr keys create --name before > before
get $KEY /v1/npa/415?limit=3 > response
tnr backup backup.sqlite
tnr keys create --name after > after
get $KEY /v1/npa/415?limit=3 | cmp - response
kill
for suffix in '' -wal -shm; do mkdir -p new; echo left > new/.tnr-unfinished-restore-a1b2c3$suffix; done
tnr restore backup.sqlite --data-dir new
ls -A new
stat -c %a new/dynamodb.sqlite
tnr verify --data-dir new | head -1
mv data/dynamodb.sqlite old.sqlite
tnr restore backup.sqlite
ls data
serve --data-dir new --no-sample
get $(cat before) /v1/npa/415?limit=3 | cmp - response
get $(cat after) /v1/npa/415?limit=3
stop
