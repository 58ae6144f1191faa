"""The validation book: the claims of the papers, on top of the package, which never imports it."""
