"""Functions, deployments and deployers have the listed permissions, and no others."""

import json
import re
from fnmatch import fnmatchcase

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from template import ACCOUNT, EDGE, REGION, ROOT, STACK, Values, expand, resources_of_type, resources_with, source, transform

RESOURCES = resources_with()
FUNCTIONS = ["carriers", "npa", "format", "search", "status", "site", "mcp", "ingest", "probe"]
PROBED = [name for name in FUNCTIONS if name not in ["ingest", "probe"]]
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/{STACK}-FunctionBoundary-A1B2C3D4E5F6"


def as_list(value):
    return value if isinstance(value, list) else [value]


def statements(document):
    for statement in as_list(document["Statement"]):
        assert statement["Effect"] == "Allow" and not {"NotAction", "NotResource"} & statement.keys()
        yield as_list(statement["Action"]), as_list(statement["Resource"]), statement.get("Condition", {})


def role(name):
    return RESOURCES[f"{name.title()}FunctionRole"]["Properties"]


def granted(name):
    """A function's own permissions, as pairs of an action and a resource."""
    pairs = set()
    for policy in role(name).get("Policies", []):
        for actions, resources, condition in statements(policy["PolicyDocument"]):
            assert not condition
            pairs |= {(action, resource) for action in actions for resource in resources}
    return pairs


