sed -n '/^# /,/^## Without/p' $ROOT/README.md | awk '/^```/ { inside = !inside; count += inside; print (inside ? $0 : "") > "languages"; next } inside { print > ("block" count) }'
grep . languages | tr -d '\n'; cat block1
serve
ln -s data .local; sed "s|http://127.0.0.1:3000|$URL|" block2 > request; . ./request > response 2> log
for file in block3 response; do sed 's/,"flags":{.*}}}//' $file | tr -d ' \n' > $file.json; done; cmp block3.json response.json
mkdir mirror; cp published/nanpa mirror/CoCodeAssignment_Utilized_AllStates_Public.zip; cp published/cnac mirror/COCodeStatus_ALL.zip; cp published/npa_report mirror/npa_report.csv
echo 'cargo() { shift 2; tnr "$@"; }; export TNR_MIRROR=$FILES/mirror' > functions
. ./functions; . ./block4 2> log
. ./functions; . ./block5
cat block6
stop
