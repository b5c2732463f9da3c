# Sourced by PID 1 of a namespace. Mounts what its processes would otherwise change for the whole machine.
# RIG_HOME is the folder of this node, and RIG_CGROUPS the version of the cgroups: 1 or 2.
mount --make-rprivate /
# Kubelets propagate mounts into Pods: https://kubernetes.io/docs/concepts/storage/volumes/#mount-propagation
mount --make-rshared /
mount -t sysfs sysfs /sys
if [ "$RIG_CGROUPS" = 2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # A cgroup with processes passes no controllers on, so this process moves one cgroup down.
  # https://docs.kernel.org/admin-guide/cgroup-v2.html#no-internal-process-constraint
  mkdir -p /sys/fs/cgroup/own
  echo $$ > /sys/fs/cgroup/own/cgroup.procs
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    # The parent of this process is moved out from outside, a moment later.
    for _ in $(seq 100); do
      echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null && break
      sleep 0.05
    done
  done
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  while IFS=: read -r _ controllers _; do
    [ -n "$controllers" ] || continue
    mkdir -p "/sys/fs/cgroup/${controllers#name=}"
    mount -t cgroup -o "$controllers" cgroup "/sys/fs/cgroup/${controllers#name=}"
  done < /proc/self/cgroup
fi
# The kubelet sets these for the whole machine unless they have the values that it wants.
# https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ (protectKernelDefaults)
mkdir -p "$RIG_HOME/sysctls"
while read -r name value; do
  echo "$value" > "$RIG_HOME/sysctls/${name//\//.}"
  mount --bind "$RIG_HOME/sysctls/${name//\//.}" "/proc/sys/$name"
done << 'VALUES'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
VALUES
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lock
ip link set lo up
# Of this network namespace alone.
echo 1 > /proc/sys/net/ipv4/ip_forward
