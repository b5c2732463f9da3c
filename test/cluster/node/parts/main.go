// What a node adds to the control plane, in one binary: kubelet, kube-proxy and kube-scheduler are its subcommands, each
// with the flags of the original.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if len(os.Args) < 2 {
		misused()
	}
	// The components read os.Args themselves, so the subcommand becomes the name of the program.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		misused()
	}
}

func misused() {
	fmt.Fprintln(os.Stderr, "usage: nodeparts kubelet|kube-proxy|kube-scheduler [flags]")
	os.Exit(2)
}
