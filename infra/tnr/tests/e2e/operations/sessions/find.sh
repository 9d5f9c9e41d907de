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
echo '123-456-7890, 000-000-0000, 65 02 53 00 00, 650 2530000, 650 253 0000, 1-800-FLOWERS, 12345, 2026-11-24' > kinds.txt
tnr find --redact kinds.txt; for level in possible valid strict_grouping exact_grouping; do tnr find --redact --leniency $level kinds.txt; done; tnr find -o kinds.txt
echo '305 234 5678 1-800-FLOWERS 1-800-FLOWERS' | tnr find --redact
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
tnr find --redact utf16.txt big_endian.txt
printf '\357\273\277(305) 234-5678\n' > marked.txt; tnr find --redact marked.txt | od -An -c
echo '(415) 555-0100, (415) 555-0199, 800-555-0199, +1 500 555 0429, +44 20 7946 0000, +44 7700 900999, +33 6 39 98 12 34, +61 2 5550 9999' | tnr find --redact --check
for number in '(415) 555-0099' '(415) 555-0200' '(415) 234-0100' '500-556-0429' '+44 20 7946 1000' '+44 7700 901000'; do echo "$number" | tnr find --redact --check 2> log; done
for entry in '415???????' '+1 (415) ???-????' '+1415*' '(415) 234-5678'; do printf '# Support\n\n0800 1111 # Childline\n%s\n' "$entry" > allowed.txt; tnr find --redact --check --allow allowed.txt --country GB none.txt; done
printf '0800 1111 # Childline\n+44 20 7000 ????\n+1 415 234-5678\n' > allowed.txt; echo '0800 1111, 020 7000 1234, +1 (415) 234-5678, 020 7001 1234' | tnr find --redact --check --allow allowed.txt --country GB
printf '415-234-1??? # a pattern\n' > allowed.txt
tnr find --redact --check --allow allowed.txt notes.txt
printf '+1415234???? # a pattern\n(305) 234-5678\n' > allowed.txt
tnr find --redact --check --allow allowed.txt notes.txt other.txt
printf '+44 20 7000 0000' | tnr find --redact --check --leniency exact_grouping -
tnr find --redact --check --allow missing.txt notes.txt
tnr find --redact --check missing.txt other.txt
name=$(printf 'line\n::error::break.txt'); echo '415 234 5678' > "$name"; tnr find --redact --check "$name"
tnr find --check notes.txt
