// What client-go, the library of Kubernetes' own controllers, makes of a server: each scenario prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// For a server that never sends what is waited for.
const patience = time.Minute

type clients struct {
	typed     kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string
}

// What a scenario saw, by the names under which the test looks for it.
type seen map[string]any

var scenarios = map[string]func(context.Context, clients) (seen, error){
	"typed":    typedScenario,
	"informer": informerScenario,
	"dynamic":  dynamicScenario,
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 4 || scenarios[os.Args[1]] == nil {
		return fmt.Errorf("usage: contractclient typed|informer|dynamic KUBECONFIG NAMESPACE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[2])
	if err != nil {
		return err
	}
	found, err := clientsOf(config, os.Args[3])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := scenarios[os.Args[1]](ctx, found)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func clientsOf(config *rest.Config, namespace string) (clients, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return clients{}, err
	}
	byName, err := dynamic.NewForConfig(config)
	return clients{typed: typed, dynamic: byName, namespace: namespace}, err
}
