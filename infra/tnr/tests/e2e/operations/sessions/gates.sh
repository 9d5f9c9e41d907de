echo 'corrupt() { mkdir -p corrupt; cp sample/* corrupt; awk -F"\t" -v OFS="\t" "$1" sample/nanpa > corrupt/nanpa; }' > functions
echo 'attempt() { import corrupt "$@" 2> notes > table; status=$?; grep -v -E "^(Reading|Comparing|Writing|Publishing)" notes; echo "exits with $status"; }' >> functions
echo 'first() { echo "The first import:"; attempt --dry-run --data-dir none; echo "Later:"; }' >> functions
. ./functions; corrupt 'NR > 1 { use = $7; $7 = above; above = use } 1'; attempt
. ./functions; corrupt 'NR > 1 && NR % 25 == 0 { $3 = "6872" } 1'; attempt
. ./functions; corrupt 'NR > 1 { $3 = "" } 1'; first; attempt
. ./functions; corrupt 'NR > 1 { $7 = "AS " } 1'; first; attempt
. ./functions; corrupt 'NR < 2745'; attempt
. ./functions; corrupt 'NR == 1 { name = $4; $4 = $5; $5 = name } 1'; first; attempt
. ./functions; corrupt 1; sed 's/"In Service"/"En service"/; s/"Available"/"Disponible"/' sample/cnac > corrupt/cnac; first; attempt
. ./functions; corrupt 1; sed 's/,US,/,United States,/' sample/npa_report > corrupt/npa_report; first; attempt
. ./functions; corrupt 1; sed 's/,ILEC,/,CLEC,/' sample/carriers > corrupt/carriers; attempt
. ./functions; corrupt 1; sed 's/2000-01-01/1999-12-31/' sample/cnac > corrupt/cnac; attempt
. ./functions; corrupt 1; head -c 20000 sample/nanpa > corrupt/nanpa; attempt
. ./functions; corrupt 1; cp sample/nanpa corrupt/cnac; attempt
. ./functions; corrupt 1; echo '<!DOCTYPE html>' > corrupt/npa_report; attempt
. ./functions; corrupt 1; printf 'PK\003\004\024\0\0\0' > corrupt/nanpa; attempt
tnr versions
tnr verify
. ./functions; corrupt 'NR > 1 && moved < 15 { $5 = "ONE"; moved++ } 1'; cp corrupt/nanpa sample/nanpa; attempt
. ./functions; corrupt 'NR > 1 && $5 != "ONE" && moved < 15 { $5 = "TWO"; moved++ } 1'; attempt
. ./functions; corrupt 'NR > 1 { $3 = "" } 1'; attempt --allow changes,losses,suspect
. ./functions; corrupt 'NR > 1 { $3 = "" } $2 ~ /-234$/ { $5 = "ELSEWHERE" } 1'; attempt --allow suspect
tnr versions
