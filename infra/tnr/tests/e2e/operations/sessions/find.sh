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
