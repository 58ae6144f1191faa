#!/bin/sh
# Install pycddlib, which compiles against libcdd and GMP. Always succeeds: without it the tests
# that need it are skipped, and say why.
# Usage: install-cones.sh PYTHON
python=$1

installed() { "$python" -c 'import cdd.gmp' 2>/dev/null; }
install() {
    "$python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --requirement requirements/cones.txt >/dev/null 2>&1
}

installed && exit 0
install && installed && exit 0

sh "$(dirname "$0")/apt-install.sh" libcdd-dev libgmp-dev && install && installed && exit 0
echo "pycddlib could not be installed, so the tests that need it will be skipped. Install a C"
echo "compiler, Python's headers, libcdd and GMP (on Debian: apt install build-essential python3-dev"
echo "libcdd-dev libgmp-dev), then run this command again."
