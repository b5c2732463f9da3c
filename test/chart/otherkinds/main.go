// Command otherkinds reads objects of cert-manager and the Prometheus operator from a List in JSON on its standard input. It
// decodes them into the types of those projects, and reports fields that the types do not have.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

type list struct {
	Items []json.RawMessage `json:"items"`
}

func typeFor(kind string) any {
	switch kind {
	case "Issuer":
		return &certmanager.Issuer{}
	case "Certificate":
		return &certmanager.Certificate{}
	case "PodMonitor":
		return &monitoring.PodMonitor{}
	case "PrometheusRule":
		return &monitoring.PrometheusRule{}
	}
	return nil
}

func check(raw json.RawMessage) error {
	var object struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	target := typeFor(object.Kind)
	if target == nil {
		return fmt.Errorf("no type for the kind %q", object.Kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return fmt.Errorf("%s: %w", object.Kind, err)
	}
	return nil
}

func main() {
	var objects list
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, raw := range objects.Items {
		if err := check(raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println(len(objects.Items))
}
