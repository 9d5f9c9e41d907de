tnr doctor
serve
tnr health --port ${URL##*:}
tnr health --host 0.0.0.0 --port ${URL##*:} --base-path /v1
tnr health $OPS/ready
tnr health $OPS/nowhere
tnr doctor --url $URL --key $KEY
echo "--url $URL --key $KEY" > options
kill
tnr doctor $(cat options) | grep -v ' without a key: '
tnr health --port 9
rm data/*
serve --no-sample
get '' /health
tnr keys create --name first > key
get $(cat key) /v1/npa/415?limit=1
import first 2> log
get $(cat key) /v1/npa/415?limit=1
ls data
