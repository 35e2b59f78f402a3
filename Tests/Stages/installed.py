"""Doubloon as it is installed: a Debian system in a folder, and programs that run in it as systemd or a container starts them.

All of it needs root: file systems are mounted in a namespace of each program's own, and go with it. Standard library only.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time

# What the package depends on, so that it installs without the network.
INCLUDED = ["ca-certificates", "libsqlite3-0", "libstdc++6"]

# An id that systemd would give out for DynamicUser.
DYNAMIC_ID = 61234


def debian(cache):
    """A minimal system from the mirror that this machine's packages come from, made once and kept in `cache`."""
    said = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=True).stdout.split("\n")
    with open("/etc/os-release", encoding="utf-8") as file:
        codename = re.search(r"^VERSION_CODENAME=(\S+)", file.read(), flags=re.M).group(1)
    mirror = next(line.split()[1] for line in said if line.startswith(codename + " "))
    root = os.path.join(cache, f"{codename}-{'-'.join(INCLUDED)}")
    os.makedirs(cache, exist_ok=True)
    # Of two stages that need it at the same time, the second waits for the first.
    with open(f"{root}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(root):
            partial = f"{root}.{os.getpid()}"
            try:
                subprocess.run(
                    ["debootstrap", "--variant=minbase", f"--include={','.join(INCLUDED)}", codename, partial, mirror], check=True,
                    stdout=subprocess.DEVNULL)
                shutil.rmtree(os.path.join(partial, "var/cache/apt/archives"), ignore_errors=True)
                os.makedirs(os.path.join(partial, "var/cache/apt/archives/partial"))
                os.rename(partial, root)
            finally:
                subprocess.run(["umount", "--quiet", os.path.join(partial, "proc")], check=False, stderr=subprocess.DEVNULL)
                shutil.rmtree(partial, ignore_errors=True)
    return root


def entering(root):
    """The beginning of a command line that runs the rest in the system as root, with /proc and /dev of its own."""
    return [*_namespace(root, ["mount_devices"]), "chroot", root, "env", "-i", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]


def inside(root, *command):
    """Runs a command in the system as root."""
    return subprocess.run([*entering(root), *command], capture_output=True, text=True, timeout=600)


def program_inside(root, path, command, *variables):
    """Writes a program to `path` that runs one of the system's, with some variables of the environment passed on."""
    passed = " ".join(f'{name}="${name}"' for name in variables)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(entering(root))} {passed} {command} "$@"\n')
    os.chmod(path, 0o755)
    return path


def account(root, name):
    """The (uid, gid) of one of the system's users; None if there is none."""
    with open(os.path.join(root, "etc/passwd"), encoding="utf-8") as file:
        for line in file:
            fields = line.split(":")
            if fields[0] == name:
                return int(fields[2]), int(fields[3])
    return None


class Unit:
    """A unit for systemd, as far as the settings go that decide what a program may do."""

    KNOWN = {
        "ExecStartPre", "ExecStart", "ExecReload", "Restart", "RestartPreventExitStatus", "TimeoutStopSec", "EnvironmentFile",
        "LoadCredential", "User", "DynamicUser", "StateDirectory", "StateDirectoryMode", "ConfigurationDirectory",
        "AmbientCapabilities", "CapabilityBoundingSet", "NoNewPrivileges", "ProtectSystem", "ProtectHome", "PrivateTmp",
        "PrivateDevices", "RestrictAddressFamilies", "LimitNOFILE",
    }

    def __init__(self, text):
        section = re.search(r"^\[Service\]\n(.*?)(?=^\[)", text, flags=re.M | re.S).group(1)
        self.settings = dict(re.findall(r"^(\w+)=(.*)$", section, flags=re.M))
        unknown = set(self.settings) - self.KNOWN
        if unknown:
            raise ValueError(f"the stage does not know what these settings of the unit do: {', '.join(sorted(unknown))}")

    def __getitem__(self, name):
        return self.settings.get(name, "")


