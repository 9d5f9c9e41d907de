import first --dry-run --data-dir new > table
tnr import --fetch --mirror http://127.0.0.1:9 --data-dir other
tnr import --nanpa none --cnac first/cnac --npa-report first/npa_report --json
import sample --dry-run --strict 2> log
cp sample/npa_report intact; sed -e 's/\r$//' -e '2s/$/,PORTING/' -e '3,$s/$/,/' -i sample/npa_report
import sample --dry-run 2> log
import sample --dry-run --strict > table
import sample --dry-run --verbose 2>&1 | grep PORTING
mv intact sample/npa_report
ls
rm data/*
import first
import second
rm data/*
import sample 2> log
head -200 first/nanpa > sample/nanpa
import sample > table
import sample --json 2> log | cut -c1-140
rm data/*; printf 'NPA,CO Code (NXX),Block,Status,Block Holder,Block Holder OCN\n416,234,5,AS,Bloc Ltee,333C\n' > blocks
import first --canadian-blocks blocks > table 2> log
tnr sources 2> log | sed -n '/canadian_blocks/,/^$/p' > before; grep -e rows -e counts before
sed 's/Block Holder OCN/Number of the Holder/' blocks > renamed; sleep 1.1
import first --canadian-blocks renamed
tnr sources 2> log | sed -n '/canadian_blocks/,/^$/p' | cmp - before
tnr lookup 4162345678 | grep carrier
printf 'NMS Number Block: Number Block,Block Status,CP Name,Non Geo Number Length,Allocation Date\n7000 0,Allocated,Sample,10 digit numbers,01/02/2003\n7000 1,Reserved,,10 digit numbers,\n' > s7.csv
tnr import --ranges GB=s7.csv
tnr ranges gb; tnr ranges GB --status Reserved --csv; tnr countries GB 2> log | head -3
tnr import --ranges GB=s7.csv --changes changes.csv
tnr import --ranges GB=s7.csv --carriers carriers.csv
echo broken > s8.csv; tnr import --ranges GB=s8.csv
tnr import --ranges XX=s7.csv 2>&1 | head -1
