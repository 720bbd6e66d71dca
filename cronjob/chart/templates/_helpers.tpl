{{/* The image by digest if there is one, else by tag, which is the chart's appVersion unless given. */}}
{{- define "flipop.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/*
The Secret that notifications need, or nothing. Refuses keys of no Secret, and flags that name another file than what is mounted.
*/}}
{{- define "flipop.notifySecret" -}}
{{- $notify := .Values.notify -}}
{{- if and (or $notify.fileKey $notify.secretFileKey) (not $notify.secret) -}}
{{- fail "notify.fileKey and notify.secretFileKey are keys of a Secret. Name it in notify.secret." -}}
{{- end -}}
{{- if and $notify.secret (hasKey .Values.flags "notify-file") -}}
{{- fail "flags.notify-file and notify.secret both say where the URLs are. Leave one of them out." -}}
{{- end -}}
{{- if and $notify.secretFileKey (hasKey .Values.flags "notify-secret-file") -}}
{{- fail "flags.notify-secret-file and notify.secretFileKey both say what signs. Leave one of them out." -}}
{{- end -}}
{{- $notify.secret -}}
{{- end -}}

{{/*
The command line as a JSON list. `shipped` are the flags of the manifest, each with name and value (true = a switch), in their order; `flags` go before them;
`others` are the flags that only the other mode takes.
*/}}
{{- define "flipop.args" -}}
{{- $values := dict -}}
{{- $names := list -}}
{{- range .shipped -}}
{{- $names = append $names .name -}}
{{- $_ := set $values .name .value -}}
{{- end -}}
{{- $others := .others -}}
{{- $mode := .mode -}}
{{- range $name, $value := .flags -}}
{{- if and (has $name $others) (ne (toString $value) "false") -}}
{{- fail (printf "flags.%s means nothing with mode %s. Leave it out." $name $mode) -}}
{{- end -}}
{{- $_ := set $values $name $value -}}
{{- if not (has $name $names) -}}
{{- $names = append $names $name -}}
{{- end -}}
{{- end -}}
{{- $args := list "reconcile" -}}
{{- range $name := $names -}}
{{- $flag := printf "--%s" $name -}}
{{- $value := get $values $name -}}
{{- if kindIs "bool" $value -}}
{{- if $value -}}
{{- $args = append $args $flag -}}
{{- end -}}
{{- else if kindIs "slice" $value -}}
{{- range $value -}}
{{- $args = concat $args (list $flag .) -}}
{{- end -}}
{{- else if kindIs "string" $value -}}
{{- $args = concat $args (list $flag $value) -}}
{{- else -}}
{{- $args = concat $args (list $flag (int64 $value | toString)) -}}
{{- end -}}
{{- end -}}
{{- toJson $args -}}
{{- end -}}

{{/* The name of what there is once for each shard; without a shard that of the one process. */}}
{{- define "flipop.name" -}}
{{- if . -}}flipop-{{ replace "/" "-of-" . }}{{- else -}}flipop{{- end -}}
{{- end -}}

{{/* The shards as a JSON list, or one that is empty for the one process. Refuses a part of fewer than it is, shards that share objects, and a label that tells shards apart. */}}
{{- define "flipop.shards" -}}
{{- $shards := .Values.shards | default (list "") -}}
{{- if and .Values.shards (hasKey .Values.pod.labels "app.kubernetes.io/instance") -}}
{{- fail "pod.labels has app.kubernetes.io/instance, which tells the pods of shards apart. Leave it out." -}}
{{- end -}}
{{- range $at, $one := $shards -}}
{{- if contains "/" $one -}}
{{- $part := splitList "/" $one -}}
{{- if gt (int (first $part)) (int (last $part)) -}}
{{- fail (printf "shards has %s, which is no part of %s." $one (last $part)) -}}
{{- end -}}
{{- range $other := slice $shards (int (add $at 1)) -}}
{{- if contains "/" $other -}}
{{- $otherPart := splitList "/" $other -}}
{{- $common := include "flipop.divisor" (list (int (last $part)) (int (last $otherPart))) -}}
{{- if eq (mod (first $part) $common) (mod (first $otherPart) $common) -}}
{{- fail (printf "shards has %s and %s, which share objects. Name shards that share none." $one $other) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $shards -}}
{{- end -}}

{{/* The greatest number that divides both numbers of a list. */}}
{{- define "flipop.divisor" -}}
{{- if eq (int (last .)) 0 -}}{{ first . }}{{- else -}}{{ include "flipop.divisor" (list (int (last .)) (int (mod (first .) (last .)))) }}{{- end -}}
{{- end -}}

{{/* The names of the Leases as a YAML list: that of the one process, and those of shards. A numbered shard looks at the Leases of the others of its count, too. */}}
{{- define "flipop.leases" -}}
{{- $names := list "flipop" -}}
{{- range .Values.shards -}}
{{- if contains "/" . -}}
{{- $of := last (splitList "/" .) -}}
{{- range untilStep 1 (int (add 1 $of)) 1 -}}
{{- $names = append $names (printf "flipop-%d-of-%s" . $of) -}}
{{- end -}}
{{- else -}}
{{- $names = append $names (include "flipop.name" .) -}}
{{- end -}}
{{- end -}}
[{{ join ", " (uniq $names) }}]
{{- end -}}
