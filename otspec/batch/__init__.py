from otspec.batch.sequential import *
from otspec.batch.k_sequential import k_sequential
