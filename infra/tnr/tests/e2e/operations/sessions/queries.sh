tnr lookup '+1 415 234 1234'
tnr lookup '4152341234 x42'
tnr lookup '020 7946 0958' --country gb
tnr lookup +18005551234
tnr lookup 415-234-567
tnr lookup 415-234-567 --json
tnr lookup '+1 876 555 1234'
tnr lookup hello
tnr lookup 1 --country UK
tnr carrier 0230
tnr carrier sample --limit 3
tnr carrier sample --offset 200
tnr carrier wireless --state ny --limit 3
tnr carrier no such carrier
tnr carrier ZZZZ
tnr carrier spec
tnr carrier sample --state XX
tnr carrier 0230 --as-of 2026-01-01 --state CA
tnr area-code 415 --limit 5
tnr area-code 415 234
tnr area-code 600
tnr area-code 999
tnr area-code 41
tnr area-code 415 999
tnr area-code 415 "$(printf '\033[31m')"
tnr area-code 415 --limit 0
tnr area-code 415 234 555
tnr area-codes 212
tnr area-codes 800
tnr area-codes --state NY --limit 3
tnr holders --npa 415 --limit 3
tnr holders --npa 415 --limit 3 --csv
tnr holders --country GB --limit 2
tnr countries --calling-code 44
tnr countries gb
tnr countries FR
tnr ranges GB --prefix 20
tnr ranges FR
tnr search 'san rafael' --state CA --limit 4
tnr search --rate-center 'no such place'
tnr search qqq --json
tnr search
tnr search --type mobile
tnr history 415
tnr history 415-234
tnr sources
tnr rollback
tnr lookup +442079460958 --data-dir none
tnr '(305) 234-5678' --data-dir none
tnr --json '(305) 234-5678' --country CA --data-dir none | cut -c1-60
tnr --data-dir none tel:+442079460958 | head -1
tnr lookup 4152341234 --data-dir data
tnr search qqq --data-dir none
ls
