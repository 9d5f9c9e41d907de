tnr keys create --name 'a client' > key
chmod 777 .; umask 000; [ $(id -u) != 0 ] || echo 'tnr() { setpriv --reuid 65534 --regid 65534 --clear-groups tnr "$@"; }' > functions
echo 'read_all() { for command in "lookup 4152341234" "carrier 0230" "area-code 415 234" "search wireless" versions verify "keys list" "export --format sqlite $1.sqlite" "backup $1.backup" "doctor --timeout 60"; do tnr $command > output 2>&1; echo "$command: $?"; done; }' >> functions
ls data > before; chmod 555 data
. ./functions; read_all alone
ls data | cmp - before
chmod 755 data
serve
ls data > before; chmod 555 data
. ./functions; read_all served
ls data | cmp - before
chmod 755 data
stop
chmod 000 data
. ./functions; for command in versions 'lookup 4152341234' 'backup x'; do tnr $command; echo $?; done
chmod 755 data
ls
