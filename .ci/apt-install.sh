#!/bin/sh
# Install packages of Debian's where that can be done without a question; otherwise do nothing.
# Usage: apt-install.sh PACKAGE...
as_root=none
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    exit 1
fi
echo "installing $*"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >/dev/null
$as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null
