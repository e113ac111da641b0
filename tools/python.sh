#!/bin/sh
# Builds the Python package with Debian's Python and without network, installs it into build/python_env, and tests what is installed.
#
#     python.sh            install and test
#     python.sh wheel      write a wheel and a source archive to build/wheel
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
export MICA_PYTHON_BUILD="$PWD/build/python" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

if [ "${1:-}" = wheel ]; then
    rm -rf build/wheel
    $python python/build_backend.py wheel build/wheel
    $python python/build_backend.py sdist build/wheel
    exit 0
fi

# As a user does: in an environment that sees the packages of the system, and in which pip may not fetch anything.
export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
unset PYTHONPATH
rm -rf build/python_env
$python -m venv --system-site-packages build/python_env
build/python_env/bin/pip install --quiet .

# The source archive has every file that the build reads, and pip installs it.
rm -rf build/python_sdist
$python python/build_backend.py sdist build/python_sdist
tar -xzf build/python_sdist/*.tar.gz -C build/python_sdist
for folder in src include cmake python/mica; do
    (cd $folder && find . -type f ! -path '*/__pycache__/*' ! -name '*.so' | sort) >build/python_sdist/wanted.txt
    (cd build/python_sdist/mica*/$folder && find . -type f | sort) >build/python_sdist/found.txt
    diff build/python_sdist/wanted.txt build/python_sdist/found.txt
done
MICA_PYTHON_BUILD="$PWD/build/python_sdist/build" build/python_env/bin/pip install --quiet --force-reinstall --no-deps build/python_sdist/*.tar.gz

build/python_env/bin/python -W error::SyntaxWarning -m unittest discover --start-directory tests/python
