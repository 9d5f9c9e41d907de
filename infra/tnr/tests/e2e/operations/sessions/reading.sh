tnr keys create --name 'a client' > key
chmod 777 .; umask 000; [ $(id -u) != 0 ] || echo 'tnr() { setpriv --reuid 65534 --regid 65534 --clear-groups tnr "$@"; }' > functions
echo 'read_as() { for command in "lookup 4152341234" "search wireless" versions verify "keys list" "export --format csv --table carriers $1.csv" "backup $1.backup" "doctor --timeout 60"; do tnr $command > output 2>&1; echo "$command: $?"; done; }' >> functions
ls data > before; chmod 555 data
. ./functions; read_as alone
ls data | cmp - before
chmod 755 data
serve
ls data > before; chmod 555 data
. ./functions; read_as served
ls data | cmp - before
chmod 755 data
stop
chmod 000 data
. ./functions; for command in versions 'lookup 4152341234' 'backup x'; do tnr $command; echo $?; done
chmod 755 data
ls
