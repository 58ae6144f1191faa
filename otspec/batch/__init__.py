from otspec.batch.sequential import *
from otspec.batch.k_sequential import k_sequential
from otspec.batch.pooled import pooled_selection
from otspec.batch.spechub import spechub
