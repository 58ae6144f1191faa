"""What rules are made of: the contract, its exact laws, the table of rules."""
