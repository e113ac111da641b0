#!/bin/sh
# Builds the Python package with Debian's Python and without network, installs it into build/python_site, and tests what is installed.
#
#     python.sh            install and test
#     python.sh wheel      write a wheel and a source archive to build/wheel
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
export MICA_PYTHON_BUILD="$PWD/build/python" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

if [ "${1:-}" = wheel ]; then
    rm -rf build/wheel
    $python -m pip wheel --quiet --no-build-isolation --no-index --no-deps --wheel-dir build/wheel .
    $python setup.py --quiet sdist --dist-dir build/wheel
    ls build/wheel
    exit 0
fi

rm -rf build/python_site
$python -m pip install --quiet --no-build-isolation --no-index --no-deps --target build/python_site .

# The source archive has every file that the build reads.
rm -rf build/python_sdist
$python setup.py --quiet sdist --dist-dir build/python_sdist
tar -xzf build/python_sdist/*.tar.gz -C build/python_sdist
for folder in src include cmake python/mica; do
    (cd $folder && find . -type f ! -path '*/__pycache__/*' ! -name '*.so' | sort) >build/python_sdist/wanted.txt
    (cd build/python_sdist/mica*/$folder && find . -type f | sort) >build/python_sdist/found.txt
    diff build/python_sdist/wanted.txt build/python_sdist/found.txt
done

PYTHONPATH="$PWD/build/python_site" $python -W error::SyntaxWarning -m unittest discover --start-directory tests/python
