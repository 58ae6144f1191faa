"""Claims of the preprint on block verification."""
from validation.block import speculative,transport,comparison,block_level
CLAIMS=(*speculative.CLAIMS,*transport.CLAIMS,*comparison.CLAIMS,*block_level.CLAIMS)
