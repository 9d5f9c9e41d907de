for command in 'carrier 0230' 'area-code 415 234' 'search wireless' versions verify 'keys list' 'export --format csv x' 'backup x' doctor rollback 'keys revoke tnr' 'verify --repair'; do tnr $command --data-dir dtaa; echo "$command: $?"; done
TNR_DATA_DIR=dtaa tnr versions
TNR_ENDPOINT_URL=http://127.0.0.1:9 tnr versions
TNR_ENDPOINT_URL=http://127.0.0.1:9 tnr verify --data-dir data
TNR_ENDPOINT_URL=http://127.0.0.1:9 tnr keys list --stack numbers
tnr keys list --stack numbers --data-dir data
tnr doctor --stack numbers > doctor.txt
FLAGS_BASE_URL='javascript:alert(1)' tnr serve --port 0
TNR_KEY= TNR_PORT= TNR_HOST= TNR_NO_SAMPLE= TNR_OPS_ADDRESS= TNR_ENDPOINT_URL= TNR_GRACE=long tnr serve
tnr serve --host localhost
tnr serve --port 0 --key secret
tnr serve --port 0 --endpoint-url http://127.0.0.1:9
tnr doctor --sack numbers
for folder in 'my data' "it's" '$(ls)'; do tnr versions --data-dir "$folder"; done
tnr versions --sack
tnr verfy
tnr serve --prot 3000
tnr 3052345678 --contry CA
tnr 12
tnr --port 0 --key secret
tnr doctor --help > help.txt
tnr doctor > /dev/full
tnr lookup +442079460958 --data-dir none | grep valid | cat -v
CLICOLOR_FORCE=1 tnr lookup +442079460958 --data-dir none | grep valid | cat -v
NO_COLOR=1 CLICOLOR_FORCE=1 tnr lookup +442079460958 --data-dir none | grep valid | cat -v
ls
unset TNR_DATA_DIR; cd first; HOME=../home tnr keys create --name mine > ../key
unset TNR_DATA_DIR; cd second; HOME=../home tnr keys list
unset TNR_DATA_DIR; cd second; HOME=../home XDG_DATA_HOME=$PWD/../other tnr keys create --name another > ../key
ls first home/.local/share/tnr/dynamodb.sqlite other/tnr/dynamodb.sqlite
