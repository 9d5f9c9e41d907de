tnr costs --requests 2000000 --cold 3
tnr costs --edge | grep Firewall
tnr costs --worst-case | head -4
tnr costs --worst-case | grep -A2 'without a key, with'
tnr costs --requests 1000000 | awk '/Total for requests/ { requests = $NF } /^  Total  / { printf "about $%.0f per million requests plus $%.0f a month\n", requests, $NF - requests }' > price; grep -c -F -f price $ROOT/README.md
