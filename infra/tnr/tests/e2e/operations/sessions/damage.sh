tnr keys create --name 'a client' > client
tnr backup backup.sqlite
cp data/dynamodb.sqlite intact
LC_ALL=C sed -i 's/"created_at"/"created_by"/' data/dynamodb.sqlite
tnr keys list
tnr backup other.sqlite
tnr keys create --name intact > intact_key
tnr keys list
tnr keys delete $(cut -c-15 client)
tnr keys list
cp intact data/dynamodb.sqlite; LC_ALL=C sed -i 's/"current"/"currenu"/' data/dynamodb.sqlite
tnr lookup +14152065555
tnr verify
import sample > table
import sample --replace-manifest > table
tnr verify > table
tnr keys list
cp intact item; LC_ALL=C sed -i '0,/"record"/s//"recorb"/' item; tnr backup --verify item; tnr restore item --data-dir new
cp intact chunk; offset=$(grep -abo '#0000' chunk | head -1 | cut -d: -f1); printf AAAA | dd of=chunk bs=1 seek=$((offset + 400)) conv=notrunc status=none
tnr backup --verify chunk; tnr restore chunk --data-dir new
cp intact key; LC_ALL=C sed -i 's/"created_at"/"created_by"/' key; tnr backup --verify key; tnr restore key --data-dir new
ls new
cp intact data/dynamodb.sqlite; page=$(($(grep -abo 'S:415#206' data/dynamodb.sqlite | head -1 | cut -d: -f1) / 4096)); dd if=/dev/zero of=data/dynamodb.sqlite bs=4096 seek=$page count=1 conv=notrunc status=none
cp data/dynamodb.sqlite damaged
tnr keys list
tnr keys create --name another
tnr backup other.sqlite
cmp damaged data/dynamodb.sqlite
tnr lookup +14152065555
head -c 2048 intact > data/dynamodb.sqlite
tnr lookup +14152065555
tnr serve --port 0
