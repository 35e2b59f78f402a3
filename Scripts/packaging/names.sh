# The version, the commit, the time and the machine that packages are named after. Sourced, not started.
# shellcheck shell=bash

export COMMIT SOURCE_DATE_EPOCH VERSION DEBIAN_VERSION MACHINE ARCHITECTURE

# The commit, and its time: of a folder without git (an archive of the sources) both must be said.
commit_of_sources() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    COMMIT=$(git rev-parse HEAD)
    : "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
  fi
  [[ -n ${COMMIT:-} && -n ${SOURCE_DATE_EPOCH:-} ]] ||
    fail "This is no git repository: set COMMIT to the commit and SOURCE_DATE_EPOCH to its time in seconds."
}

# What the program says of itself: "doubloon 0.1.0-dev (commit 0123456789ab)".
name_version() {
  local said
  said=$("$1" --version) || fail "$1 does not say its version; is it built for this machine?"
  VERSION=$(sed -n 's/^doubloon \([0-9][0-9A-Za-z.+-]*\).*/\1/p' <<<"$said")
  [[ -n $VERSION ]] || fail "$1 says \"$said\" for its version, which is none."
  # Debian sorts a tilde before everything: 0.1.0~dev is older than 0.1.0, and a later commit's is newer than an earlier one's.
  DEBIAN_VERSION=${VERSION/-/\~}
  if [[ $VERSION == *-* ]]; then
    DEBIAN_VERSION+=".$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).g${COMMIT:0:8}"
  fi
  DEBIAN_VERSION+=-1
  MACHINE=$(uname -m)
  ARCHITECTURE=$(dpkg --print-architecture 2>/dev/null) || case $MACHINE in
    x86_64) ARCHITECTURE=amd64 ;;
    aarch64) ARCHITECTURE=arm64 ;;
    *) fail "Packages are made for x86_64 and aarch64; this machine is $MACHINE." ;;
  esac
}
