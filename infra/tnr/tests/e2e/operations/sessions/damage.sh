echo 'damage() { for offset in $(grep -abo "$2{" $1 | cut -d: -f1); do printf AAAA | dd of=$1 bs=1 seek=$((offset + $3)) conv=notrunc status=none; done; }' > functions
tnr keys create --name 'a client' > client
tnr backup backup.sqlite
cp backup.sqlite intact; rm data/dynamodb.sqlite*; cp intact data/dynamodb.sqlite
LC_ALL=C sed -i 's/"created_at"/"created_by"/g' data/dynamodb.sqlite
tnr keys list
tnr backup other.sqlite
sleep 1.1; tnr keys create --name intact > intact_key
tnr keys list
tnr keys delete $(cut -c-15 client)
tnr keys list
rm data/dynamodb.sqlite*; cp intact data/dynamodb.sqlite; LC_ALL=C sed -i 's/"current"/"currenu"/g' data/dynamodb.sqlite
tnr lookup +14152065555
tnr verify
import sample > table
import sample --replace-manifest > table
tnr verify > table
tnr keys list
. ./functions; cp intact item; damage item S:415#206 9
tnr backup --verify item 2>&1 | grep -o 'item is damaged: '
tnr restore item --data-dir new 2>&1 | grep -o 'item is damaged: '
. ./functions; cp intact chunk; damage chunk '#0000' 400; tnr backup --verify chunk; tnr restore chunk --data-dir new
cp intact key; LC_ALL=C sed -i 's/"created_at"/"created_by"/g' key; tnr backup --verify key; tnr restore key --data-dir new
ls new
rm data/dynamodb.sqlite*; cp intact data/dynamodb.sqlite; for offset in $(grep -abo 'S:415#206{' intact | cut -d: -f1); do dd if=/dev/zero of=data/dynamodb.sqlite bs=4096 seek=$((offset / 4096)) count=1 conv=notrunc status=none; done
cp data/dynamodb.sqlite damaged
tnr keys list
tnr keys create --name another
tnr backup other.sqlite
cmp damaged data/dynamodb.sqlite
tnr lookup +14152065555
rm data/dynamodb.sqlite*; head -c 2048 intact > data/dynamodb.sqlite
tnr lookup +14152065555
tnr serve --port 0
