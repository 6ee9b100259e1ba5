"""A real Kubernetes with Argo Workflows on one machine, for tests: built from Go modules and Debian packages.

The whole node lives in network, mount and process namespaces of its own: when its first process ends, the kernel takes
processes, mounts, bridges and iptables rules with it. Test scaffolding; users bring a cluster.
"""
