{{/* A Deployment of Reeve. Takes the root, the role, and of it the name, the account, the replicas and the resources. */}}
{{- define "reeve.deployment" -}}
{{- $root := .root }}{{ $values := .root.Values }}
{{- $answers := ne .role "reconciler" }}{{ $secret := include "reeve.certificateSecret" $root }}
{{- $onNode := and $answers $values.webhook.hostNetwork }}
{{- $labels := printf "{ app.kubernetes.io/name: reeve, app.kubernetes.io/component: %s }" .role -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ $root.Release.Namespace }}
  labels: { app.kubernetes.io/part-of: reeve }
spec:
  replicas: {{ .replicas }}
  revisionHistoryLimit: 3
  selector:
    matchLabels: {{ $labels }}
  strategy:
    type: RollingUpdate
    {{- if $onNode }}
    # A new Pod cannot run beside an old one on its node, because both would need the same ports.
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 }
    {{- else }}
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- end }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: reeve
        app.kubernetes.io/component: {{ .role }}
        app.kubernetes.io/part-of: reeve
        {{- if $answers }}
        reeve.dev/answers-reviews: 'true'
        {{- end }}
    spec:
      serviceAccountName: {{ .account }}
      {{- include "reeve.podFields" $root | nindent 6 }}
      terminationGracePeriodSeconds: 45
      {{- if $onNode }}
      hostNetwork: true
      {{- end }}
      tolerations:
        # Replaces a Pod of a lost node after this time. Kubernetes waits 300 s otherwise.
        # https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
        {{- range list "not-ready" "unreachable" }}
        - key: node.kubernetes.io/{{ . }}
          operator: Exists
          effect: NoExecute
          tolerationSeconds: {{ $values.lostNodeSeconds }}
        {{- end }}
        {{- with $values.tolerations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if ne .role "all" }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: {{ $values.spread }}
          # Nodes with taints that the Pods do not tolerate do not count, and each revision is spread by itself.
          # https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
          nodeTaintsPolicy: Honor
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels: {{ $labels }}
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels: {{ $labels }}
      {{- end }}
      containers:
        - {{ include "reeve.containerFields" $root | indent 10 | trim }}
          args:
            {{- include "reeve.args" . | nindent 12 }}
          env:
            # Below the memory limit, so that the program reports the problem before the kernel kills it silently.
            - { name: NODE_OPTIONS, value: --max-old-space-size={{ include "reeve.heapMiB" .resources }} }
          ports:
            {{- if $answers }}
            - { name: webhook, containerPort: {{ $values.webhook.port }} }
            {{- end }}
            - { name: probes, containerPort: {{ include "reeve.probesPort" . }} }
          startupProbe:
            httpGet: { path: /livez, port: probes }
            # A healthy start takes less, and gives no warning.
            initialDelaySeconds: 2
            periodSeconds: 1
            timeoutSeconds: 1
            failureThreshold: 60
          readinessProbe:
            httpGet: { path: /readyz, port: probes }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          livenessProbe:
            httpGet: { path: /livez, port: probes }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          # No CPU limit: throttling would delay every reviewed write.
          resources: {{- toYaml .resources | nindent 12 }}
          {{- if and $answers $secret }}
          volumeMounts:
            - { name: certificates, mountPath: /etc/reeve/certificates, readOnly: true }
      volumes:
        - name: certificates
          secret: { secretName: {{ $secret }} }
          {{- end }}
{{- end -}}

{{/* The port of probes and metrics. The value is for Pods that share the ports of their node. */}}
{{- define "reeve.probesPort" -}}
{{- ternary 8081 .root.Values.webhook.probesPort (eq .role "reconciler") -}}
{{- end -}}

{{/* The arguments of `reeve run`. Flags that both roles read are the same in both Deployments. */}}
{{- define "reeve.args" -}}
{{- $values := .root.Values }}{{ $answers := ne .role "reconciler" -}}
- run
- --role={{ .role }}
- --namespace={{ .root.Release.Namespace }}
{{- range $values.sharedNamespaces }}
- --shared-namespace={{ . }}
{{- end }}
{{- range $values.excludeNamespaces }}
- --exclude-namespace={{ . }}
{{- end }}
{{- range include "reeve.kinds" .root | fromJsonArray }}
- --resource-kind={{ .apiVersion }}/{{ .kind }}
{{- end }}
{{- range $values.intentAdapters }}
- --intent-adapter={{ . }}
{{- end }}
{{- with $values.tlsScan.image }}
- --tls-scan-image={{ . }}
{{- end }}
{{- range $values.secretNames }}
- --secret-name={{ . }}
{{- end }}
{{- range $values.enforcedKeys }}
- --enforced-key={{ . }}
{{- end }}
- --secrets-rbac-failure-policy={{ $values.webhook.failurePolicy }}
{{- if and $values.auditSecrets (ne .role "webhook") }}
- --audit-secrets=true
{{- end }}
{{- if and $values.reports (ne .role "webhook") }}
- --reports=true
{{- end }}
{{- if $values.namespaceClaims }}
- --namespace-claims=true
{{- end }}
{{- if $answers }}
{{- if ne (int $values.webhook.port) 8443 }}
- --port={{ $values.webhook.port }}
{{- end }}
{{- if ne (int $values.webhook.probesPort) 8081 }}
- --probes-port={{ $values.webhook.probesPort }}
{{- end }}
# Longer than it takes until no API server calls this Pod any more.
- --drain-grace=15s
{{- if include "reeve.certificateSecret" .root }}
- --certs-dir=/etc/reeve/certificates
{{- end }}
{{- end }}
{{- range $name, $value := $values.clusterVariables }}
- {{ printf "--variable=cluster.%s=%s" $name $value | quote }}
{{- end }}
{{- if ne $values.teamLabel "team" }}
- --team-label={{ $values.teamLabel }}
{{- end }}
- --log-level={{ $values.logLevel }}
{{- range $values.extraArgs }}
- {{ quote . }}
{{- end }}
{{- end -}}
