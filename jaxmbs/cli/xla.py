"""Settings of the compiler for the command line, which owns its process."""

import importlib.metadata
import os

import jax


#: XLA's newer emitters for fused loops take 2.5 times as long to compile on CPUs and give no faster code here
#: (measured: 12.5 s against 4.9 s for a mechanism of two bodies).
FLAG = "--xla_cpu_use_fusion_emitters"

#: XLA ends the process at a flag that it does not know, so only versions that are known to have it get it.
TESTED_JAXLIB = ("0.10.",)


def prefer_fast_compilation() -> None:
    """Set the switch before JAX starts its backend, unless the user's XLA_FLAGS already say otherwise."""
    flags = os.environ.get("XLA_FLAGS", "")
    if FLAG not in flags and importlib.metadata.version("jaxlib").startswith(TESTED_JAXLIB):
        os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()


#: The environment variable that names the folder of compiled programs; empty, nothing is kept.
CACHE = "JAXMBS_CACHE"


def keep_compiled_programs() -> None:
    """Let JAX keep compiled programs in the user's cache folder, so that the next run of a model starts at once.

    JAX's own JAX_COMPILATION_CACHE_DIR has precedence.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.environ.get(CACHE, os.path.join(base, "jaxmbs"))
    if folder and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
