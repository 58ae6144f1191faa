"""The command line: thin callers that parse, call and print."""
