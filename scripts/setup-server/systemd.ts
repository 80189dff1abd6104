/** A copy of this machine in which systemd runs, for scripts/setup-server.ts. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";

const SYSTEMD = "/lib/systemd/systemd";
const BOOT_LIMIT_MS = 60_000;

/**
 * Boots systemd in a folder that shows this machine through an overlay. Its arguments are that folder,
 * and the executable. The units of this machine are not started.
 */
const BOOT = `
mkdir -p "$1/layers" "$1/root"
mount -t tmpfs tmpfs "$1/layers"
mkdir "$1/layers/upper" "$1/layers/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/upper,workdir=$1/layers/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --bind /dev dev
mount -t sysfs sysfs sys
mount -t cgroup2 none sys/fs/cgroup || {
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd systemd sys/fs/cgroup/systemd
}
rm -f etc/systemd/system/*.wants/* lib/systemd/system/multi-user.target.wants/*
rm -rf etc/mailstead var/lib/mailstead usr/local/bin/mailstead etc/systemd/system/mailstead.service*
cp "$2" root/mailstead
mount --make-rshared /
exec chroot . env container=setup-server ${SYSTEMD} --system --unit=multi-user.target
`;

export const hasSystemd = (): boolean => existsSync(SYSTEMD);

/** Resolves when systemd has booted. `pid` is its process; `stop` ends all processes of the copy. */
export async function bootSystemd(folder: string, executable: string) {
  mkdirSync(folder);
  const namespaces = ["--mount", "--pid", "--cgroup", "--uts", "--ipc", "--fork", "--kill-child"];
  const booting = ["sh", "-ec", BOOT, "sh", folder, executable];
  const child = Bun.spawn(["unshare", ...namespaces, ...booting], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { pid: await findFirstProcess(child.pid), stop };
}

/** The process that is the first one in its namespace, once systemd has booted. */
async function findFirstProcess(parent: number): Promise<string> {
  const deadline = performance.now() + BOOT_LIMIT_MS;
  while (performance.now() < deadline) {
    const [pid = ""] = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").split(" ");
    const state = pid === "" ? "" : readInside(pid, "systemctl is-system-running");
    if (state === "running" || state === "degraded") return pid;
    await Bun.sleep(200);
  }
  throw new Error("systemd did not boot");
}

/** The words before a command that runs there. */
export const enter = (pid: string): string[] => [
  "nsenter",
  "-t",
  pid,
  "-m",
  "-p",
  "-r",
  "-w",
  "--",
];

/** The output of a command of the shell there. */
export function readInside(pid: string, command: string): string {
  const ran = Bun.spawnSync([...enter(pid), "sh", "-c", command], {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  return ran.stdout.toString().trim();
}
