"""The batch rules row by row, as machine code on a CPU, where Numba is installed."""
