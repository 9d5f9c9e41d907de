printf 'Gr\303\274\303\237e: (305) 234-5678 x9 or 020 7946 0958\nno number, 2026-11-24\n\377415-234-1234,\376+44 20 7946 0958\nlast 415.234.1236' > notes.txt
printf '415 234 5678\r\n' > other.txt
tnr find notes.txt
tnr find other.txt | od -c
tnr find -o notes.txt other.txt
tnr find -o --country GB --leniency exact_grouping notes.txt
tnr find --json --include place,line --lang de notes.txt
printf 'none\n' > none.txt
tnr find none.txt
tnr find other.txt none.txt > found.txt
tnr find --redact none.txt
tnr find missing.txt notes.txt
tnr find .
tnr find --json --redact notes.txt
tnr find --redact --check notes.txt other.txt none.txt
printf '(415) 555-0123\nnot 305-234-5678, tnr:allow\ncode a4152345678f\n' > fictional.txt
printf 'a\0 (415) 234-5678' > binary.dat
printf '\377\376(\0004\0001\0005\000)\0002\0003\0004\000-\0005\0006\0007\0008\000' > utf16.txt
tnr find --redact --check fictional.txt binary.dat none.txt
tnr find --redact --check utf16.txt < none.txt
printf '\376\377\000a\000 \0003\0000\0005\0002\0003\0004\0005\0006\0007\0008' > big_endian.txt
tnr find --redact utf16.txt big_endian.txt | tr -d '\0'
printf '\357\273\277(305) 234-5678\n' > marked.txt; tnr find --redact marked.txt | od -An -c
printf '415-234-1??? # a pattern\n' > allowed.txt
tnr find --redact --check --allow allowed.txt notes.txt
printf '+1415234???? # a pattern\n(305) 234-5678\n' > allowed.txt
tnr find --redact --check --allow allowed.txt notes.txt other.txt
printf '+44 20 7000 0000' | tnr find --redact --check --leniency exact_grouping -
tnr find --redact --check --allow missing.txt notes.txt
tnr find --redact --check missing.txt other.txt
name=$(printf 'line\n::error::break.txt'); echo '415 234 5678' > "$name"; tnr find --redact --check "$name"
tnr find --check notes.txt
