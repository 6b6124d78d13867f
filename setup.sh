#!/bin/sh
# Makes .venv (Python packages by lock) and .jars (Delta for Spark). Costs under a second when all is done,
# takes up an interrupted set-up, and needs Python 3.11 to 3.13 and Java 17 or 21.
#   PYTHON=...    the Python to use instead of the first fitting one on PATH
#   JVM_ROOT=...  where to look for Java besides JAVA_HOME and PATH (default: /usr/lib/jvm)
set -eu
cd "$(dirname "$0")"
here=$(pwd -P)
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" # trust whom the machine trusts, as pip and Java do

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# --- Debian and Ubuntu, as root -----------------------------------------------------------------------------
can_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && grep -Eq '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release
}

apt_install() {
    apt-get -qq update
    for package in "$@"; do # the first one that this release has
        if DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$package"; then
            say "installed the system package $package"
            return
        fi
    done
    fail "apt-get could not install $1; see its message above."
}

# --- Java ---------------------------------------------------------------------------------------------------
is_fitting_java() {
    [ -x "$1" ] || return 1
    case $("$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') in
        17 | 21) ;;
        *) return 1 ;;
    esac
}

# The java that Spark takes when it is told nothing.
default_java() {
    if [ -n "${JAVA_HOME:-}" ]; then echo "$JAVA_HOME/bin/java"; else command -v java || true; fi
}

find_java() {
    for java in "$(default_java)" "$(command -v java || true)" "${JVM_ROOT:-/usr/lib/jvm}"/*/bin/java; do
        if is_fitting_java "$java"; then
            echo "$java"
            return
        fi
    done
}

need_java() {
    java=$(find_java)
    if [ -z "$java" ] && can_install; then
        say "no Java 17 or 21 found: installing openjdk-17-jre-headless (or 21, where there is no 17) ..."
        apt_install openjdk-17-jre-headless openjdk-21-jre-headless
        java=$(find_java)
    fi
    [ -n "$java" ] || fail "Spark needs Java 17 or 21: install one (for example Temurin 17 or openjdk-17-jre-headless) and put it on PATH or in JAVA_HOME."
}

# Where the java found is not the one Spark would take by itself, Spark's own spark-env.sh names it.
tell_spark() {
    told=$(echo .venv/lib/python*/site-packages/pyspark)/conf/spark-env.sh
    if [ "$java" = "$(default_java)" ]; then
        rm -f "$told"
    elif ! grep -qsF "'${java%/bin/java}'" "$told"; then
        mkdir -p "${told%/*}"
        echo "export JAVA_HOME='${java%/bin/java}'" >"$told"
        say "Spark will run on $java"
    fi
}

# --- Python -------------------------------------------------------------------------------------------------
is_fitting_python() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1
}

need_python() {
    for python in ${PYTHON:-python3 python3.12 python3.13 python3.11 python}; do
        is_fitting_python "$python" && break
        python=
    done
    [ -n "$python" ] || fail "Python 3.11, 3.12 or 3.13 is needed: install one and put it on PATH, or name it in PYTHON."
    "$python" -c 'import ensurepip, venv' 2>/dev/null && return
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    can_install || fail "$python cannot make virtual environments: install its venv module (on Debian and Ubuntu the package $package)."
    say "$python lacks the venv module: installing $package ..."
    apt_install "$package"
}

# --- .venv --------------------------------------------------------------------------------------------------
# One stamp per state: the locks, the project file, this script, the Python and the folder (scripts in .venv
# carry its path).
stamp() {
    state=$({
        cat requirements.lock requirements-build.lock pyproject.toml setup.sh
        .venv/bin/python -V
        echo "$here"
    } 2>&1 | cksum | tr ' ' '-')
    echo ".venv/.setup-$state"
}

is_sound_venv() {
    [ ! -e .venv/.unfinished ] && is_fitting_python .venv/bin/python || return 1
    for old in .venv/.setup-*; do
        [ ! -e "$old" ] || [ "$(cat "$old")" = "$here" ] || return 1
    done
}

make_venv() {
    if ! is_sound_venv; then
        need_python
        say "making .venv with $("$python" -V) ..."
        rm -rf .venv
        mkdir .venv
        : >.venv/.unfinished
        "$python" -m venv .venv
    fi
    : >.venv/.unfinished
    rm -f .venv/.setup-*
    if ! cmp -s requirements-build.lock .venv/.build.lock; then
        say "installing uv ..."
        .venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip >/dev/null
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
        cp requirements-build.lock .venv/.build.lock
    fi
    say "installing the locked packages (a minute or two the first time) ..."
    .venv/bin/uv --quiet pip sync --compile-bytecode --python .venv/bin/python --require-hashes \
        --build-constraints requirements-build.lock requirements.lock requirements-build.lock
    .venv/bin/uv --quiet pip install --python .venv/bin/python --no-deps --no-build-isolation --editable .
    say "compiling the kernels ..."
    .venv/bin/python -m skyarchive.kernels
}

need_java
if [ ! -e "$(stamp)" ]; then
    make_venv
    rm .venv/.unfinished
    echo "$here" >"$(stamp)"
    finished=yes
fi
tell_spark
.venv/bin/python -m skyarchive.jars
[ -z "${finished:-}" ] || say "done: .venv/bin/skyarchive is ready"
