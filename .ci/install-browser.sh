#!/bin/sh
# Install Chromium, in which the explorer's page is tested. Always succeeds: without it these tests
# are skipped, and say why.
installed() {
    [ -n "$OTSPEC_CHROMIUM" ] || command -v chromium || command -v chromium-browser || command -v google-chrome
}

installed >/dev/null && exit 0

sh "$(dirname "$0")/apt-install.sh" chromium && installed >/dev/null && exit 0
echo "Chromium could not be installed, so the tests of the explorer's page (tests/explorer) will be"
echo "skipped. Install it (on Debian: apt install chromium), or name one in OTSPEC_CHROMIUM, then run"
echo "this command again."
