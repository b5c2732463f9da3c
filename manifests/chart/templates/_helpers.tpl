{{/* Names and lists that several templates use. Each name of Reeve is fixed, because its program and its guard use it. */}}

{{- define "reeve.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The namespaces that Reeve never writes to, as the jail writes them. */}}
{{- define "reeve.excludedNamespaces" -}}
{{- $own := concat (list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace) .Values.sharedNamespaces -}}
{{- include "reeve.celList" (concat $own .Values.excludeNamespaces | uniq) -}}
{{- end -}}

{{/* A list of strings in the Common Expression Language. */}}
{{- define "reeve.celList" -}}
[{{ range $index, $each := . }}{{ if $index }}, {{ end }}{{ $each | quote }}{{ end }}]
{{- end -}}

{{/* The API group of an apiVersion: empty for "v1". */}}
{{- define "reeve.groupOf" -}}
{{- if contains "/" . }}{{ regexReplaceAll "/.*" . "" }}{{ end -}}
{{- end -}}

{{/* The kinds that Reeve may write, as JSON: those of policies, and those of the adapters of intents, each once. */}}
{{- define "reeve.kinds" -}}
{{- $kinds := .Values.resourceKinds -}}
{{- $ofAdapters := .Files.Get "files/adapter-kinds.json" | fromJson -}}
{{- range .Values.intentAdapters -}}
{{- if or (ne . "tls-scan") $.Values.tlsScan.image -}}
{{- $kinds = concat $kinds (get $ofAdapters . | default list) -}}
{{- end -}}
{{- end -}}
{{- uniq $kinds | toJson -}}
{{- end -}}

{{/* The resources that policies and intents may provide, with their groups, as the jail writes them. */}}
{{- define "reeve.providedResources" -}}
{{- $resources := list -}}
{{- range include "reeve.kinds" . | fromJsonArray -}}
{{- $group := include "reeve.groupOf" .apiVersion -}}
{{- $resources = append $resources (ternary .resource (printf "%s/%s" $group .resource) (eq $group "")) -}}
{{- end -}}
{{- include "reeve.celList" $resources -}}
{{- end -}}

{{/* True when certificates come as files in a Secret. */}}
{{- define "reeve.certificateSecret" -}}
{{- if eq .Values.certificates.source "files" -}}
{{ required "certificates.secretName: name the Secret with tls.crt, tls.key and ca.crt" .Values.certificates.secretName }}
{{- else if eq .Values.certificates.source "cert-manager" -}}
reeve-webhook-tls
{{- end -}}
{{- end -}}

{{/* Refuses values that a schema cannot refuse. */}}
{{- define "reeve.checked" -}}
{{- $release := .Release.Namespace -}}
{{- if has $release (list "default" "kube-system" "kube-public" "kube-node-lease") -}}
{{- fail (printf "Reeve cannot be installed into the namespace %s, because no policy would match it. Add: --namespace reeve-system --create-namespace" $release) -}}
{{- end -}}
{{- /* Empty while nothing is installed, and whenever Helm renders without a cluster. */ -}}
{{- with lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "reeve-webhook" | dig "metadata" "annotations" dict -}}
{{- $other := printf "%s in the namespace %s" (get . "meta.helm.sh/release-name") (get . "meta.helm.sh/release-namespace") -}}
{{- if and (hasKey . "meta.helm.sh/release-name") (ne $other (printf "%s in the namespace %s" $.Release.Name $release)) -}}
{{- fail (printf "Reeve is installed already, as the release %s. A cluster has one Reeve: upgrade that release, or uninstall it first." $other) -}}
{{- end -}}
{{- end -}}
{{- $never := .Files.Get "files/never-provided.json" | fromJson -}}
{{- $refused := list -}}
{{- range .Values.resourceKinds -}}
{{- $group := include "reeve.groupOf" .apiVersion -}}
{{- if or (has $group $never.groups) (has (printf "%s/%s" $group .kind) $never.kinds) -}}
{{- $refused = append $refused (printf "%s/%s" .apiVersion .kind) -}}
{{- end -}}
{{- end -}}
{{- with $refused -}}
{{- fail (printf "resourceKinds: no policy can provide %s, so Reeve needs no rights to write them. Leave them out." (join ", " .)) -}}
{{- end -}}
{{- with .Values.certificates -}}
{{- if and (ne .source "files") .secretName -}}
{{- fail (printf "certificates.secretName: the source %s does not read it. Set certificates.source=files, or leave it out." .source) -}}
{{- end -}}
{{- if and (ne .source "cert-manager") .issuerRef -}}
{{- fail (printf "certificates.issuerRef: the source %s does not read it. Set certificates.source=cert-manager, or leave it out." .source) -}}
{{- end -}}
{{- end -}}
{{- if has $release .Values.sharedNamespaces -}}
{{- fail (printf "sharedNamespaces: %s is the namespace of Reeve itself. Name another namespace for the Secrets to share." $release) -}}
{{- end -}}
{{- range concat (list $release) .Values.sharedNamespaces .Values.excludeNamespaces -}}
{{- if not (kindIs "string" (printf "name: %s" . | fromYaml).name) -}}
{{- fail (printf "The namespace %s has a name that YAML does not read as text. Use another name." .) -}}
{{- end -}}
{{- end -}}
{{- with .Values.webhook -}}
{{- if eq (int .port) (int .probesPort) -}}
{{- fail (printf "webhook.port and webhook.probesPort are both %v. Use two ports." .port) -}}
{{- end -}}
{{- end -}}
{{- $set := list "role" "host" "port" "probes-port" "service-name" "service-port" "kubeconfig" "namespace" "shared-namespace" "exclude-namespace" -}}
{{- $set = concat $set (list "resource-kind" "intent-adapter" "tls-scan-image" "secret-name" "variable" "secrets-rbac-failure-policy" "audit-secrets" "reports" "namespace-claims" "leader-elect" "drain-grace") -}}
{{- $set = concat $set (list "certs-dir" "tls-cert" "tls-key" "tls-ca" "log-level") -}}
{{- range .Values.extraArgs -}}
{{- $flag := regexReplaceAll "^--|=.*" . "" -}}
{{- if has $flag $set -}}
{{- fail (printf "extraArgs: --%s is a flag that another value of the chart sets, or that the chart needs" $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The heap limit of Node in MiB: three quarters of the memory limit, given as Mi or Gi. */}}
{{- define "reeve.heapMiB" -}}
{{- $limit := .limits.memory -}}
{{- $number := regexFind "^[0-9]+" $limit | int -}}
{{- $mib := ternary (mul $number 1024) $number (hasSuffix "Gi" $limit) -}}
{{- div (mul $mib 3) 4 -}}
{{- end -}}

{{/* Metadata of an object that exists only while Helm runs a hook. Takes `on` and `weight`. */}}
{{- define "reeve.hook" -}}
labels: { app.kubernetes.io/part-of: reeve }
annotations:
  helm.sh/hook: {{ .on }}
  helm.sh/hook-weight: '{{ .weight }}'
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/*
What the Pods of all templates share: where they run, and that they run without privileges, as the level restricted demands.
https://kubernetes.io/docs/concepts/security/pod-security-standards/
*/}}
{{- define "reeve.podFields" -}}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - { name: {{ . }} }
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* What the containers of all templates share. */}}
{{- define "reeve.containerFields" -}}
name: reeve
image: {{ include "reeve.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* The Pod of a command that ends, without its account. Takes the root and the arguments. */}}
{{- define "reeve.shortPod" -}}
{{- include "reeve.podFields" .root }}
restartPolicy: Never
{{- with .root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
containers:
  - {{ include "reeve.containerFields" .root | indent 4 | trim }}
    args: {{ toJson .args }}
    resources:
      requests: { cpu: 50m, memory: 128Mi }
      limits: { memory: 256Mi }
{{- end -}}