class Service:
    """A unit's command, run in the system as the unit says: user, capabilities, credentials, and what it may write.

    What systemd would do is done with the kernel's own means: a namespace of mounts in which the system is read-only but for the
    state, credentials that only the service's user can read, and setpriv.
    """

    def __init__(self, root, unit, name="doubloon"):
        self.root = root
        self.unit = unit
        self.name = name
        self.lines = []
        state = unit["StateDirectory"]
        self.is_dynamic = unit["DynamicUser"] == "yes"
        self.uid, self.gid = account(root, unit["User"]) or (DYNAMIC_ID, DYNAMIC_ID)
        self.state = f"/var/lib/private/{state}" if self.is_dynamic else f"/var/lib/{state}"
        self._prepare_state(f"/var/lib/{state}")

    def _prepare_state(self, public):
        folder = self.root + self.state
        if self.is_dynamic and not os.path.islink(self.root + public):
            os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
            os.symlink(os.path.relpath(self.state, os.path.dirname(public)), self.root + public)
        os.makedirs(folder, exist_ok=True)
        os.chown(folder, self.uid, self.gid)
        os.chmod(folder, int(self.unit["StateDirectoryMode"] or "0755", 8))

    def command(self, line):
        """The command line that runs `line` as the service would."""
        credentials = f"/run/credentials/{self.name}.service"
        script = ["mount_devices", "mount -t tmpfs -o mode=1777 tmpfs $root/tmp", "mount -t tmpfs -o mode=755 tmpfs $root/run"]
        if self.unit["LoadCredential"]:
            identifier, source = self.unit["LoadCredential"].split(":")
            script.append(f"""
                mkdir -p $root{credentials}
                mount -t tmpfs -o mode=500,uid={self.uid},gid={self.gid} tmpfs $root{credentials}
                for file in $root{source}/*; do
                  [[ -f $file && ! -L $file ]] || continue
                  install -m 400 -o {self.uid} -g {self.gid} "$file" "$root{credentials}/{identifier}_$(basename "$file")"
                done
                mount -o remount,ro $root{credentials}""")
        if self.is_dynamic:
            # The folder around the state is root's alone outside; inside the way through it is open.
            script.append(f"""
                mkdir $root/run/state
                mount --bind $root{self.state} $root/run/state
                mount -t tmpfs -o mode=755 tmpfs $root/var/lib/private
                mkdir $root{self.state}
                mount --move $root/run/state $root{self.state}""")
        if self.unit["ProtectSystem"] == "strict":
            script.append(f"""
                mount --bind $root{self.state} $root{self.state}
                mount -o remount,bind,ro $root""")
        if self.unit["LimitNOFILE"]:
            # More than this machine allows the stage is not to be had.
            script.append(f"ulimit -n {self.unit['LimitNOFILE']} 2>/dev/null || ulimit -n $(ulimit -Hn)")
        kept = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in self.unit["CapabilityBoundingSet"].split())
        given = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in self.unit["AmbientCapabilities"].split())
        identity = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", f"--bounding-set=-all{kept}",
                    f"--inh-caps=-all{given}", f"--ambient-caps=-all{given}"]
        if self.unit["NoNewPrivileges"] == "yes":
            identity.append("--no-new-privs")
        environment = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8",
                       f"STATE_DIRECTORY={self.state}", f"CREDENTIALS_DIRECTORY={credentials}"]
        return [*_namespace(self.root, script), "chroot", self.root, *identity, *environment, *shlex.split(line)]

    def run(self, line):
        """Runs a command as the service would, to its end."""
        return subprocess.run(self.command(line), capture_output=True, text=True, timeout=300)

    def start(self):
        """ExecStartPre, which must succeed, then ExecStart; returns once the server says where it listens."""
        looked = self.run(self.unit["ExecStartPre"])
        if looked.returncode != 0:
            raise RuntimeError(f"ExecStartPre ended with {looked.returncode}: {looked.stdout}{looked.stderr}")
        return Running(self.command(self.unit["ExecStart"]))


