#!/bin/sh
# Install pycddlib, which compiles against libcdd and GMP. Always succeeds: without it the tests
# that need it are skipped, and say why.
# Usage: install-cones.sh PYTHON
python=$1

installed() { "$python" -c 'import cdd.gmp' 2>/dev/null; }
install() { "$python" -m pip install --quiet --disable-pip-version-check --editable '.[cones]' >/dev/null 2>&1; }

installed && exit 0
install && installed && exit 0

as_root=none
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
fi
if [ "$as_root" != none ] && command -v apt-get >/dev/null; then
    echo "installing libcdd-dev and libgmp-dev"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null
    $as_root apt-get install -y -qq libcdd-dev libgmp-dev >/dev/null
    install && installed && exit 0
fi
echo "pycddlib could not be installed, so the tests that need it will be skipped. Install a C"
echo "compiler, Python's headers, libcdd and GMP (on Debian: apt install build-essential python3-dev"
echo "libcdd-dev libgmp-dev), then run this command again."
