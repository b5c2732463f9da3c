// A plain controller of client-go, which the bench compares with Reeve: one RoleBinding and one copy of a Secret in each namespace.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const usage = "usage: reference KUBECONFIG PREFIX SOURCE default|unlimited WORKERS"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Prints a line once its caches have synced, and runs until a signal ends it.
func run() error {
	if len(os.Args) != 6 {
		return fmt.Errorf(usage)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return err
	}
	if err := limit(config, os.Args[4]); err != nil {
		return err
	}
	workers, err := strconv.Atoi(os.Args[5])
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return newController(client, os.Args[2], os.Args[3]).run(ctx, workers)
}

// Without a QPS, client-go sends 5 requests a second: https://pkg.go.dev/k8s.io/client-go/rest#Config
func limit(config *rest.Config, speed string) error {
	switch speed {
	case "default":
	case "unlimited":
		config.QPS = -1
	default:
		return fmt.Errorf(usage)
	}
	return nil
}
