serve
echo 'scan() { curl -s -o response -D headers -w "%{http_code}\n" -H "x-amz-target: DynamoDB_20120810.Scan" -H "content-type: application/x-amz-json-1.0" -d "{\"TableName\":\"api_keys\"}" "$@" $AWS_ENDPOINT_URL_DYNAMODB; grep -i ^access- headers; grep -o -e Unrecognized.*Exception -e "tnr_live_[^\"]*" response; }' > functions
echo 'signed() { id=$1; shift; scan -H "x-amz-date: 20261101T000000Z" -H "authorization: AWS4-HMAC-SHA256 Credential=$id/20261101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=00" "$@"; }' >> functions
echo '. ./data/dynamodb.env; id=$AWS_ACCESS_KEY_ID; own=$AWS_ENDPOINT_URL_DYNAMODB' >> functions
. ./functions; signed $id
. ./functions; scan
. ./functions; for other in '' ${id#?} ${id}x $(echo $id | tr a-z A-Z); do signed "$other"; done
. ./functions; signed $id -H "origin: $own"
. ./functions; signed $id -H "origin: $own" -H 'access-control-request-method: POST' -X OPTIONS
. ./functions; for host in example.com 127.0.0.1 localhost; do signed $id -H "host: $host:${own##*:}"; done
stop
umask 000; tnr keys create --name first --data-dir new/folder > key
serve --no-sample --data-dir new/folder
stat -c '%a %n' new/folder new/folder/*
stop
chmod 750 new/folder; chmod 640 new/folder/dynamodb.sqlite
serve --no-sample --data-dir new/folder
stat -c '%a %n' new/folder new/folder/dynamodb.*
stop
