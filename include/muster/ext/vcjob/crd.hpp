#pragma once

/// \file
/// The rules of the VolcanoJob CRD, as the OpenAPI schema that the API server reads.

#include <muster/ext/vcjob/access.hpp>

namespace muster::ext::vcjob {

/// The schema of a job's `spec`.
///
/// Shape:  `$ref` names a member of `definitions`. The pod template is left open but for what scheduling reads of it;
///         what else is wrong with it is the validating webhook's business.
/// Source: Volcano, config/crd/volcano/bases/batch.volcano.sh_jobs.yaml, at ed72c7c8: types, bounds and enumerations.
[[nodiscard]] inline json const& job_crd() {
    static json const schema = json::parse(R"json({
"definitions": {
  "count": {"type": "integer", "format": "int32", "minimum": 0},
  "positive": {"type": "integer", "format": "int32", "minimum": 1},
  "name": {"type": "string", "maxLength": 253},
  "texts": {"type": "object", "additionalProperties": {"type": "string"}},
  "strings": {"type": "array", "items": {"type": "string"}},
  "event": {"type": "string", "enum": ["*", "PodPending", "PodRunning", "PodFailed", "PodEvicted", "Unknown",
      "TaskCompleted", "OutOfSync", "CommandIssued", "JobUpdated", "TaskFailed"]},
  "policies": {"type": "array", "items": {"type": "object", "properties": {
    "action": {"type": "string"},
    "event": {"$ref": "event"},
    "events": {"type": "array", "items": {"$ref": "event"}},
    "exitCode": {"type": "integer", "format": "int32"},
    "timeout": {"type": "string"}}}},
  "topology": {"type": "object", "properties": {
    "highestTierAllowed": {"type": "integer", "minimum": 0},
    "highestTierName": {"$ref": "name"},
    "mode": {"type": "string", "enum": ["hard", "soft"]}}},
  "amounts": {"type": "object", "additionalProperties": {"quantity": true}},
  "resources": {"type": "object", "properties": {
    "limits": {"$ref": "amounts"}, "requests": {"$ref": "amounts"}}},
  "containers": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string"},
    "image": {"type": "string"},
    "command": {"$ref": "strings"},
    "args": {"$ref": "strings"},
    "restartPolicy": {"type": "string"},
    "env": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string"}, "value": {"type": "string"}, "valueFrom": {"type": "object"}}}},
    "ports": {"type": "array", "items": {"type": "object", "required": ["containerPort"], "properties": {
      "containerPort": {"type": "integer", "format": "int32"}, "hostPort": {"type": "integer", "format": "int32"},
      "name": {"type": "string"}, "protocol": {"type": "string"}}}},
    "resources": {"$ref": "resources"},
    "volumeMounts": {"type": "array", "items": {"type": "object", "required": ["mountPath", "name"], "properties": {
      "mountPath": {"type": "string"}, "name": {"type": "string"}, "readOnly": {"type": "boolean"},
      "subPath": {"type": "string"}}}}}}},
  "pod": {"type": "object", "required": ["containers"], "properties": {
    "containers": {"$ref": "containers"},
    "initContainers": {"$ref": "containers"},
    "affinity": {"type": "object"},
    "dnsPolicy": {"type": "string"},
    "hostNetwork": {"type": "boolean"},
    "hostname": {"type": "string"},
    "nodeName": {"type": "string"},
    "nodeSelector": {"$ref": "texts"},
    "overhead": {"$ref": "amounts"},
    "priorityClassName": {"type": "string"},
    "resources": {"$ref": "resources"},
    "restartPolicy": {"type": "string"},
    "schedulerName": {"type": "string"},
    "subdomain": {"type": "string"},
    "tolerations": {"type": "array", "items": {"type": "object"}},
    "topologySpreadConstraints": {"type": "array", "items": {"type": "object"}},
    "volumes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string"}}}}}},
  "task": {"type": "object", "properties": {
    "dependsOn": {"type": "object", "properties": {
      "iteration": {"type": "string"}, "name": {"$ref": "strings"}}},
    "maxRetry": {"$ref": "count"},
    "minAvailable": {"$ref": "count"},
    "name": {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    "partitionPolicy": {"type": "object", "required": ["partitionSize", "totalPartitions"], "properties": {
      "minPartitions": {"$ref": "count"},
      "networkTopology": {"$ref": "topology"},
      "partitionSize": {"$ref": "positive"},
      "totalPartitions": {"$ref": "positive"}}},
    "policies": {"$ref": "policies"},
    "replicas": {"$ref": "count"},
    "template": {"type": "object", "properties": {
      "metadata": {"type": "object", "properties": {
        "annotations": {"$ref": "texts"}, "labels": {"$ref": "texts"}, "name": {"type": "string"}}},
      "spec": {"$ref": "pod"}}},
    "topologyPolicy": {"type": "string", "enum": ["none", "best-effort", "restricted", "single-numa-node"]}}}
},
"type": "object", "properties": {
  "maxRetry": {"$ref": "count"},
  "minAvailable": {"$ref": "count"},
  "minSuccess": {"$ref": "positive"},
  "networkTopology": {"$ref": "topology"},
  "plugins": {"type": "object", "additionalProperties": {"$ref": "strings"}},
  "policies": {"$ref": "policies"},
  "priorityClassName": {"$ref": "name"},
  "queue": {"type": "string", "maxLength": 253,
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"},
  "runningEstimate": {"type": "string"},
  "schedulerName": {"type": "string", "maxLength": 63},
  "tasks": {"type": "array", "minItems": 1, "items": {"$ref": "task"}},
  "ttlSecondsAfterFinished": {"$ref": "count"},
  "volumes": {"type": "array", "items": {"type": "object", "required": ["mountPath"], "properties": {
    "mountPath": {"type": "string", "minLength": 1, "pattern": "^[^:]+$"},
    "volumeClaim": {"type": "object"},
    "volumeClaimName": {"$ref": "name"}}}}
}})json");
    return schema;
}

} // namespace muster::ext::vcjob
