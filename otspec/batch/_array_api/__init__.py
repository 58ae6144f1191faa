"""What the batch functions compute: arguments are checked, and arrays of one library."""
