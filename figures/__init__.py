"""The figures book: one file per figure or table, on top of the package, which never imports it."""
