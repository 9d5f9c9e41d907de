rm data/*
serve
get $KEY /v1/npa/415?limit=1
sed -n '/export TNR_KEY/,/^$/p' banner > pasted; curl() { printf '%s\n' "$*"; }; . ./pasted
grep -c "http://[^ ]*$KEY" banner
tnr serve --port 0
tnr serve --port ${URL##*:} --data-dir other
sleep 1.1; tnr keys create --name 'a client' > client
get $(cat client) /v1/carriers?limit=1
tnr keys revoke $(cat client)
. ./data/dynamodb.env; tnr keys list --endpoint-url $AWS_ENDPOINT_URL_DYNAMODB
. ./data/dynamodb.env; AWS_ACCESS_KEY_ID=local tnr keys list --endpoint-url $AWS_ENDPOINT_URL_DYNAMODB
echo $KEY > key; grep AWS_ACCESS_KEY_ID data/dynamodb.env > credential
kill
cmp key data/api-key
serve
grep AWS_ACCESS_KEY_ID data/dynamodb.env | cmp - credential
get $KEY /v1/npa/415?limit=1
get $(cat client) /v1/carriers?limit=1
stop
tnr serve --port 0 --key $(cat client)
cp data/api-key own
tnr keys revoke $(cat own)
serve
cmp -s own data/api-key
get $KEY /v1/npa/415?limit=1
stop
for command in dynamodb 'serve --ops-address 127.0.0.1:0'; do rm data/*; tnr $command --port 0 > log 2>&1 & await '[ -s data/dynamodb.env ]'; (. ./data/dynamodb.env; tnr versions --endpoint-url $AWS_ENDPOINT_URL_DYNAMODB | wc -l; tnr keys list --endpoint-url $AWS_ENDPOINT_URL_DYNAMODB | wc -l); kill -INT $!; wait $!; echo $?; done
