echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' > messages
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >> messages
printf 'hello\n[]\n{"jsonrpc":"2.0"}\n\357\273\277\n\n' >> messages
head -c 50000 /dev/zero | tr '\0' '[' >> messages
echo >> messages
echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_carriers","arguments":{"ocn":"6015"}}}' >> messages
tnr mcp < messages
tnr mcp --data-dir none < messages 2> log | tail -1
tnr mcp
ls
sed -n -e 1,2p -e '$p' messages > handshake
for agent in 1 2; do (cat handshake; for step in served killed; do await "[ -e $step ]"; tail -1 messages; done) 2> log | tnr mcp > calls$agent 2> notes & done
await '[ $(cat calls? | wc -l) = 4 ]'
tnr versions | wc -l
serve --cors-origins https://a.example
touch served; await '[ $(cat calls? | wc -l) = 6 ]'
for origin in https://a.example https://b.example null; do curl -s -w '%{http_code}\n' -H "x-api-key: $KEY" -H "origin: $origin" -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"ping"}' $URL/mcp; done
for target in 'mcp 65537' 'v1/format 524289'; do set -- $target; head -c $2 /dev/zero | tr '\0' ' ' | curl -s -w '%{http_code}\n' -H "x-api-key: $KEY" -H 'content-type: application/json' -H 'transfer-encoding: chunked' --data-binary @- $URL/$1; done
kill
touch killed; await '[ $(cat calls? | wc -l) = 8 ]'
cat calls? | sort | uniq -c | cut -c1-60; cat calls? | grep -c '"isError":false'
mkfifo in; tnr mcp < in > calls 2> notes & exec 3> in; head -1 messages >&3; await '[ -s calls ]'; kill $!; wait $!; echo $?
tnr versions | wc -l