def table_of_permissions():
    section = (ROOT / "SECURITY.md").read_text().split("## Permissions")[1].split("## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    (_, *columns, _), _, *rows = rows
    tables = ["".join(word.title() for word in column.strip("`").split("_")) for column in columns]
    listed = {}
    for function, *cells, other in rows:
        pairs = {
            (f"dynamodb:{action}", f"<{table}Table.Arn>")
            for table, cell in zip(tables, cells, strict=True) for action in filter(None, cell.split(", "))
        }
        others = {action for action in re.findall(r"`([^`]+)`", other) if ":" in action}
        listed[function.strip("`")] = pairs | {(action, resource) for action in others for resource in OTHER[action]}
    return listed


OTHER = {
    "s3:GetObject": ["<DataBucket.Arn>/*"],
    "lambda:InvokeFunction": [f"<{name.title()}Function.Arn>:*" for name in PROBED],
    "codedeploy:PutLifecycleEventHookExecutionStatus": [
        f"arn:aws:codedeploy:{REGION}:{ACCOUNT}:deploymentgroup:<ServerlessDeploymentApplication>/*"
    ],
}


def test_functions_have_the_permissions_listed_in_security_md():
    assert table_of_permissions() == {name: granted(name) for name in FUNCTIONS}


@pytest.mark.parametrize("tracing", ["Disabled", "Active"])
def test_every_function_has_the_boundary(tracing):
    resources = resources_with(Tracing=tracing)
    roles = {re.sub("Role$", "", name): found["Properties"] for name, found in resources_of_type(resources, "AWS::IAM::Role").items()}
    assert roles.pop("Deployment").get("PermissionsBoundary") is None
    assert roles.keys() == resources_of_type(resources, "AWS::Lambda::Function").keys()
    assert {found["PermissionsBoundary"] for found in roles.values()} == {"<FunctionBoundary>"}


XRAY = ["PutTelemetryRecords", "PutTraceSegments", "PutSpans", "PutSpansForIndexing"]
DESTINATION = f"arn:aws:sqs:{REGION}:{ACCOUNT}:failed-imports"


def test_a_required_boundary_replaces_the_projects_own_on_every_role():
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/required"
    resources = resources_with(PermissionsBoundary=boundary)
    assert {role["Properties"]["PermissionsBoundary"] for role in resources_of_type(resources, "AWS::IAM::Role").values()} == {boundary}
    assert not resources_of_type(resources, "AWS::IAM::ManagedPolicy")


def test_failed_imports_reach_their_destination():
    resources = resources_with(OnFailure=DESTINATION)
    assert resources["ImportRetries"]["Properties"]["DestinationConfig"] == {"OnFailure": {"Destination": DESTINATION}}
    assert "DestinationConfig" not in RESOURCES["ImportRetries"]["Properties"]
    [policy] = resources["IngestFunctionRole"]["Properties"]["Policies"]
    boundary = resources["FunctionBoundary"]["Properties"]["PolicyDocument"]
    for document in [policy["PolicyDocument"], boundary]:
        assert allows(document, "sqs:SendMessage", [DESTINATION]) and not allows(document, "sqs:SendMessage", [f"{DESTINATION}-2"])


def test_only_x_rays_endpoint_gives_functions_permission_for_traces():
    assert "TracesPolicy" not in resources_with(TracesEndpoint="https://collector.example.com/v1/traces")
    resources = resources_with(TracesEndpoint=f"https://xray.{REGION}.amazonaws.com/v1/traces")
    policy = resources["TracesPolicy"]["Properties"]
    [(actions, targets, _)] = statements(policy["PolicyDocument"])
    assert targets == ["*"] and {action.removeprefix("xray:") for action in actions} == set(XRAY) - {"PutTelemetryRecords"}
    assert {role.strip("<>") for role in policy["Roles"]} == resources_of_type(resources, "AWS::IAM::Role").keys() - {"DeploymentRole"}


def sample(resource):
    """A resource's ARN as AWS would generate it."""
    arns = {
        **{f"{name}.Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table['Properties']['TableName']}"
           for name, table in resources_of_type(RESOURCES, "AWS::DynamoDB::Table").items()},
        **{f"{name}.Arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{STACK}-{name}-A1B2"
           for name in resources_of_type(RESOURCES, "AWS::Lambda::Function")},
        "ServerlessDeploymentApplication": f"{STACK}-ServerlessDeploymentApplication-A1B2",
        "DataBucket.Arn": "arn:aws:s3:::numbers-databucket-a1b2",
    }
    return re.sub(r"<([^>]+)>", lambda match: arns[match[1]], resource)


def allows(document, action, arns, **context):
    """True if a policy allows an action on any of these ARNs."""
    def holds(condition):
        [(operator, [(key, pattern)])] = [(operator, keys.items()) for operator, keys in condition.items()]
        assert operator in ["StringEquals", "ArnLike"]
        return fnmatchcase(context.get(key.split(":")[1], ""), pattern)
    return any(
        any(fnmatchcase(action.lower(), pattern.lower()) for pattern in actions)
        and any(fnmatchcase(arn, pattern) for pattern in resources for arn in arns)
        and (not condition or holds(condition))
        for actions, resources, condition in statements(document)
    )


def test_the_boundary_allows_what_functions_use_and_nothing_outside_the_stack():
    document = RESOURCES["FunctionBoundary"]["Properties"]["PolicyDocument"]
    document = json.loads(sample(json.dumps(document)))
    used = {(action, sample(resource)) for name in FUNCTIONS for action, resource in granted(name)}
    for name in FUNCTIONS:
        group = RESOURCES[f"{name.title()}Logs"]["Properties"]["LogGroupName"]
        used |= {(action, f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{group}:log-stream:1") for action in ["logs:CreateLogStream", "logs:PutLogEvents"]}
    # DynamoDB and Lambda decrypt, and Lambda sends traces, with the function's permissions.
    used |= {("kms:Decrypt", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"), *((f"xray:{action}", "*") for action in XRAY)}
    assert not [(action, arn) for action, arn in used if not allows(document, action, [arn])]
    allowed = {action for actions, _, _ in statements(document) for action in actions}
    assert allowed == {action for action, _ in used}
    # AWS shortens generated names, so they may not start with the full stack name. The roles themselves list the exact
    # resources.
    generated = {"kms:Decrypt", "lambda:InvokeFunction", "codedeploy:PutLifecycleEventHookExecutionStatus"}
    for actions, resources, _ in statements(document):
        if not actions[0].startswith("xray:"):
            assert all(f"{STACK}-" in resource or set(actions) <= generated and f":{REGION}:{ACCOUNT}:" in resource for resource in resources)


def test_codedeploy_may_only_read_alarms_move_aliases_and_invoke_the_probe():
    assert "CodeDeployServiceRole" not in RESOURCES
    groups = resources_of_type(RESOURCES, "AWS::CodeDeploy::DeploymentGroup").values()
    assert [group["Properties"]["ServiceRoleArn"] for group in groups] == ["<DeploymentRole.Arn>"] * len(PROBED)
    found = RESOURCES["DeploymentRole"]["Properties"]
    [trust] = found["AssumeRolePolicyDocument"]["Statement"]
    assert trust == {"Effect": "Allow", "Principal": {"Service": "codedeploy.amazonaws.com"}, "Action": "sts:AssumeRole"}
    assert "ManagedPolicyArns" not in found
    [policy] = found["Policies"]
    function = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:"
    assert [(sorted(actions), resources, condition) for actions, resources, condition in statements(policy["PolicyDocument"])] == [
        (["cloudwatch:DescribeAlarms"], ["*"], {}),
        (["lambda:GetAlias", "lambda:UpdateAlias"], [f"<{name.title()}Function.Arn>" for name in PROBED], {}),
        # Has no permission for a function itself (https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html).
        (["lambda:GetProvisionedConcurrencyConfig"], [f"{function}*:live"], {}),
        (["lambda:InvokeFunction"], [f"{function}CodeDeployHook_{STACK}"], {}),
    ]
    assert RESOURCES["ProbeFunction"]["Properties"]["FunctionName"] == f"CodeDeployHook_{STACK}"


def deploy_policy(name, stack=STACK, region=REGION):
    text = (ROOT / f"docs/{name}.json").read_text()
    return json.loads(text.replace("STACK", stack).replace("REGION", region).replace("ACCOUNT", ACCOUNT))


SERVICE, EDGE_STACK = deploy_policy("deploy-policy"), deploy_policy("deploy-edge-policy")

# Permissions that CloudFormation needs only for properties that the templates do not set, by resource type.
UNUSED = {
    "AWS::DynamoDB::Table": """
        dynamodb:*Item dynamodb:Query dynamodb:Scan dynamodb:*Replica dynamodb:*KinesisStreamingDestination
        dynamodb:PutResourcePolicy dynamodb:DeleteResourcePolicy dynamodb:UpdateContributorInsights
        iam:CreateServiceLinkedRole kinesis:* kms:* logs:* s3:*""",
    "AWS::CloudFormation::Stack": """
        iam:PassRole cloudformation:*StackPolicy cloudformation:UpdateTerminationProtection""",
    "AWS::Lambda::Function": """
        ec2:* elasticfilesystem:* s3files:* kms:* lambda:PassCapacityProvider lambda:*FunctionCodeSigningConfig
        lambda:GetCodeSigningConfig lambda:GetLayerVersion lambda:PutFunctionRecursionConfig lambda:PutFunctionScalingConfig
        lambda:PutRuntimeManagementConfig""",
    "AWS::Lambda::Alias": "lambda:PutProvisionedConcurrencyConfig lambda:DeleteProvisionedConcurrencyConfig",
    "AWS::Lambda::Version": "lambda:PutProvisionedConcurrencyConfig lambda:PutFunctionScalingConfig lambda:PutRuntimeManagementConfig",
    "AWS::CodeDeploy::DeploymentGroup": "codedeploy:RegisterOnPremisesInstance",
    "AWS::ApiGatewayV2::Api": "s3:GetObject",
    "AWS::Events::Rule": "iam:PassRole",
    "AWS::SNS::Topic": "iam:GetRole iam:PassRole sns:PutDataProtectionPolicy",
    "AWS::SNS::Subscription": "iam:GetRole iam:PassRole",
    # Trust policies and descriptions do not change, and a boundary stays.
    "AWS::IAM::Role": "iam:UpdateRole iam:UpdateAssumeRolePolicy iam:DeleteRolePermissionsBoundary",
    "AWS::IAM::ManagedPolicy": "iam:Attach* iam:Detach*",
    "AWS::IAM::Policy": "iam:*GroupPolicy iam:*UserPolicy",
    "AWS::S3::Bucket": """
        iam:PassRole s3tables:* s3:*MetadataTableConfiguration s3:UpdateBucketMetadata* s3:PutAccelerateConfiguration
        s3:PutAnalyticsConfiguration s3:PutIntelligentTieringConfiguration s3:PutInventoryConfiguration
        s3:PutMetricsConfiguration s3:PutObjectLockConfiguration s3:PutReplicationConfiguration s3:PutObjectAcl
        s3:DeleteObject s3:UntagResource""",
    "AWS::Logs::LogGroup": """
        firehose:* s3:* logs:*KmsKey logs:*IndexPolicy logs:PutDataProtectionPolicy logs:DeleteDataProtectionPolicy
        logs:DeleteResourcePolicy logs:PutBearerTokenAuthentication logs:PutLogGroupDeletionProtection""",
    "AWS::Logs::DeliverySource": "autoloop:* codewhisperer:* workmail:* logs:AllowVendedLogDeliveryForResource",
    "AWS::Logs::DeliveryDestination": "logs:PutDeliveryDestinationPolicy logs:DeleteDeliveryDestinationPolicy",
    "AWS::WAFv2::WebACL": "payments:*",
    "AWS::WAFv2::LoggingConfiguration": "firehose:* iam:* s3:*",
    # CreateDistributionWithTags is checked as CreateDistribution and TagResource.
    "AWS::CloudFront::Distribution": """
        cloudfront:*ConnectionGroup cloudfront:GetVpcOrigin cloudfront:UpdateDistributionWithStagingConfig
        cloudfront:CreateDistributionWithTags""",
}

# The ARNs to which CloudFormation's permissions for a resource apply. {} is the resource's name.
ARNS = {
    "AWS::ApiGatewayV2::Api": ["apigateway:R::/apis", "apigateway:R::/apis/a1b2"],
    "AWS::ApiGatewayV2::Stage": ["apigateway:R::/apis/a1b2/stages", "apigateway:R::/apis/a1b2/stages/1"],
    # The CA certificates for clients may be in the data bucket.
    "AWS::ApiGatewayV2::DomainName": ["apigateway:R::/domainnames", "apigateway:R::/domainnames/a.example.com", "s3:::numbers-databucket-a1b2/ca.pem"],
    "AWS::ApiGatewayV2::ApiMapping": ["apigateway:R::/domainnames/a.example.com/apimappings", "apigateway:R::/domainnames/a.example.com/apimappings/1"],
    "AWS::CloudFormation::Stack": ["cloudformation:R:A:stack/{}/1"],
    "AWS::CloudFront::CachePolicy": ["cloudfront::A:cache-policy/1"],
    "AWS::CloudFront::Distribution": ["cloudfront::A:distribution/1"],
    "AWS::CloudFront::Function": ["cloudfront::A:function/{}"],
    "AWS::CloudFront::OriginRequestPolicy": ["cloudfront::A:origin-request-policy/1"],
    "AWS::CloudWatch::Alarm": ["cloudwatch:R:A:alarm:{}"],
    "AWS::CloudWatch::Dashboard": ["cloudwatch::A:dashboard/{}"],
    "AWS::CodeDeploy::Application": ["codedeploy:R:A:application:{}"],
    "AWS::CodeDeploy::DeploymentGroup": [
        "codedeploy:R:A:application:numbers-A-1", "codedeploy:R:A:deploymentgroup:numbers-A-1/{}", "iam::A:role/numbers-DeploymentRole-1",
        "codedeploy:R:A:deploymentconfig:CodeDeployDefault.LambdaCanary10Percent5Minutes",
    ],
    "AWS::DynamoDB::Table": ["dynamodb:R:A:table/{}"],
    "AWS::Events::Rule": ["events:R:A:rule/{}"],
    "AWS::IAM::ManagedPolicy": ["iam::A:policy/{}"],
    "AWS::IAM::Policy": ["iam::A:role/numbers-AFunctionRole-1"],
    "AWS::IAM::Role": ["iam::A:role/{}"],
    "AWS::Lambda::Alias": [
        "lambda:R:A:function:numbers-A-1", "lambda:R:A:function:numbers-A-1:live", "codedeploy:R:A:deploymentgroup:numbers-A-1/numbers-B-1",
        "codedeploy:R:A:deploymentconfig:CodeDeployDefault.LambdaAllAtOnce",
    ],
    "AWS::Lambda::EventInvokeConfig": ["lambda:R:A:function:numbers-A-1"],
    "AWS::Lambda::Function": ["lambda:R:A:function:{}", "iam::A:role/numbers-AFunctionRole-1", "s3:::aws-sam-cli-managed-default-b-1/telephone-numbers/1"],
    "AWS::Lambda::Permission": ["lambda:R:A:function:numbers-A-1"],
    "AWS::Lambda::Version": ["lambda:R:A:function:numbers-A-1", "lambda:R:A:function:numbers-A-1:1"],
    "AWS::Logs::Delivery": ["logs:R:A:delivery:1", "logs:R:A:delivery-source:numbers-edge", "logs:R:A:delivery-destination:numbers-edge"],
    "AWS::Logs::DeliveryDestination": ["logs:R:A:delivery-destination:{}"],
    "AWS::Logs::DeliverySource": ["logs:R:A:delivery-source:{}", "cloudfront::A:distribution/1"],
    "AWS::Logs::LogGroup": ["logs:R:A:log-group:{}"],
    "AWS::Logs::MetricFilter": ["logs:R:A:log-group:/aws/vendedlogs/apis/numbers"],
    "AWS::S3::Bucket": ["s3:::numbers-databucket-a1b2"],
    "AWS::S3::BucketPolicy": ["s3:::numbers-databucket-a1b2"],
    "AWS::SNS::Subscription": ["sns:R:A:numbers-AlarmTopic-1"],
    "AWS::SNS::Topic": ["sns:R:A:{}"],
    "AWS::WAFv2::LoggingConfiguration": ["wafv2:R:A:global/webacl/numbers-edge/1"],
    "AWS::WAFv2::WebACL": ["wafv2:R:A:global/webacl/{}/1"],
}
NAMES = ["FunctionName", "TableName", "LogGroupName", "DashboardName", "AlarmName", "Name"]
PASSED_TO = {"AWS::Lambda::Function": "lambda.amazonaws.com", "AWS::CodeDeploy::DeploymentGroup": "codedeploy.amazonaws.com"}


def needed(kind):
    """The permissions that CloudFormation needs for a resource type."""
    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind).schema["handlers"]
    return {action for handler, needs in handlers.items() if handler != "list" for action in needs["permissions"]}


def is_unused(kind, action):
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in UNUSED.get(kind, "").split())


def resources_of(template, stack):
    """A template's resources with their names, including those that exist only with some parameters."""
    values = Values(template)
    values.parameters |= {"AWS::StackName": stack, "Service": stack}
    resources = transform(template)["Resources"] if "Globals" in template else template["Resources"]
    nested = [expand(source(ROOT / each["Properties"]["TemplateURL"])) for each in resources_of_type(resources, "AWS::CloudFormation::Stack").values()]
    values.mappings = {name: mapping for each in nested for name, mapping in each.get("Mappings", {}).items()}
    for name, resource in [item for each in [{"Resources": resources}, *nested] for item in each["Resources"].items()]:
        properties = values.resolve(resource.get("Properties", {}))
        explicit = [properties[key] for key in NAMES if key in properties and resource["Type"].split("::")[1] != "ApiGatewayV2"]
        boundary = BOUNDARY if "PermissionsBoundary" in properties or resource["Type"] == "AWS::IAM::Policy" else ""
        yield resource["Type"], (explicit or [f"{stack}-{name}-A1B2C3D4E5F6"])[0], boundary


@pytest.mark.parametrize(("policy", "path", "stack"), [(SERVICE, None, STACK), (EDGE_STACK, EDGE, f"{STACK}-edge")], ids=["service", "edge"])
def test_deploy_policies_cover_every_resource(policy, path, stack):
    resources = list(resources_of(source(path) if path else source(), stack))
    assert len(resources) > 10
    denied = set()
    for kind, name, boundary in resources:
        arns = ["arn:aws:" + arn.replace(":R:", f":{REGION}:").replace(":A:", f":{ACCOUNT}:").format(name) for arn in ARNS[kind]]
        context = {"PermissionsBoundary": boundary, "PassedToService": PASSED_TO.get(kind, "")}
        actions = {action for action in needed(kind) if not is_unused(kind, action)}
        if not boundary:
            actions -= {"iam:AttachRolePolicy", "iam:PutRolePermissionsBoundary"}
        denied |= {f"{action} for {kind} {name}" for action in actions if not allows(policy, action, arns, **context)}
    assert not denied, sorted(denied)


# Used by SAM, the AWS CLI and the commands in OPERATIONS.md and RUNBOOKS.md.
COMMANDS = """
    cloudformation:CancelUpdateStack cloudformation:ContinueUpdateRollback cloudformation:CreateChangeSet
    cloudformation:DeleteStack cloudformation:DescribeStacks cloudformation:DescribeStackDriftDetectionStatus
    cloudformation:DetectStackDrift cloudformation:ExecuteChangeSet cloudformation:GetTemplate
    cloudformation:ListStackResources events:ListRules lambda:InvokeFunction s3:DeleteObject s3:PutObject
    cloudfront:AllowVendedLogDeliveryForResource""".split()
# API Gateway creates its service-linked role with an account's first domain.
COMMANDS.append("iam:CreateServiceLinkedRole")
# Actions without resources (https://docs.aws.amazon.com/service-authorization/latest/reference/).
WITHOUT_RESOURCES = """
    cloudformation:DescribeStackDriftDetectionStatus codedeploy:StopDeployment events:ListRules logs:*LogDeliver*
    logs:CreateLogDelivery logs:DeleteLogDelivery logs:DescribeDeliveries logs:DescribeIndexPolicies
    logs:DescribeLogGroups logs:DescribeResourcePolicies logs:PutResourcePolicy sns:*SubscriptionAttributes
    sns:Unsubscribe""".split()


def test_deploy_policies_allow_nothing_unneeded():
    kinds = ARNS.keys()
    known = {action for kind in kinds for action in needed(kind) if not is_unused(kind, action)} | set(COMMANDS)
    for policy in [SERVICE, EDGE_STACK]:
        for actions, resources, _ in statements(policy):
            for action in actions:
                assert re.fullmatch(r"[a-z0-9]+:\*?[A-Za-z]{3}[A-Za-z*]*", action), action
                assert any(fnmatchcase(each.lower(), action.lower()) for each in known), action
            assert "*" not in resources or set(actions) <= set(WITHOUT_RESOURCES)
    unused = {(kind, pattern) for kind, patterns in UNUSED.items() for pattern in patterns.split()}
    assert not [
        (kind, pattern) for kind, pattern in unused
        if not any(fnmatchcase(action.lower(), pattern.lower()) for action in needed(kind))
    ]


DENIED = [
    ("dynamodb:GetItem", f"dynamodb:{REGION}:{ACCOUNT}:table/{STACK}-api_keys"),
    ("dynamodb:Scan", f"dynamodb:{REGION}:{ACCOUNT}:table/{STACK}-api_keys"),
    ("dynamodb:DeleteTable", f"dynamodb:{REGION}:{ACCOUNT}:table/other-api_keys"),
    ("lambda:UpdateFunctionCode", f"lambda:{REGION}:{ACCOUNT}:function:other"),
    ("lambda:CreateFunctionUrlConfig", f"lambda:{REGION}:{ACCOUNT}:function:{STACK}-CarriersFunction-1"),
    ("cloudformation:DeleteStack", f"cloudformation:{REGION}:{ACCOUNT}:stack/other/1"),
    ("cloudformation:DeleteStack", f"cloudformation:{REGION}:{ACCOUNT}:stack/aws-sam-cli-managed-default/1"),
    ("s3:DeleteBucket", "s3:::aws-sam-cli-managed-default-1"),
    ("iam:CreateUser", f"iam::{ACCOUNT}:user/{STACK}-1"),
    ("iam:CreateRole", f"iam::{ACCOUNT}:role/{STACK}-CarriersFunctionRole-1"),
    ("iam:PutRolePolicy", f"iam::{ACCOUNT}:role/{STACK}-CarriersFunctionRole-1"),
    ("iam:DeleteRolePermissionsBoundary", f"iam::{ACCOUNT}:role/{STACK}-CarriersFunctionRole-1"),
    ("iam:AttachRolePolicy", f"iam::{ACCOUNT}:role/{STACK}-DeploymentRole-1"),
    ("iam:CreatePolicyVersion", f"iam::{ACCOUNT}:policy/other"),
    ("iam:PassRole", f"iam::{ACCOUNT}:role/{STACK}-CarriersFunctionRole-1"),
]


@pytest.mark.parametrize(("action", "arn"), DENIED)
def test_deploy_policies_reach_no_items_other_stacks_or_unbounded_roles(action, arn):
    for policy in [SERVICE, EDGE_STACK]:
        assert not allows(policy, action, [f"arn:aws:{arn}"])


def longest_stack_name():
    """Up to this length, generated names start with the stack's whole name: NAME-LOGICALID-RANDOM in 64 characters."""
    kinds = ["AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Events::Rule"]
    logical_ids = [name for kind in kinds for name in resources_of_type(RESOURCES, kind)]
    return 64 - len("--A1B2C3D4E5F6G") - max(map(len, logical_ids))


def test_the_documented_length_of_stack_names_for_the_policy_is_right():
    assert f"at most {longest_stack_name()} characters" in (ROOT / "SECURITY.md").read_text()


@pytest.mark.parametrize("name", ["deploy-policy", "deploy-edge-policy"])
def test_deploy_policies_fit_in_a_managed_policy(name):
    policy = deploy_policy(name, stack="n" * longest_stack_name(), region="ap-southeast-2")
    assert len(json.dumps(policy, separators=(",", ":"))) <= 6144
