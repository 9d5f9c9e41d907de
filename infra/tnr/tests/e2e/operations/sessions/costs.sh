tnr costs --requests 2000000 --cold 3
tnr costs --edge | grep Firewall
tnr costs --worst-case | head -3
tnr costs --worst-case | grep -A2 'without a key, with'
