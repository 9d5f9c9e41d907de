tnr --help | tail -4
tnr --help | sed -n '/^Use:/,/^Options/s/^  \([a-z-]*\)  .*/\1/p' > commands; grep -c ^import$ commands
for command in '' $(cat commands); do tnr $command --help | awk 'length > 80'; done
printf 'a\033[31m\342\200\256' > name; printf 'phone%s,%s\n305 234 5678,\n' "$(cat name)" "$(cat name)" > list.csv
echo 'show() { tnr "$@" > shown 2>&1; cat shown; if grep -q -e "$(printf "\033")" -e "$(printf "\342\200\256")" shown; then echo NOT ESCAPED; fi; }; name=$(cat name)' > functions
. ./functions; tnr keys create --name "$name" --data-dir "$name" > key
. ./functions; show versions --data-dir "$name"
. ./functions; show lookup 3052345678 --data-dir "$name"
. ./functions; show find "$name"
. ./functions; show format "$name"
. ./functions; show format list.csv --column x
. ./functions; show format list.csv --output out.csv
. ./functions; show find --country "$name"
. ./functions; show keys list --data-dir "$name"
. ./functions; show keys revoke tnr_live_ --data-dir "$name"
. ./functions; show doctor --data-dir "$name"
. ./functions; show backup "$name" --data-dir "$name" --force
. ./functions; show export "$name" --format jsonl --data-dir "$name" --force
. ./functions; show import --nanpa "$name" --cnac "$name" --npa-report "$name" --data-dir "$name"
