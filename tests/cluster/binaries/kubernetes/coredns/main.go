// CoreDNS with the two plugins that the cluster's DNS takes, in the module of Kubernetes: with all of its plugins, and
// other versions of what both are made from, it takes four minutes more to build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	dnsserver.Directives = []string{"bind", "kubernetes"}
	coremain.Run()
}
