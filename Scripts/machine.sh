# What Scripts/run and Scripts/test need of the machine. Sourced, not started.
# shellcheck shell=bash

SWIFT_NEEDED=6.2

# How the program is built for use. Linked with the Swift runtime it runs without a toolchain, and faster; Scripts/release.json
# holds the compiler's flags (CONTRIBUTING.md says why they are what they are), which a package may not set for those who use it;
# Scripts/release.ld says what the linker leaves out.
# shellcheck disable=SC2034
release_build=(-c release --static-swift-stdlib --toolset Scripts/release.json -Xlinker -T -Xlinker "$PWD/Scripts/release.ld")

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 2
}

# Swift itself is never installed from here: it is large, and which one is the user's choice.
need_swift() {
  local how="Get it at https://www.swift.org/install/linux/ (swiftly installs and updates it), then run this again."
  command -v swift >/dev/null || fail "Doubloon is built with Swift $SWIFT_NEEDED or newer, and no swift is in the PATH. $how"
  local found
  found=$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  [[ -n $found ]] || fail "Doubloon is built with Swift $SWIFT_NEEDED or newer; swift --version does not say what this one is. $how"
  local oldest
  oldest=$(printf '%s\n%s\n' "$SWIFT_NEEDED" "$found" | sort -V | head -n 1)
  [[ $oldest == "$SWIFT_NEEDED" ]] || fail "Doubloon is built with Swift $SWIFT_NEEDED or newer; this is Swift $found. $how"
}

missing=()

# need PACKAGE WHY CHECK...: notes the package unless the check succeeds.
need() {
  local package=$1 why=$2
  shift 2
  "$@" >/dev/null 2>&1 && return
  missing+=("$package")
  say "Missing: $package ($why)"
}

# Services that a package starts and nobody wants.
unwanted_services=()

has_sqlite() { [[ -e /usr/include/sqlite3.h ]] || pkg-config --exists sqlite3; }

need_build_packages() {
  need git "Swift fetches the libraries of Package.swift with it" command -v git
  need libsqlite3-dev "SQLite, which holds the data" has_sqlite
}

need_python() {
  need python3 "runs the stages that play clients against the server" command -v python3
}

need_python_venv() {
  need_python
  need python3-venv "places of their own for the Firebase admin SDK and for schemathesis" python3 -c 'import venv, ensurepip'
}

need_browser() {
  need chromium "opens pages as people would" command -v chromium
}

need_platforms() {
  need nodejs "runs the clients for Node" command -v node
  need mono-mcs "compiles the client for Unity" command -v mcs
  need mono-runtime "runs the client for Unity" command -v mono
  need libmono-system-net-http4.0-cil "what the client for Unity asks with" test -e /usr/lib/mono/4.5/System.Net.Http.dll
}

# Debian's package starts a server of its own, which is not used and stopped again.
need_postgres() {
  compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || unwanted_services+=(postgresql)
  need postgresql "keeps the store of several nodes" compgen -G "/usr/lib/postgresql/*/bin/initdb"
  need libfaketime "lets the clock of a node be wrong" compgen -G "/usr/lib/*/faketime/libfaketimeMT.so.1"
}

# Debian's packages start services of their own, which are not used and stopped again.
need_patroni() {
  command -v etcd >/dev/null || unwanted_services+=(etcd)
  command -v patroni >/dev/null || unwanted_services+=(patroni)
  need etcd-server "keeps which of the PostgreSQL servers takes writes" command -v etcd
  need patroni "promotes a PostgreSQL server when another dies" command -v patroni
  need python3-etcd "what Patroni asks etcd with" /usr/bin/python3 -c 'import etcd'
}

need_readers() {
  need zbar-tools "reads the QR codes of links" command -v zbarimg
  need_browser
}

# For the stages that install into a Debian of their own, and judge what they install.
need_packaging() {
  need binutils "leaves out of a program what debuggers read" command -v strip
  need curl "plays README's scenario" command -v curl
  need debootstrap "makes a fresh Debian to install into" command -v debootstrap
  need dpkg-dev "finds the packages that a program needs" command -v dpkg-shlibdeps
  need lintian "judges Debian packages" command -v lintian
  need skopeo "reads images" command -v skopeo
  need systemd "judges units" command -v systemd-analyze
  need umoci "unpacks images" command -v umoci
}

# Debian has promtool in the package of the whole server, which it starts as a service: that is stopped again.
need_promtool() {
  command -v promtool >/dev/null || unwanted_services+=(prometheus)
  need prometheus "promtool, which reads rules and metrics" command -v promtool
}

# Installs what was missing; without the right to do so, says how.
install_missing() {
  ((${#missing[@]})) || return 0
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  command -v apt-get >/dev/null || fail "Install what is missing with this system's package manager, then run this again."
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    sudo -n true 2>/dev/null || fail "To install it, run:  sudo ${install[*]}"
    as_root=(sudo -n)
  fi
  say "Installing: ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # A fresh machine has no package lists yet, and an old one has outdated ones: the second try brings new ones.
  if ! "${as_root[@]}" "${install[@]}" >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update >/dev/null || fail "apt-get update failed. To install by hand, run:  ${install[*]}"
    "${as_root[@]}" "${install[@]}" >/dev/null || fail "apt-get failed. To install by hand, run:  ${install[*]}"
  fi
  missing=()
  local service
  for service in "${unwanted_services[@]}"; do
    if [[ -d /run/systemd/system ]]; then
      "${as_root[@]}" systemctl disable --now "$service" >/dev/null 2>&1 || true
    else
      "${as_root[@]}" service "$service" stop >/dev/null 2>&1 || true
    fi
  done
}

# Makes an environment of Python with what a file of requirements names, once: environment NAME FILE [option of pip...]
# Of stages that need it at the same time, the second waits for the first.
environment() {
  local venv=.build/$1
  (
    flock 9
    if [[ ! -e $venv/complete ]]; then
      rm -rf "$venv"
      python3 -m venv "$venv"
      "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "Tests/Stages/$2" "${@:3}"
      touch "$venv/complete"
    fi
  ) 9>"$venv.lock"
}
