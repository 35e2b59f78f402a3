"""The image, built without a daemon and run without one: unpacked by umoci, started by the kernel's own means as a container.

It is made of a program that is built already (`Scripts/release --program`). README's scenario is played over it, with the
settings of Examples/compose.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from installed import Container, await_answer, owner
from package_stage import ROOT, release, text, write
from readme_stage import blocks, in_production, shell
from server import Checks
from serving import free_port

IMAGE_BYTES_MAX = 60_000_000
TOKEN = "0123456789abcdef0123456789abcdef"


class Stage:
    """The checks, one after another, of one image."""

    def __init__(self, program, folder):
        self.checks = Checks()
        self.check = self.checks.check
        self.program = program
        self.folder = folder

    def make(self):
        first = release(self.program, os.path.join(self.folder, "packages"), "image")
        again = release(self.program, os.path.join(self.folder, "again"), "image")
        self.check("the same commit makes the same bytes", first == again, f"{first}{again}")
        archive = glob.glob(os.path.join(self.folder, "packages", "*.oci.tar"))[0]
        layout = os.path.join(self.folder, "layout")
        os.mkdir(layout)
        subprocess.run(["tar", "-xf", archive, "-C", layout], check=True)
        with open(os.path.join(layout, "index.json"), encoding="utf-8") as file:
            tag = json.load(file)["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
        looked = subprocess.run(["skopeo", "inspect", "--config", f"oci:{layout}:{tag}"], capture_output=True, text=True)
        self.check("skopeo reads it", looked.returncode == 0, looked.stderr)
        config = json.loads(looked.stdout)["config"]
        self.check("it starts \"doubloon serve\"", (config["Entrypoint"] + config["Cmd"])[:2] == ["/usr/bin/doubloon", "serve"],
                   str(config))
        bundle = os.path.join(self.folder, "bundle")
        unpacked = subprocess.run(
            ["umoci", "unpack", "--image", f"{layout}:{tag}", bundle], capture_output=True, text=True)
        self.check("umoci unpacks it", unpacked.returncode == 0, unpacked.stderr)
        self.container = Container(bundle)
        self.root = self.container.root
        self.health = self.declared_health(layout, tag)

    def declared_health(self, layout, tag):
        """The command of the health check, which is no part of what others than docker read."""
        raw = subprocess.run(
            ["skopeo", "inspect", "--config", "--raw", f"oci:{layout}:{tag}"], capture_output=True, text=True, check=True).stdout
        test = json.loads(raw)["config"]["Healthcheck"]["Test"]
        dockerfile = re.search(r"HEALTHCHECK .*\n? *CMD (\[.*\])", text(ROOT, "Dockerfile"))
        self.check("the Dockerfile's health check is the image's", dockerfile and json.loads(dockerfile.group(1)) == test[1:],
                   str(test))
        return test[1:]

    def look(self):
        user = self.container.process["user"]
        self.check("its user is not root", user["uid"] > 0 and user["gid"] > 0, str(user))
        data = owner(os.path.join(self.root, "data"))
        self.check("the data belong to that user", data[:2] == (user["uid"], user["gid"]), str(data))
        size = int(subprocess.run(["du", "-sb", self.root], capture_output=True, text=True, check=True).stdout.split()[0])
        self.check("it is below 60 MB", size < IMAGE_BYTES_MAX, f"{size:,} bytes")
        trusted = text(self.root, "etc/ssl/certs/ca-certificates.crt").count("BEGIN CERTIFICATE")
        self.check("it knows the authorities that the web trusts", trusted > 100, str(trusted))
        shells = glob.glob(os.path.join(self.root, "**/*sh"), recursive=True)
        self.check("it has no shell", not [path for path in shells if os.access(path, os.X_OK) and os.path.isfile(path)], str(shells))

    def serve_as_it_is(self):
        """Nothing mounted, nothing said: it serves, to nobody in particular."""
        port = free_port()
        self.move_to(port, text(self.root, "etc/doubloon/doubloon.jsonc"))
        before = self.container.run(self.health, DOUBLOON_SERVER=f"http://127.0.0.1:{port}")
        self.check("without a server the health check fails", before.returncode == 1, before.stdout + before.stderr)
        running = self.container.start()
        try:
            await_answer(running.port)
            healthy = self.container.run(self.health, DOUBLOON_SERVER=f"http://127.0.0.1:{port}")
            self.check("the image's own command serves, and its health check says so", healthy.returncode == 0,
                       healthy.stdout + healthy.stderr)
            uid, capabilities = running.status("Uid"), int(running.status("CapEff")[0], 16)
            self.check("it runs as the image's user, without capabilities", set(uid) == {"65532"} and capabilities == 0,
                       f"{uid} {capabilities:x}")
            self.check("it ends when it is asked to", running.stop() == 0)
        finally:
            running.kill()

    def move_to(self, port, settings):
        """Installs settings, with the port that is free here."""
        write(settings.replace('"port": 9000', f'"port": {port}'), self.root, "etc/doubloon/doubloon.jsonc")

    def scenario(self):
        """README's scenario with the settings of Examples/compose, and a SIGKILL in the middle."""
        scenario, said, look = blocks(text(ROOT, "README.md"), "Alice refers Bob")[:3]
        os.makedirs(os.path.join(self.root, "run/secrets"))
        write(TOKEN + "\n", self.root, "run/secrets/admin.token")
        self.move_to(free_port(), text(ROOT, "Examples/compose/doubloon.jsonc"))
        write(f'header = "Authorization: Bearer {TOKEN}"\n', self.folder, ".curlrc")
        os.environ["CURL_HOME"] = self.folder
        os.environ["DOUBLOON_KEY"] = TOKEN
        running = self.container.start()
        try:
            pasted = shell(scenario[1], running.port, self.program)
            self.check("README's scenario says what the README says", pasted.stdout == said[1], pasted.stdout + pasted.stderr)
            running.kill()
            running = self.container.start()
            pasted = shell(scenario[1], running.port, self.program)
            self.check("so it does after a SIGKILL, and nothing is paid twice", pasted.stdout == said[1], pasted.stdout)
            looked = shell(in_production(look[1]), running.port, self.program)
            self.check("the commands that look at it run", looked.returncode == 0, looked.stderr)
            self.check("the next fetch brings Alice her message", "The next fetch brings it" in looked.stdout, looked.stdout[-600:])
            for word in ("grantSignupReward", "rewardReferrals", "level5", "sound", "pieces_of_eight"):
                self.check(f"they show {word}", word in looked.stdout, looked.stdout, quiet=True)
            # As "docker compose exec" does.
            within = self.container.run(
                ["/usr/bin/doubloon", "status"], DOUBLOON_KEY="/run/secrets/admin.token",
                DOUBLOON_SERVER=f"http://127.0.0.1:{running.port}")
            self.check("an administrator asks from inside", "The server is ready." in within.stdout, within.stderr)
            self.check("it ends when it is asked to", running.stop() == 0)
        finally:
            running.kill()

    def develop(self):
        """docker run ... dev: to try things out."""
        running = self.container.start(["/usr/bin/doubloon", "dev", "--host", "0.0.0.0", "--port", "0", "--data", "/data/trial"])
        try:
            await_answer(running.port)
            self.check("\"dev\" is served as well", running.stop() == 0)
        finally:
            running.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    folder = tempfile.mkdtemp(prefix="doubloon-image-")
    stage = Stage(program, folder)
    try:
        for part in (stage.make, stage.look, stage.serve_as_it_is, stage.scenario, stage.develop):
            begin = time.monotonic()
            part()
            print(f"        ({part.__name__}: {time.monotonic() - begin:.1f} s)", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return stage.checks.finish()


if __name__ == "__main__":
    sys.exit(main())
