// One binary with every part of Kubernetes, and etcd: the name it is called by chooses the part. One link of the Go
// linker takes minutes, six of them would take the whole build budget.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// etcd serves on loopback until it is told to stop. The cluster lives minutes, so nothing is synced to the disk.
func etcd() *cobra.Command {
	var dir string
	command := &cobra.Command{Use: "etcd", RunE: func(*cobra.Command, []string) error {
		config := embed.NewConfig()
		config.Dir = dir
		config.UnsafeNoFsync = true
		config.LogLevel = "warn"
		server, err := embed.StartEtcd(config)
		if err != nil {
			return err
		}
		defer server.Close()
		<-server.Server.ReadyNotify()
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		<-stop
		return nil
	}}
	command.Flags().StringVar(&dir, "data-dir", "", "folder of the database")
	return command
}

func main() {
	parts := map[string]func() *cobra.Command{
		"etcd":                    etcd,
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kube-proxy":              proxy.NewProxyCommand,
	}
	part, known := parts[filepath.Base(os.Args[0])]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call it by the name of a part\n", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(part()))
}
