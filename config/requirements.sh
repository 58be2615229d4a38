#!/bin/sh
# requirements.sh TARGET...: installs the packages of requirements.txt that are missing (as root, with apt-get) or says how to
here=$(dirname "$0")
updated=
for target in "$@"; do
  missing=
  while IFS=: read -r name packages probe; do
    if [ "$(echo $name)" = "$target" ] && ! (eval "$probe") </dev/null >/dev/null 2>&1; then missing="$missing $packages"; fi
  done <"$here/requirements.txt"
  missing=$(echo $missing)
  [ -n "$missing" ] || continue
  if ! command -v apt-get >/dev/null; then
    echo "Polder needs these Debian packages, or the like of them on this system: $missing" >&2
    exit 1
  elif [ "$(id -u)" != 0 ]; then
    echo "Packages are missing. Type:  sudo apt-get install --no-install-recommends $missing" >&2
    exit 1
  fi
  echo "Installing $missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  if [ -z "$updated" ]; then apt-get update -q >&2 </dev/null && updated=yes; fi
  apt-get install -qy --no-install-recommends $missing >&2 </dev/null || { echo "apt-get could not install: $missing" >&2; exit 1; }
done