class Container:
    """An unpacked image (a runtime's bundle, as umoci makes it), run as its own configuration says, with a root that is read-only."""

    def __init__(self, bundle):
        self.root = os.path.join(bundle, "rootfs")
        with open(os.path.join(bundle, "config.json"), encoding="utf-8") as file:
            self.process = json.load(file)["process"]
        # What a runtime makes for its mounts.
        for name in ("proc", "dev", "run"):
            os.makedirs(os.path.join(self.root, name), exist_ok=True)

    def command(self, arguments, writable="/data", **variables):
        """The command line that runs some arguments as the container would: its user, no capability, its environment alone."""
        user = self.process["user"]
        script = f"""
            mount_devices
            mount -t tmpfs -o mode=1777 tmpfs $root/tmp
            mount --bind $root{writable} $root{writable}
            mount -o remount,bind,ro $root"""
        environment = [*self.process["env"], *(f"{name}={value}" for name, value in variables.items())]
        return [*_namespace(self.root, [script]), "setpriv", "--bounding-set=-all,+sys_chroot,+setuid,+setgid", "--inh-caps=-all",
                "--no-new-privs", "env", "-i", *environment, shutil.which("chroot"),
                f"--userspec={user['uid']}:{user['gid']}", self.root, *arguments]

    def run(self, arguments, **variables):
        """Runs a command in a container, to its end."""
        return subprocess.run(self.command(arguments, **variables), capture_output=True, text=True, timeout=300)

    def start(self, arguments=None):
        """Starts the image's own command, or another; returns once the server says where it listens."""
        return Running(self.command(arguments or self.process["args"]))


class Running:
    """A program in a process namespace of its own, where it is the first process, as in a container."""

    ADDRESS = re.compile(r"https?://[^ ]*:(\d+)")

    def __init__(self, command):
        self.lines = []
        self.port = None
        self._said = threading.Event()
        self._outer = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self._read, daemon=True).start()
        if not self._said.wait(180) or self.port is None:
            self.kill()
            raise RuntimeError("the server did not say where it listens:\n" + "\n".join(self.lines[-20:]))

    def _read(self):
        for line in self._outer.stdout:
            self.lines.append(line.rstrip())
            del self.lines[:-200]
            found = self.ADDRESS.search(line)
            if found and self.port is None:
                self.port = int(found.group(1))
                self._said.set()
        self._said.set()

    @property
    def pid(self):
        """The program's own number, outside."""
        with open(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children") as file:
            return int(file.read().split()[0])

    def status(self, field):
        """A line of the kernel's record of the process, such as Uid or CapEff."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(line.split()[1:] for line in file if line.startswith(field + ":"))

    def kill(self):
        """SIGKILL, in the middle of whatever it does."""
        if self._outer.poll() is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except (IndexError, ProcessLookupError):
                self._outer.kill()
        return self._outer.wait(120)

    def stop(self, seconds=120):
        """Asks it to end. Returns its exit code; None if it had to be killed."""
        try:
            os.kill(self.pid, signal.SIGTERM)
            return self._outer.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


def _namespace(root, script):
    """The beginning of a command line that runs the rest with mounts and processes of its own, after the lines of `script`."""
    prelude = """
        set -eu
        root=$1
        shift
        mount_devices() {
          mount --bind "$root" "$root"
          mount -t proc proc "$root/proc"
          mount -t tmpfs -o mode=755 tmpfs "$root/dev"
          mkdir "$root/dev/shm" "$root/dev/pts"
          mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
          ln -s pts/ptmx "$root/dev/ptmx"
          for device in null zero full random urandom; do
            touch "$root/dev/$device"
            mount --bind "/dev/$device" "$root/dev/$device"
          done
        }
        """
    return ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "bash", "-c",
            prelude + "\n".join(script) + '\nexec "$@"', "bash", root]


def await_answer(port, path="/healthz", seconds=120):
    """Waits until the server answers with 200. Returns how long that took, in seconds."""
    import http.client
    begin = time.monotonic()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return time.monotonic() - begin
        except OSError:
            pass
        finally:
            connection.close()
        if time.monotonic() - begin > seconds:
            raise RuntimeError(f"nothing answers on port {port}")
        time.sleep(0.02)


def owner(path):
    """Who a file belongs to and who may use it, as (uid, gid, mode)."""
    status = os.stat(path)
    return status.st_uid, status.st_gid, status.st_mode & 0o7777


