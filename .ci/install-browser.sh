#!/bin/sh
# Install Chromium, in which the explorer's page is tested. Always succeeds: without it these tests
# are skipped, and say why.
installed() {
    [ -n "$OTSPEC_CHROMIUM" ] || command -v chromium || command -v chromium-browser || command -v google-chrome
}

installed >/dev/null && exit 0

as_root=none
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
fi
if [ "$as_root" != none ] && command -v apt-get >/dev/null; then
    echo "installing chromium"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null
    $as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null
    installed >/dev/null && exit 0
fi
echo "Chromium could not be installed, so the tests of the explorer's page (tests/explorer) will be"
echo "skipped. Install it (on Debian: apt install chromium), or name one in OTSPEC_CHROMIUM, then run"
echo "this command again."
