tnr costs --requests 2000000 --cold 3
tnr costs --edge | grep Firewall
tnr costs --worst-case | head -3
tnr costs --worst-case | grep -A2 'without a key, with'
cd $ROOT; for part in Type:.AWS::Serverless::Function Type:.AWS::Logs::MetricFilter Type:.AWS::CloudWatch::Alarm MetricStat: Type:.AWS::CloudWatch::Dashboard 'Ref ApiKeysTable' MemorySize:; do echo $(grep -c "$part" template.yaml) "$part" $(grep -o 'MemorySize: .*' template.yaml | grep "^$part"); done; tnr costs | grep -e metrics -e Dashboard
cd $ROOT; grep -A3 -e '^  RequestsPerAddress:' -e '^  KeylessRequests:' edge.yaml; grep -c -e '^ *- Name: [a-z-]*$' edge.yaml; tnr costs --edge | grep -i firewall
