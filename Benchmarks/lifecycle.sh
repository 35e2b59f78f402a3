#!/usr/bin/env bash
# Starts the release build on empty data, runs a load driver against it, says what it cost the server:
#   Benchmarks/lifecycle.sh COMMAND...      (PORT in the command becomes the server's port)
# Benchmarks/README.md describes the workload.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($#)) || {
  sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# shellcheck source=Scripts/machine.sh
source Scripts/machine.sh
swift build "${release_build[@]}" --product doubloon
# On the disk that the data would be on: in memory there is no fsync to wait for.
data=.build/lifecycle-data
rm -rf "$data"
output=.build/lifecycle-output.txt
.build/release/doubloon dev --port 0 --data "$data" >"$output" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT

port=
for _ in $(seq 100); do
  port=$(sed -n 's|.*http://127\.0\.0\.1:\([0-9]*\).*|\1|p' "$output" | head -n 1)
  [[ -n $port ]] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
[[ -n $port ]] || {
  echo "The server did not start:" >&2
  cat "$output" >&2
  exit 1
}

status=0
"${@//PORT/$port}" || status=$?
if [[ -r /proc/$server/stat ]]; then
  read -r -a fields < <(sed 's/^.*) //' "/proc/$server/stat")
  ticks=$(getconf CLK_TCK)
  printf 'server: %s ms of CPU, %s kB resident\n' "$(((fields[11] + fields[12]) * 1000 / ticks))" \
    "$(awk '/^VmRSS/ { print $2 }' "/proc/$server/status")"
fi
exit "$status"
