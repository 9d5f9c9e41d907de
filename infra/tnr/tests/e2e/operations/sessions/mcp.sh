echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' > messages
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >> messages
printf 'hello\n[]\n{"jsonrpc":"2.0"}\n\357\273\277\n\n' >> messages
head -c 50000 /dev/zero | tr '\0' '[' >> messages
echo >> messages
echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_carrier","arguments":{"ocn":"6015"}}}' >> messages
tnr mcp < messages
tnr mcp --data-dir none < messages 2> log | tail -1
tnr mcp
ls
