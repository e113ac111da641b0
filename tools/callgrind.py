"""Runs a program under callgrind, which counts instructions."""
import os
import subprocess

# callgrind counts every byte of `rep movsb` and `rep stosb`, with which libc copies and clears large blocks, as an instruction. Vector instructions,
# which libc uses for smaller ones, count once for 16 or 32 bytes, as they do in time.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=0x7fffffff:glibc.cpu.x86_rep_stosb_threshold=0x7fffffff"}


def run(output, options, command):
    """Writes the counts to the file `output`. Returns the finished process."""
    return subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", *options, *command],
                          capture_output=True, text=True, check=False, env={**os.environ, **ENVIRONMENT})
