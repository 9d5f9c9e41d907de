tnr serve --no-sample --data-dir db --port 0 > db.log 2>&1 & echo $! > pid; await '[ -s db/dynamodb.env ]'
echo '. ./db/dynamodb.env; remote="--endpoint-url $AWS_ENDPOINT_URL_DYNAMODB"; serve_remote() { tnr serve --port 0 $remote "$@" > log 2>&1 & await "grep -q Ctrl-C log"; kill -INT $!; wait $!; echo $?; }' > functions
. ./functions; serve_remote; grep -v ^2 log
. ./functions; tnr versions $remote; tnr keys list $remote
. ./functions; export TNR_NO_SAMPLE=1; serve_remote --sample; grep -v ^2 log | head -12
. ./functions; tnr versions $remote | head -1; tnr keys list $remote | wc -l
ls data
command kill -INT $(cat pid)
