#!/bin/bash
# PID 1 of a rig: sets up its mounts and its bridge, then runs the control plane, and collects orphans until that ends.
set -euo pipefail
here=$(dirname "$0")
hostname reeve-rig
. "$here/mounts.sh"
# What is written below /var goes into a layer that ends with this namespace.
mkdir -p "$RIG_HOME/layer"
mount -t tmpfs tmpfs "$RIG_HOME/layer"
mkdir "$RIG_HOME/layer/upper" "$RIG_HOME/layer/work"
mount -t overlay -o "lowerdir=/var,upperdir=$RIG_HOME/layer/upper,workdir=$RIG_HOME/layer/work" overlay /var
mkdir -p /var/lib/kubelet
ip link add rig0 type bridge
ip address add 172.30.0.1/24 dev rig0
ip link set rig0 up
# Without a default route, connecting to an address of a Service fails before kube-proxy's rules are asked.
ip route add default via 172.30.0.1 dev rig0
"$RIG_NODE" "$here/inside.ts" "$RIG_HOME" &
child=$!
while kill -0 $child 2> /dev/null; do wait $child || true; done
