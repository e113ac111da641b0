"""The C functions of Mica, as cffi makes them from the public headers: mica/_native.abi3.so. Programs use the other modules."""
from typing import Any

ffi: Any
lib: Any
