"""Minimum cuts (Theory, 1): the token set A that minimizes q(A) + 1 − P(all drafts inside A).

In the network source → drafts x → tokens of x → sink a cut keeps a set A of tokens on the source
side, pays q(A) for them and P(x) for every x that is not inside A: the least is the optimum.
"""
