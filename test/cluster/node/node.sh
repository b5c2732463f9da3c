#!/bin/bash
# PID 1 of a node: sets up its mounts and its network, runs containerd, kubelet and kube-proxy, and ends with any of them.
# node.sh NAME ADDRESS KUBELET-FLAG…
set -euo pipefail
name=$1 address=$2
shift 2
hostname "$name"
. "$(dirname "$0")/mounts.sh"
mount --bind "$RIG_HOME/kubelet" /var/lib/kubelet
mount -t tmpfs -o mode=755 tmpfs /var/log
# The rig moves the other end of its link in here.
for _ in $(seq 200); do ip link show eth0 > /dev/null 2>&1 && break; sleep 0.05; done
ip address add "$address/24" dev eth0
ip link set eth0 up
ip route add default via 172.30.0.1
cd "$RIG_HOME"
containerd --config containerd.toml > containerd.log 2>&1 &
for _ in $(seq 300); do ctr version > /dev/null 2>&1 && break; sleep 0.1; done
ctr -n k8s.io images import "$RIG_PAUSE" > import.log 2>&1
"$RIG_PARTS" kubelet --config=kubelet.json --kubeconfig=kubelet.kubeconfig --hostname-override="$name" \
  --node-ip="$address" --cert-dir=kubelet-pki "$@" > kubelet.log 2>&1 &
"$RIG_PARTS" kube-proxy --config=kube-proxy.json > kube-proxy.log 2>&1 &
# Orphans of containers end here, too: only the end of a program of the node ends the node.
started=$(jobs -p | wc -l)
while [ "$(jobs -rp | wc -l)" = "$started" ]; do wait -n || true; done
