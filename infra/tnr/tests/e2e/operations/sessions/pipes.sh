mkfifo in
tnr find -o < in > found & exec 3> in; for number in '305 234 5678' '415 234 5678'; do echo "call $number" >&3; await "grep '$number' found"; done; exec 3>&-; wait $!; echo $?
yes +14152341234 | head -20000 > many.txt
{ tnr format many.txt; echo "exits with $?" >&2; } | head -c 10
echo 4152341234 | tnr format --output out.jsonl; cp out.jsonl before
touch log files; ls -A | sort > files; tnr format --force --output out.jsonl < in > log 2>&1 & exec 3> in; cat many.txt >&3; await 'ls -A | sort | comm -13 files - | grep -q ^.tnr-unfinished-'; kill -INT $!; wait $!; echo $?
cmp out.jsonl before
cat log
ls -A | sort | diff files -
