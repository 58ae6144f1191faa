"""Minimum cuts (Theory, 1): the token set A that minimizes q(A) + 1 − P(all drafts inside A).

That minimum is the optimal acceptance, for every draft law: in the network
source → drafts x → tokens of x → sink a cut keeps a set A of tokens on the source side, pays
q(A) for them and P(x) for every x that is not inside A. One file per way of finding it:
prefixes of a sorted order, half-planes for two independent drafts, and max flow for the rest; and
one for the laws of the selected draft that attain it.
"""
