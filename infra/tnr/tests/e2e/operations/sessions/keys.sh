tnr keys create --name 'Erika Mustermann' --note erika@example.com > key
sleep 1.1; tnr keys create --name limited --note 'who asked for it in March' --expires 90d --per-minute 60000 --per-day 10000000 > limited
tnr keys list
tnr keys delete $(cat key)
tnr keys revoke tnr_live_
tnr keys revoke $(cut -c-15 key)
tnr keys list
tnr keys delete $(cut -c-15 key)
tnr keys delete $(cut -c-15 key)
tnr keys list
tnr backup copy.sqlite
grep -c -a -e Mustermann -e erika@example.com -e $(cut -c-15 key) copy.sqlite
grep -c -a $(cut -c-15 limited) copy.sqlite
sleep 1.1; tnr keys rotate $(cat limited) --overlap 1d > rotated
tnr keys list; sleep 1.1
serve
for name in limited rotated; do curl -sI -H "x-api-key: $(cat $name)" $URL/v1/carriers | grep -i ratelimit-remaining; done
stop
tnr keys revoke $(cat limited)
sleep 1.1; tnr keys create --name 'another client' --per-day 100 > another
serve
for name in another rotated limited key; do get $(cat $name) '/v1/carrier/9999'; done
stop
