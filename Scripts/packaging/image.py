"""Writes an OCI image of folders, one layer for each, as an archive that podman, skopeo, umoci and docker (25 and newer) load.

The format is that of the Open Container Initiative, https://github.com/opencontainers. Nothing but the folders and the arguments
goes into it: the same folders make the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import tarfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--version", required=True)
parser.add_argument("--commit", required=True)
parser.add_argument("--time", type=int, required=True, help="seconds since 1970: of everything in it")
parser.add_argument("--architecture", required=True, help="as Go calls it: amd64, arm64")
parser.add_argument("--compression", type=int, default=9)
parser.add_argument("--layer", action="append", required=True, help="a folder, as it is to be below /")
parser.add_argument("output")

# The user of the image, who owns the data and nothing else.
USER = 65532
DATA = "data"


def entry(name, given):
    """What a layer says of a file: its kind, its mode and the time, and not who made it where."""
    found = tarfile.TarInfo(name)
    found.mtime = given.time
    found.uid = found.gid = USER if name == DATA else 0
    return found


def layer(folder, given):
    """A folder as an uncompressed tar archive, sorted."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files + folders):
                path = os.path.join(parent, name)
                item = entry(os.path.relpath(path, folder), given)
                item.mode = os.lstat(path).st_mode & 0o1777
                if os.path.islink(path):
                    item.type, item.linkname, item.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
                    archive.addfile(item)
                elif os.path.isdir(path):
                    item.type = tarfile.DIRTYPE
                    archive.addfile(item)
                else:
                    item.size = os.path.getsize(path)
                    with open(path, "rb") as file:
                        archive.addfile(item, file)
    return output.getvalue()


class Archive:
    """The image's layout, gathered and then written."""

    def __init__(self):
        self.files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode()}

    def blob(self, kind, content):
        """Adds a blob. Returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, given):
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name in ("blobs", "blobs/sha256"):
                folder = tarfile.TarInfo(name)
                folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, 0o755, given.time
                archive.addfile(folder)
            for name, content in sorted(self.files.items()):
                item = tarfile.TarInfo(name)
                item.size, item.mode, item.mtime = len(content), 0o644, given.time
                archive.addfile(item, io.BytesIO(content))


def configuration(given, digests, created):
    """What a container of the image runs, as whom, where."""
    return {
        "created": created, "architecture": given.architecture, "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": f"/{DATA}", "Entrypoint": ["/usr/bin/doubloon"],
            "Cmd": ["serve", "--config", "/etc/doubloon/doubloon.jsonc"], "ExposedPorts": {"9000/tcp": {}},
            "Volumes": {f"/{DATA}": {}}, "Env": ["PATH=/usr/bin", "LANG=C.UTF-8"], "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "doubloon", "org.opencontainers.image.version": given.version,
                "org.opencontainers.image.revision": given.commit, "org.opencontainers.image.licenses": "Apache-2.0",
            },
            # Docker's own addition, which other programs pass over; nanoseconds.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/doubloon", "status", "--ready"], "Interval": 30 * 10**9, "Timeout": 10 * 10**9,
                "StartPeriod": 60 * 10**9, "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": digests},
        "history": [{"created": created, "created_by": "Scripts/release"} for _ in digests],
    }


def main():
    given = parser.parse_args()
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(given.time))
    archive = Archive()
    layers, digests = [], []
    for folder in given.layer:
        content = layer(folder, given)
        digests.append("sha256:" + hashlib.sha256(content).hexdigest())
        layers.append(archive.blob("layer.v1.tar+gzip", gzip.compress(content, given.compression, mtime=0)))
    said = json.dumps(configuration(given, digests, created), sort_keys=True).encode()
    manifest = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": archive.blob("config.v1+json", said), "layers": layers,
    }
    found = archive.blob("manifest.v1+json", json.dumps(manifest, sort_keys=True).encode())
    found["annotations"] = {
        # The first is what podman and skopeo go by, the second what docker names the image after.
        "org.opencontainers.image.ref.name": given.version, "io.containerd.image.name": f"docker.io/library/doubloon:{given.version}",
    }
    archive.files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [found]}).encode()
    archive.write(given.output, given)


if __name__ == "__main__":
    main()
